package open

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// A store whose file is gone is not one that never was: its rules held, and somebody would believe that
// there were none.
func TestAStoreThatIsGoneIsSaid(t *testing.T) {
	places := setup.Places{State: t.TempDir()}
	if _, err := ReadStore(t.Context(), places, &config.User{}); !errors.Is(err, ErrNoStore) {
		t.Fatalf("none: %v", err)
	}
	s, err := store.Open(t.Context(), places.State, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rule, err := policy.ParseRule("deny shell(rm)")
	if err = errors.Join(err, s.AddRules(t.Context(), rule), s.Close(), os.Remove(filepath.Join(places.State, store.FileName))); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadStore(t.Context(), places, &config.User{}); err == nil || errors.Is(err, ErrNoStore) {
		t.Errorf("gone: %v", err)
	}
}
