package files_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

// A meddler is an undo store that runs something at the last instant: after the
// call was prepared for the last time, before it changes anything.
type meddler struct {
	files.Undo
	once func()
}

func (m *meddler) Keep(ctx context.Context, e files.Entry) (string, error) {
	id, err := m.Undo.Keep(ctx, e)
	if m.once != nil {
		m.once()
		m.once = nil
	}
	return id, err
}

// What changes at the last instant stays as it is, and the call is judged again.
func TestChangedAtTheLastInstant(t *testing.T) {
	for _, call := range racingCalls {
		for what, meddle := range meddling {
			undo := &meddler{}
			w := newWorld(t, setup{tree: map[string]string{"notes/d/a": "shown\n", "outside/victim": "mine\n", "outside/a": "mine too\n"},
				roots:   []roots.Root{{Name: "notes", Host: "notes", Mode: roots.ModeReadWrite}},
				options: files.Options{Undo: undo}})
			undo.Undo = w.undo
			undo.once = func() { must(t, meddle(w.dir, "unseen\n")) }
			w.answer = func(r *approval.Request) approval.Decision {
				if len(w.asked) == 1 {
					return r.Approve("")
				}
				return r.Deny("")
			}
			r := w.call(call.Tool, decodeArgs(t, call))
			if r.Err == nil {
				t.Errorf("%s against %s ran: %s", call.Tool, what, r.Text)
			}
			if !w.finds(what, "unseen\n") {
				t.Errorf("%s against %s: what nobody saw is lost", call.Tool, what)
			}
			if entries, err := w.undo.List(t.Context()); err != nil || len(entries) != 0 {
				t.Errorf("%s against %s: kept %v, %v", call.Tool, what, entries, err)
			}
			w.has("outside/victim", "mine\n")
			w.has("outside/a", "mine too\n")
			w.clean()
		}
	}
}

func TestWhyItIsAskedAgain(t *testing.T) {
	undo := &meddler{}
	w := newWorld(t, setup{tree: map[string]string{"p/a": "shown"}, options: files.Options{Undo: undo},
		roots: []roots.Root{{Name: "p", Host: "p", Mode: roots.ModeReadWrite}}})
	undo.Undo, undo.once = w.undo, func() { must(t, os.WriteFile(w.dir+"/p/a", []byte("other"), 0o644)) }
	w.ok("write_file", args{"path": "p/a", "content": "new"})
	w.wantAsked(2)
	if q, _ := w.lastAsked(); !strings.Contains(q.Why, "p/a: it was changed") {
		t.Errorf("why: %s", q.Why)
	}
	w.has("p/a", "new")
}
