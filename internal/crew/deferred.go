package crew

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// callLater is call in a run that may be put aside. The call itself only begins the worker
// and, once that has ended, gives its answer; between the two it is suspended. So the worker
// can be saved wherever it is, and a program that dies leaves a call that can be entered
// again instead of one whose end was not seen.
func (m *Member) callLater(ctx context.Context, in callArgs, d delegation) (any, error) {
	id := tool.CallID(ctx)
	c := m.turn.called(id)
	switch {
	case c == nil:
		message, err := m.message(in, d)
		if err != nil {
			return nil, err
		}
		m.turn.begin(&child{Call: id, Worker: in.Worker, Message: message})
		return nil, tool.ErrSuspended
	case !c.Ended:
		return nil, tool.ErrSuspended
	case c.Failed != "":
		return nil, errors.New(c.Failed)
	}
	return c.Answer, nil
}

// inner are the workers that a member has called, as its run knows them.
type inner struct{ *Member }

var _ worker.Inner = inner{}

// MarshalJSON implements [worker.Inner].
func (i inner) MarshalJSON() ([]byte, error) { return i.turn.marshal() }

// UnmarshalJSON implements [worker.Inner].
func (i inner) UnmarshalJSON(data []byte) error { return i.turn.unmarshal(data) }

// GoOn implements [worker.Inner].
func (i inner) GoOn(ctx context.Context) error {
	for {
		c := i.turn.underWay()
		if c == nil {
			return nil
		}
		err := i.goOn(ctx, c)
		var stopped *worker.StoppedError
		switch {
		case err == nil:
		case errors.As(err, new(*worker.PausedError)):
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &stopped) && !stopped.Repeated:
			return err
		default:
			c.Ended, c.Failed = true, err.Error()
		}
	}
}

// goOn lets a worker that was called go on until it has ended.
func (m *Member) goOn(ctx context.Context, c *child) error {
	callee, err := m.reopen(ctx, c)
	if err != nil {
		return err
	}
	answer, err := callee.answer(ctx, func(run *worker.Run) (worker.Round, error) {
		if len(c.Run) == 0 {
			return run.Say(ctx, c.Message)
		}
		return run.Resume(ctx, c.Run)
	})
	if err = errors.Join(err, callee.Close()); err == nil {
		c.Ended, c.Answer = true, answer
	}
	return err
}

// reopen opens a worker that was called, perhaps in another process.
func (m *Member) reopen(ctx context.Context, c *child) (*Member, error) {
	path, err := config.FindNamed(c.Worker, m.crew.Folders...)
	if err != nil {
		return nil, err
	}
	f, err := config.Read(path, config.WorkerFile)
	if err != nil {
		return nil, err
	}
	callee, err := m.callee(ctx, f)
	if err != nil {
		return nil, err
	}
	callee.inside = c
	return callee, nil
}

// Preview implements [worker.Inner].
func (i inner) Preview(ctx context.Context, request string, args json.RawMessage) (*approval.Request, error) {
	c := i.turn.underWay()
	if c == nil || len(c.Run) == 0 {
		return nil, approval.ErrUnknownRequest
	}
	callee, err := i.reopen(ctx, c)
	if err != nil {
		return nil, err
	}
	r, err := callee.Preview(ctx, c.Run, request, args)
	return r, errors.Join(err, callee.Close())
}

// Preview returns what a request of a run of this member that was put aside would be with
// other arguments. The crew is one that is only looking, and its gates keep no records.
func (m *Member) Preview(ctx context.Context, data []byte, request string, args json.RawMessage) (*approval.Request, error) {
	run, err := m.Run(ctx)
	if err != nil {
		return nil, err
	}
	r, err := run.Preview(ctx, data, request, args)
	if err != nil {
		return nil, err
	}
	_, err = r.View(ctx) // while what it is built from is open
	return r, err
}

// store is where the runs of the member are put: the crew's place, or inside the caller.
func (m *Member) store() worker.RunStore {
	if m.crew.Store == nil || m.caller == nil {
		return m.crew.Store
	}
	return nestedStore{m.crew.Store, m}
}

// nestedStore puts a worker that was called aside as a part of its caller.
type nestedStore struct {
	worker.RunStore
	callee *Member
}

// Save implements [worker.RunStore].
func (n nestedStore) Save(ctx context.Context, data []byte) error {
	n.callee.inside.Run = data
	return n.callee.caller.run.Save(ctx)
}

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
