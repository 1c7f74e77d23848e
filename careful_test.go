package assent

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent/internal/setup"
)

// The quiet policy that a user chose for hooks of other agents is not what a program gets that named none,
// whether or not assent lies beside it and has tried a sandbox.
func TestWithoutAPolicyTheCarefulOneHolds(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	config := filepath.Join(home, "config", "assent", "config.yaml")
	err := errors.Join(os.MkdirAll(filepath.Dir(config), 0o700), os.WriteFile(config, []byte("hook: {policy: quiet, shell: stage}\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	places, err := setup.Here("")
	if err == nil {
		err = places.NoteSandbox("") // one works
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _, keeps := places.SandboxNoted()
	if hook, err := setup.Resolve(t.Context(), setup.Order{Places: places, Dir: dir, Default: true}); err != nil || hook.Quiet != keeps {
		t.Fatalf("for a hook: %v, %v", hook, err)
	}
	s, err := Options{Dir: dir}.setup(t.Context())
	if err != nil || s.Quiet || !s.Shell.Readonly {
		t.Errorf("for a program: %+v, %v", s, err)
	}
}
