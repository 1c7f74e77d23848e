package health

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// has reports whether there is a finding of this level that says so, with a cure if it is bad.
func (d *doctor) has(level Level, what string) bool {
	for _, f := range d.findings {
		if f.Level == level && strings.Contains(f.What, what) {
			return level == OK || f.Cure != ""
		}
	}
	return false
}

func TestDoctor_ClockThatWentBack(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	s, err := store.Open(t.Context(), state, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tomorrow := time.Now().Add(24 * time.Hour)
	err = s.Record(t.Context(), approval.Event{At: tomorrow, Kind: approval.EventEnded, State: policy.StateFree,
		Session: "s", CallID: "1", Tool: "shell"})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	d := &doctor{places: setup.Places{State: state}, user: &config.User{Policy: &config.Policy{}}}
	d.store(t.Context())
	if !d.has(Problem, "the newest record is of") || !d.has(OK, "nobody changed its log") {
		t.Errorf("%+v", d.findings)
	}
}

// A deny with ~ that was saved before that meant something denies nothing.
func TestDoctor_DenyThatMatchesNothing(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "state"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, text := range []string{"deny read_file(~/.ssh/**)", "allow shell(git status)"} {
		r, err := policy.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		r.ID = text[:4] + "1"
		if r.Effect == policy.EffectAllow {
			r.Project = filepath.Join(t.TempDir(), "gone")
		}
		if err := s.AddRules(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	d := &doctor{}
	d.rules(t.Context(), s)
	if !d.has(Problem, "deny read_file(~/.ssh/**): it matches nothing as it is saved") || !d.has(Warning, "the folder is gone") {
		t.Errorf("%+v", d.findings)
	}
}

func TestDoctor_FoldersOfOthers(t *testing.T) {
	top := t.TempDir()
	for name, mode := range map[string]os.FileMode{"state": 0o755, "config": 0o777} {
		path := filepath.Join(top, name)
		if err := os.Mkdir(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
	}
	d := &doctor{places: setup.Places{State: filepath.Join(top, "state"), Config: filepath.Join(top, "config")}}
	d.folders()
	if !d.has(Warning, "others may look into") || !d.has(Problem, "others may write into") {
		t.Errorf("%+v", d.findings)
	}
}

func TestDoctor_DiskIsFull(t *testing.T) {
	for _, c := range []struct {
		free  uint64
		files bool
		want  Level
	}{{5 << 20, true, Problem}, {1 << 40, false, Problem}, {100 << 20, true, Warning}, {1 << 30, true, OK}} {
		if got := roomFor(c.free, c.files); got != c.want {
			t.Errorf("roomFor(%d, %v) = %s, want %s", c.free, c.files, got, c.want)
		}
	}
}

func TestStatus_RulesByScope(t *testing.T) {
	now := time.Now()
	on := policy.Rule{Enabled: true}
	here, elsewhere, old := on, on, on
	here.Project, elsewhere.Project, old.Expires = "/p", "/q", now.Add(-time.Hour)
	got := countRules([]policy.Rule{on, here, here, elsewhere, old, {}}, "/p", now)
	if want := (Rules{Everywhere: 1, Here: 2, Elsewhere: 1, Disabled: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if text := got.text(); text != "1 everywhere, 2 for this project, 1 for other projects; 2 disabled or expired" {
		t.Error(text)
	}
}
