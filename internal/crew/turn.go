package crew

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
)

// A turnState is what a member keeps while one of its turns is under way: the files that
// are shared in it, and the workers that it has called and that have not ended.
type turnState struct {
	mu       sync.Mutex
	expected map[shareKey][]string      // ids of the calls that share it
	given    map[shareKey]policy.Digest // what was shared
	children map[string]*child          // by the id of the call
}

// A child is a worker that was called in a run that may be put aside.
type child struct {
	Call    string         `json:"call"`
	Worker  string         `json:"worker"`
	Message worker.Message `json:"message"`
	// Run is how far it is; empty before it has begun.
	Run json.RawMessage `json:"run,omitempty"`
	// Ended says that it has, with an answer or because it failed.
	Ended  bool   `json:"ended,omitempty"`
	Answer string `json:"answer,omitempty"`
	Failed string `json:"failed,omitempty"`
}

// reset begins a turn.
func (s *turnState) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expected, s.given, s.children = map[shareKey][]string{}, map[shareKey]policy.Digest{}, map[string]*child{}
}

func (s *turnState) expect(k shareKey, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expected[k] = append(s.expected[k], id)
}

func (s *turnState) ids(k shareKey) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.expected[k])
}

func (s *turnState) give(k shareKey, content policy.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given[k] = content
}

// gave reports whether exactly this was shared.
func (s *turnState) gave(k shareKey, content policy.Digest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.given[k]
	return ok && d == content
}

// called returns the worker that a call has begun, if it has.
func (s *turnState) called(id string) *child {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.children[id]
}

func (s *turnState) begin(c *child) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.children[c.Call] = c
}

// underWay returns a child that has not ended, if there is one. There is one at most: what
// stands behind a suspended call does not run.
func (s *turnState) underWay() *child {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.children {
		if !c.Ended {
			return c
		}
	}
	return nil
}

// savedTurn is a turnState as JSON.
type savedTurn struct {
	Shares   []savedShare `json:"shares,omitempty"`
	Children []*child     `json:"children,omitempty"`
}

type savedShare struct {
	Path   string         `json:"path"`
	Worker string         `json:"worker"`
	Calls  []string       `json:"calls"`
	Given  *policy.Digest `json:"given,omitempty"`
}

func (s *turnState) marshal() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out savedTurn
	for k, ids := range s.expected {
		share := savedShare{Path: k.path, Worker: k.worker, Calls: ids}
		if d, ok := s.given[k]; ok {
			share.Given = &d
		}
		out.Shares = append(out.Shares, share)
	}
	for _, c := range s.children {
		out.Children = append(out.Children, c)
	}
	return json.Marshal(out)
}

func (s *turnState) unmarshal(data []byte) error {
	var in savedTurn
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	s.reset()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, share := range in.Shares {
		k := shareKey{share.Path, share.Worker}
		if s.expected[k] = share.Calls; share.Given != nil {
			s.given[k] = *share.Given
		}
	}
	for _, c := range in.Children {
		s.children[c.Call] = c
	}
	return nil
}
