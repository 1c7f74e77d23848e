package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
)

// Handlers are what a copy of this program does for the file tools inside a sandbox, by
// name. It is asked for what was judged and agreed to outside, does just that, and trusts
// nobody: what it cannot reach is not there.
func Handlers() map[string]func(args json.RawMessage, body []byte) (result any, out []byte, err error) {
	s := &server{open: map[string]*os.Root{}}
	return map[string]func(json.RawMessage, []byte) (any, []byte, error){
		"files.load": s.load, "files.put": s.put, "files.drop": s.drop, "files.move": s.move,
		"files.makeDir": s.makeDir, "files.walk": s.walk,
	}
}

// A task is what a copy is asked to do; its body has the bytes of Was and Next.
type task struct {
	At    where `json:"at"`
	To    where `json:"to,omitzero"`
	Was   wire  `json:"was,omitzero"`
	Next  wire  `json:"next,omitzero"`
	Limit int64 `json:"limit,omitempty"`
}

// where is a spot in words.
type where struct {
	Root string `json:"root"`
	Rel  string `json:"rel"`
}

// wire is a state without its bytes.
type wire struct {
	Exists bool   `json:"exists"`
	Size   int    `json:"size"`
	Known  bool   `json:"known"`
	Mode   uint32 `json:"mode"`
	UID    int    `json:"uid"`
	GID    int    `json:"gid"`
}

func wireOf(s state) wire {
	return wire{s.exists, len(s.data), s.meta.known, s.meta.mode, s.meta.uid, s.meta.gid}
}

// state takes its bytes from the body and returns the rest of it.
func (w wire) state(body []byte) (state, []byte, error) {
	if w.Size < 0 || w.Size > len(body) {
		return state{}, nil, errors.New("a call has fewer bytes than it says")
	}
	m := meta{known: w.Known, mode: w.Mode, uid: w.UID, gid: w.GID}
	return state{exists: w.Exists, data: body[:w.Size:w.Size], meta: m}, body[w.Size:], nil
}

// done is how a task ended.
type done struct {
	Fault   *fault      `json:"fault,omitempty"`
	State   wire        `json:"state,omitzero"`
	Carried bool        `json:"carried,omitempty"`
	Looked  int         `json:"looked,omitempty"`
	Entries []walkEntry `json:"entries,omitempty"`
}

// A server is the copy's side.
type server struct {
	worker

	mu   sync.Mutex
	open map[string]*os.Root
}

// spot opens the root that a task names, once.
func (s *server) spot(w where) (spot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	root := s.open[w.Root]
	if root == nil {
		var err error
		if root, err = os.OpenRoot(w.Root); err != nil {
			return spot{}, err
		}
		s.open[w.Root] = root
	}
	return spot{root, w.Rel}, nil
}

// An order is a task with the spot and the states that it is about.
type order struct {
	task
	at        spot
	was, next state
}

// order reads a task.
func (s *server) order(args json.RawMessage, body []byte) (o order, err error) {
	if err = json.Unmarshal(args, &o.task); err != nil {
		return o, fmt.Errorf("a task is not understood: %w", err)
	}
	if o.was, body, err = o.Was.state(body); err != nil {
		return o, err
	}
	if o.next, _, err = o.Next.state(body); err != nil {
		return o, err
	}
	o.at, err = s.spot(o.At)
	return o, err
}

func (s *server) load(args json.RawMessage, body []byte) (any, []byte, error) {
	o, err := s.order(args, body)
	var found state
	if err == nil {
		found, err = s.worker.load(o.at, o.Limit)
	}
	return done{Fault: faultOf(err), State: wireOf(found)}, found.data, nil
}

func (s *server) put(args json.RawMessage, body []byte) (any, []byte, error) {
	o, err := s.order(args, body)
	if err == nil {
		err = s.worker.put(o.at, o.was, o.next)
	}
	return done{Fault: faultOf(err)}, nil, nil
}

func (s *server) drop(args json.RawMessage, body []byte) (any, []byte, error) {
	o, err := s.order(args, body)
	if err == nil {
		err = s.worker.drop(o.at, o.was)
	}
	return done{Fault: faultOf(err)}, nil, nil
}

func (s *server) move(args json.RawMessage, body []byte) (any, []byte, error) {
	o, err := s.order(args, body)
	var to spot
	if err == nil {
		to, err = s.spot(o.To)
	}
	carried := false
	if err == nil {
		carried, err = s.worker.move(o.at, to, o.was)
	}
	return done{Fault: faultOf(err), Carried: carried}, nil, nil
}

func (s *server) makeDir(args json.RawMessage, body []byte) (any, []byte, error) {
	o, err := s.order(args, body)
	if err == nil {
		err = s.worker.makeDir(o.at)
	}
	return done{Fault: faultOf(err)}, nil, nil
}

func (s *server) walk(args json.RawMessage, body []byte) (any, []byte, error) {
	o, err := s.order(args, body)
	var out done
	if err == nil {
		out.Looked, err = s.worker.walk(o.at, int(o.Limit), func(one walkEntry) error {
			out.Entries = append(out.Entries, one)
			return nil
		})
	}
	out.Fault = faultOf(err)
	return out, nil, nil
}
