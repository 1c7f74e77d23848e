package hook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/sessions"
)

// A memo remembers what an agent was told about a call, so that one action that fires two
// hooks is one request. While it is open nobody else answers the same call.
type memo struct {
	file *os.File
	memory
}

// A memory is what stands in the file.
type memory struct {
	Arguments policy.Digest `json:"arguments"`
	// Content is over the arguments but for the folder of a command.
	Content policy.Digest `json:"content,omitzero"`
	CallID  string        `json:"call,omitempty"`
	Hooks   []string      `json:"hooks"` // that were told
	Answer  agents.Answer `json:"answer"`
	At      time.Time     `json:"at"`
	// Staged says that the call is the text that stands for a command on the stage.
	Staged bool `json:"staged,omitempty"`
	// Replaced says that such a text was to run in place of the call.
	Replaced bool `json:"replaced,omitempty"`
	// Undo is the entry that keeps what the call changes; empty if there is none.
	Undo string `json:"undo,omitempty"`
	// Deferred is the batch of a call that waits for an answer while the run is over.
	Deferred json.RawMessage `json:"deferred,omitempty"`
}

// replayWithin is how soon after one hook of an action another one of it fires.
const replayWithin = time.Minute

// memoFolder is where the memos of a session are.
func memoFolder(state, session string) string {
	return filepath.Join(state, "hooks", hash(session))
}

func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// memoName is the name of the memo about a call; the error is one of arguments that make
// no sense, which have none.
func memoName(call policy.Call) (string, policy.Digest, error) {
	args, err := canonical.Arguments(call.Arguments)
	if err != nil {
		return hash(call.Connector, call.Tool, string(call.Arguments)), policy.Digest{}, err
	}
	return hash(call.Connector, call.Tool, string(args)), policy.DigestOf(args), nil
}

// openMemo opens the memo about a call, and waits until nobody else has it.
func (a *answering) openMemo(call policy.Call) (*memo, error) {
	folder := memoFolder(a.Places.State, call.Session)
	if err := a.makeFolder(folder); err != nil {
		return nil, err
	}
	name, digest, _ := memoName(call) // what makes no sense is refused by the gate
	f, err := os.OpenFile(filepath.Join(folder, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("%s cannot be locked: %w", f.Name(), err), f.Close())
	}
	m := &memo{file: f}
	if data, err := io.ReadAll(f); err != nil || json.Unmarshal(data, &m.memory) != nil {
		m.memory = memory{} // new, or cut off: the call is judged
	}
	m.Arguments, m.Content = digest, contentOf(call)
	return m, nil
}

// contentOf is the digest over the arguments of a call but for the folder of a command: the event
// after it has the folder that the command went to.
func contentOf(call policy.Call) policy.Digest {
	args := call.Arguments
	var in map[string]json.RawMessage
	if call.Connector == "" && call.Tool == policy.ActShell && json.Unmarshal(args, &in) == nil {
		delete(in, "cwd")
		if data, err := json.Marshal(in); err == nil {
			args = data
		}
	}
	text, err := canonical.Arguments(args)
	if err != nil {
		return policy.Digest{} // the gate says so
	}
	return policy.DigestOf(text)
}

// lastAnswer finds what the agent was told about a call, in whatever folder that ran; nil if it
// was told nothing.
func (a *answering) lastAnswer(call policy.Call) (*memory, error) {
	folder := memoFolder(a.Places.State, call.Session)
	name, _, err := memoName(call)
	if err != nil {
		return nil, err
	}
	m, err := readMemory(filepath.Join(folder, name))
	if m != nil || err != nil || call.ID == "" {
		return m, err
	}
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	content := contentOf(call)
	for _, f := range files {
		if !isMemo(f.Name()) {
			continue
		}
		m, err := readMemory(filepath.Join(folder, f.Name()))
		if err == nil && m != nil && m.CallID == call.ID && m.Content == content {
			return m, nil
		}
	}
	return nil, err
}

// readMemory reads what stands in a file; nil if there is none.
func readMemory(path string) (*memory, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m memory
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("reading what the agent was told about a call: %w", err)
	}
	return &m, nil
}

