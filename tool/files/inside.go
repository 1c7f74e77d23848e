package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/assent-dev/assent/tool/roots"
)

// An Inside finds copies of this program that serve [Handlers] inside a sandbox.
type Inside interface {
	// Reader returns one that can read. It stays for the next call.
	Reader(ctx context.Context) (Caller, error)
	// Writer returns one that can write, and what ends it.
	Writer(ctx context.Context) (Caller, func() error, error)
}

// A Caller calls a copy by name.
type Caller interface {
	Call(ctx context.Context, name string, args any, body []byte, result any) ([]byte, error)
}

// sandboxedOps works inside a sandbox. What a sandbox cannot do, localOps does: replace
// a root that is a single file, whose folder is not there, and keep a foreign owner or
// group, which have no name there.
type sandboxedOps struct {
	inside Inside
	own    *localOps
	roots  *roots.Set
}

var _ fileOps = (*sandboxedOps)(nil)

// whereOf says where a place is, if its root is still where it was.
func whereOf(p roots.Place) (where, error) {
	if err := p.Anchored(); err != nil {
		return where{}, err
	}
	root, rel := p.Handle()
	return where{root.Name(), rel}, nil
}

// read has a task done by the copy that reads.
func (h *sandboxedOps) read(ctx context.Context, name string, t task) (done, []byte, error) {
	c, err := h.inside.Reader(ctx)
	if err != nil {
		return done{}, nil, fmt.Errorf("the sandbox for reading files did not start: %w", err)
	}
	var d done
	body, err := c.Call(ctx, name, t, nil, &d)
	if err == nil {
		err = d.Fault.err()
	}
	return d, body, err
}

// write has a task done by a copy that can write, which ends with it.
func (h *sandboxedOps) write(ctx context.Context, name string, t task, body []byte) (d done, err error) {
	c, end, err := h.inside.Writer(ctx)
	if err != nil {
		return done{}, fmt.Errorf("nothing was changed: the sandbox for writing files did not start: %w", err)
	}
	// A change that has begun is not cut off in the middle.
	_, err = c.Call(context.WithoutCancel(ctx), name, t, body, &d)
	if err == nil {
		err = d.Fault.err()
	}
	if endErr := end(); endErr != nil && err == nil {
		err = after(endErr)
	}
	return d, err
}

func (h *sandboxedOps) load(ctx context.Context, p roots.Place, limit int64) (state, error) {
	at, err := whereOf(p)
	if err != nil {
		return state{}, err
	}
	d, body, err := h.read(ctx, "files.load", task{At: at, Limit: limit})
	if err != nil {
		return state{}, err
	}
	s, _, err := d.State.state(body)
	if m, ok := metaOfInfo(p.Info); ok && s.exists {
		s.meta = m // inside, owners that are not us have no number
	}
	return s, err
}

// metaOfInfo is the meta of what was found at a place.
func metaOfInfo(info fs.FileInfo) (meta, bool) {
	if info == nil {
		return meta{}, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return meta{}, false
	}
	return meta{known: true, mode: uint32(st.Mode) & 0o7777, uid: int(st.Uid), gid: int(st.Gid)}, true
}

// beyond reports whether a sandbox cannot do the work at a place.
func (h *sandboxedOps) beyond(p roots.Place, s state) bool {
	if s.meta.known && s.meta.uid >= 0 && (s.meta.uid != os.Geteuid() || s.meta.gid != os.Getegid()) {
		return true
	}
	for _, r := range h.roots.Roots() {
		if p.Name() == r.Name && p.Info != nil && p.Info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

func (h *sandboxedOps) put(ctx context.Context, p roots.Place, was, next state) error {
	if h.beyond(p, was) || h.beyond(p, next) {
		return h.own.put(ctx, p, was, next)
	}
	at, err := whereOf(p)
	if err != nil {
		return notAsShown(err)
	}
	_, err = h.write(ctx, "files.put", task{At: at, Was: wireOf(was), Next: wireOf(next)}, slices.Concat(was.data, next.data))
	return err
}

func (h *sandboxedOps) drop(ctx context.Context, p roots.Place, was state) error {
	if h.beyond(p, was) {
		return h.own.drop(ctx, p, was)
	}
	at, err := whereOf(p)
	if err != nil {
		return notAsShown(err)
	}
	_, err = h.write(ctx, "files.drop", task{At: at, Was: wireOf(was)}, was.data)
	return err
}

func (h *sandboxedOps) move(ctx context.Context, from, to roots.Place, was state) (bool, error) {
	if h.beyond(from, was) || h.beyond(to, was) {
		return h.own.move(ctx, from, to, was)
	}
	at, err := whereOf(from)
	dest, destErr := whereOf(to)
	if err = errors.Join(err, destErr); err != nil {
		return false, notAsShown(err)
	}
	d, err := h.write(ctx, "files.move", task{At: at, To: dest, Was: wireOf(was)}, was.data)
	return d.Carried, err
}

func (h *sandboxedOps) makeDir(ctx context.Context, p roots.Place) error {
	at, err := whereOf(p)
	if err != nil {
		return notAsShown(err)
	}
	_, err = h.write(ctx, "files.makeDir", task{At: at}, nil)
	return err
}

func (h *sandboxedOps) walk(ctx context.Context, p roots.Place, most int, see func(walkEntry) error) (int, error) {
	root, rel := p.Handle()
	d, _, err := h.read(ctx, "files.walk", task{At: where{root.Name(), rel}, Limit: int64(most)})
	for _, one := range d.Entries {
		if err := see(one); err != nil {
			return d.Looked, err
		}
	}
	return d.Looked, err
}

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
