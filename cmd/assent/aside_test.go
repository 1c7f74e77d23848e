package main

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/store"
)

// Of two that resume a run at once one is too late. It must leave the run and its session to
// the other, even if it has been told to stop.
func TestWhoResumesTooLateEndsNothing(t *testing.T) {
	p := newProject(t, map[string]string{"notes.worker": notesWorker, "turns.yaml": oneWrite})
	id, _ := p.parked("run", "--defer", "notes.worker", "Write.")
	s, err := store.Open(t.Context(), filepath.Join(p.home, "state", "assent"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run, err := s.LoadRun(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	a := &aside{job: &job{crew: &crew.Crew{}, desk: &desk{Base: &open.Base{Store: s, Session: run.Session}}}, id: id, version: run.Version + 1}
	err = a.Save(t.Context(), []byte(`{}`))
	if !errors.Is(err, approval.ErrRunChanged) {
		t.Fatalf("saved with %v", err)
	}
	if a.version == 0 || over(errors.Join(&worker.StoppedError{}, err)) {
		t.Errorf("version %d counts as kept, and the run as over", a.version)
	}
}

// A letter may be the beginning of a question that nobody has seen yet.
func TestSomeOfAnIDIsEnoughAndALetterIsNot(t *testing.T) {
	id := "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	waiting := []approval.Posted{{Request: &approval.Request{ID: id}}}
	for given, want := range map[string]bool{id: true, "abcdef": true, "ABCDE": false, "A": false, "": false, "BCDEFG": false} {
		if r, err := findOpen(waiting, given); (err == nil && r.ID == id) != want {
			t.Errorf("%q: %v, want %v", given, err, want)
		}
	}
}
