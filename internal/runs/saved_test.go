package runs

import (
	"errors"
	"testing"

	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// Of two that resume a run at once one is too late. It must leave the run and its session to
// the other, even if it has been told to stop.
func TestWhoResumesTooLateEndsNothing(t *testing.T) {
	s, err := store.Open(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session := sessions.Session{ID: "s", Kind: sessions.KindRun, Owner: store.ThisProcess()}
	if err := s.BeginSession(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	j := &job{crew: &crew.Crew{}, session: &Session{Base: &open.Base{Store: s, Session: session.ID}}}
	first := &savedRun{job: j, id: "r", saved: Saved{Version: savedVersion}}
	if err := first.Save(t.Context(), []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	a := &savedRun{job: j, id: "r", version: first.version + 1}
	err = a.Save(t.Context(), []byte(`{}`))
	if !errors.Is(err, sessions.ErrRunChanged) {
		t.Fatalf("saved with %v", err)
	}
	if a.version == 0 || over(errors.Join(&worker.StoppedError{}, err)) {
		t.Errorf("version %d counts as kept, and the run as over", a.version)
	}
}