// makeFolder makes the folder of a session. With a new one, those go that are of sessions
// of which nothing was heard for long: not every agent says when one ends.
func (a *answering) makeFolder(folder string) error {
	all := filepath.Dir(folder)
	if err := os.MkdirAll(all, 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	others, err := os.ReadDir(all)
	for _, other := range others {
		if info, err := other.Info(); err == nil && a.began.Sub(info.ModTime()) > sessions.Idle {
			os.RemoveAll(filepath.Join(all, other.Name())) // the next new session tries again
		}
	}
	return err
}

// answered returns what the agent was told about the same action by another hook: one
// that fired just before, or beside this one.
func (m *memo) answered(e agents.Event, began time.Time) (agents.Answer, bool) {
	if len(m.Hooks) == 0 || m.CallID != "" && e.CallID != "" && m.CallID != e.CallID {
		return agents.Answer{}, false
	}
	another := !slices.Contains(m.Hooks, e.Hook) && began.Sub(m.At) < replayWithin
	beside := m.At.After(began) && m.CallID != "" && m.CallID == e.CallID
	return m.Answer, another || beside
}

// keep notes what a hook was told. A hook that was told before begins a new action.
func (m *memo) keep(e agents.Event, answer agents.Answer, now time.Time) error {
	if slices.Contains(m.Hooks, e.Hook) {
		m.Hooks = nil
	}
	m.Hooks, m.Answer, m.At = append(m.Hooks, e.Hook), answer, now
	if e.CallID != "" {
		m.CallID = e.CallID
	}
	data, err := json.Marshal(m.memory)
	if err != nil {
		return err
	}
	if _, err := m.file.WriteAt(data, 0); err != nil {
		return err
	}
	if info, err := m.file.Stat(); err != nil || info.Size() == int64(len(data)) {
		return err
	}
	return m.file.Truncate(int64(len(data))) // takes long, and is seldom needed
}

func (m *memo) close() { m.file.Close() } // nothing is buffered, and the lock goes with it

// defers reports whether the call is put aside instead of asked about now. Somebody at an
// inbox answers sooner.
func (a *answering) defers(ctx context.Context, d *evaluator, e agents.Event) bool {
	ask := d.setup.Person.Hook.Ask
	if !a.Defer && ask != "defer" || a.Observe || ask == "deny" || !a.Agent.Defers(e, a.Environ) {
		return false
	}
	open, err := d.inboxOpen(ctx)
	return err == nil && !open
}

// begin judges the call, or goes on with it where it was put aside: the same call of the
// same session, with the answer that was given since.
func (a *answering) begin(ctx context.Context, d *evaluator, e agents.Event, call policy.Call,
	note *memo) (*approval.Batch, error) {
	gate, err := d.gate(quiet{d.store}, nil)
	if err != nil {
		return nil, err
	}
	saved := note.deferred(e)
	note.Deferred = nil
	return agents.Begin(ctx, gate, d.store, call, saved)
}

// deferred is what was saved of the call of an event when it was put aside; nil if it was not.
func (m *memo) deferred(e agents.Event) json.RawMessage {
	if e.CallID == "" || m.CallID != e.CallID {
		return nil
	}
	return m.Deferred
}

// postpone posts what is pending where a person finds it, and notes what it takes to go
// on. The session is begun, so that the question outlives the process.
func (m *memo) postpone(ctx context.Context, d *evaluator, b *approval.Batch) error {
	session := sessions.Session{ID: b.Pending()[0].Call.Session, Kind: sessions.KindHook, Folder: d.project}
	err := d.store.BeginSession(ctx, session)
	if err == nil {
		m.Deferred, err = agents.Postpone(ctx, d.store, b)
	}
	return err
}

// hasDeferred reports whether a call of the session was put aside.
func (a *answering) hasDeferred(session string) (bool, error) {
	folder := memoFolder(a.Places.State, session)
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, f := range files {
		if !isMemo(f.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return false, err
		}
		var m memory
		if json.Unmarshal(data, &m) == nil && m.Deferred != nil {
			return true, nil
		}
	}
	return false, err
}
