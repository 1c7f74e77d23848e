package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/policy"
)

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
func (a *answering) begin(ctx context.Context, d *evaluator, e agents.Event, call policy.Call, note *memo) (*approval.Batch, error) {
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

// putAside posts what is pending where a person finds it, and notes what it takes to go
// on. The session is begun, so that the question outlives the process.
func (m *memo) putAside(ctx context.Context, d *evaluator, b *approval.Batch) error {
	session := approval.Session{ID: b.Pending()[0].Call.Session, Kind: approval.SessionHook, Folder: d.project}
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
