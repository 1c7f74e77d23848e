package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/policy"
)

// defers reports whether the call is put aside instead of asked about now. Somebody at an
// inbox answers sooner.
func (a *answering) defers(ctx context.Context, d *desk, e agents.Event) bool {
	ask := d.setup.Person.Hook.Ask
	if !a.Defer && ask != "defer" || a.Observe || ask == "deny" || !a.Agent.Defers(e, a.Environ) {
		return false
	}
	open, err := d.inboxOpen(ctx)
	return err == nil && !open
}

// begin judges the call, or goes on with it where it was put aside: the same call of the
// same session, with the answer that was given since.
func (a *answering) begin(ctx context.Context, d *desk, e agents.Event, call policy.Call, note *memo) (*approval.Batch, error) {
	gate, err := d.gate(quiet{d.store}, nil)
	if err != nil {
		return nil, err
	}
	saved := note.Deferred
	note.Deferred = nil
	if saved == nil || e.CallID == "" || note.CallID != e.CallID {
		return gate.Review(ctx, call), nil
	}
	b, err := gate.Restore(ctx, saved)
	if err != nil {
		return nil, fmt.Errorf("what was put aside cannot be taken up again: %w", err)
	}
	var withdrawn *approval.WithdrawnError
	if err := approval.Collect(ctx, d.store, b); errors.As(err, &withdrawn) {
		b.Close() // its session ended meanwhile: it is asked anew
		return gate.Review(ctx, call), nil
	} else if err != nil {
		return nil, err
	}
	return b, nil
}

// putAside posts what is pending where a person finds it, and notes what it takes to go
// on. The session is begun, so that the question outlives the process.
func (m *memo) putAside(ctx context.Context, d *desk, b *approval.Batch) error {
	request := b.Pending()[0]
	if _, err := request.View(ctx); err != nil {
		return fmt.Errorf("it cannot be shown: %w", err)
	}
	session := approval.Session{ID: request.Call.Session, Kind: approval.SessionHook, Folder: d.project}
	if err := d.store.BeginSession(ctx, session); err != nil {
		return err
	}
	if err := d.store.Post(ctx, request); err != nil {
		return err
	}
	var err error
	m.Deferred, err = json.Marshal(b)
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
