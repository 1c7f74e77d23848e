package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
)

// initPolicy is what assent init writes.
const initPolicy = "../starter/policy.yaml"

// Every call of every day is one that assent understands: what it counts as denied was denied by
// the policy.
func TestDays(t *testing.T) {
	days, err := readDays()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range days {
		t.Run(d.name, func(t *testing.T) {
			if n := len(d.calls); n < 150 || n > 250 {
				t.Errorf("%d calls; a day has 150 to 250", n)
			}
			seen := map[string]bool{}
			for i, c := range d.calls {
				if seen[c.ID] {
					t.Errorf("%s is there twice", c.ID)
				}
				seen[c.ID] = true
				if c.Assumes != "" && !earlier(d.calls[:i], c.Assumes) {
					t.Errorf("%s assumes %s, which no earlier call names", c.ID, c.Assumes)
				}
			}
			dir, explained := careful(t, d)
			answers, err := d.judge(dir, explained)
			if err != nil {
				t.Fatal(err)
			}
			for i, a := range answers {
				if a.Error != "" {
					t.Errorf("%s is not understood: %s", d.calls[i].ID, a.Error)
				}
			}
		})
	}
}

// earlier reports whether one of the calls names a file, by its path or its last name.
func earlier(calls []call, file string) bool {
	for _, c := range calls {
		if strings.Contains(string(c.Args), file) || strings.Contains(string(c.Args), filepath.Base(file)) {
			return true
		}
	}
	return false
}

// careful opens what assent explain opens, in the day's project.
func careful(t *testing.T, d day) (dir string, explained func(explain.Call) (explain.Answer, error)) {
	t.Helper()
	top := t.TempDir()
	dir, err := d.unpack(top)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(initPolicy)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, ".assent", "policy.yaml")
	if err := write(file, string(text)); err != nil {
		t.Fatal(err)
	}
	places := setup.Places{Admin: filepath.Join(top, "no-admin.yaml"), Config: filepath.Join(top, "config"), State: filepath.Join(top, "state")}
	s, err := setup.Resolve(t.Context(), setup.Order{Places: places, Dir: dir, File: file})
	if err != nil {
		t.Fatal(err)
	}
	base, err := open.Open(t.Context(), s, open.Order{Use: open.Look})
	if err != nil {
		t.Fatal(err)
	}
	e, closing, err := base.Explainer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := closing(); err != nil {
			t.Error(err)
		}
		if err := base.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir, func(c explain.Call) (explain.Answer, error) { return e.Explain(t.Context(), c), nil }
}

// A day of edits, tests, builds and commits asks at most once in twenty calls, in the program as people have it.
// S50 A quiet day.
func TestQuietDay(t *testing.T) {
	program := filepath.Join(t.TempDir(), "assent")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", program, "../../cmd/assent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var out strings.Builder
	if err := measure(t.Context(), &out, program, "", false); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}

func TestGeneral(t *testing.T) {
	for _, c := range []struct{ why, target, want string }{
		{"notes/a.md looks like a secret", "notes/a.md", "PATH looks like a secret"},
		{"among these files is .assent/policy.yaml, which may not be reached", ".", "among these files is .assent/policy.yaml, which may not be reached"},
		{"/p/.assent/policy.yaml:9 asks before writes to .", "a", "asks before writes to ."},
		{"no rule; the network is on (.assent/policy.yaml:14)", "", "no rule; the network is on"},
		{"the shell opens /tmp/x.log", "a", "the shell opens PATH"},
	} {
		if got := general(c.why, c.target); got != c.want {
			t.Errorf("general(%q, %q) = %q, want %q", c.why, c.target, got, c.want)
		}
	}
}

func TestTally(t *testing.T) {
	shell := func(command string) call {
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		return call{ID: "x-001", Tool: "shell", Args: args}
	}
	asked := func(why string, targets ...string) explain.Answer {
		a := explain.Answer{Outcome: explain.Ask, Why: why}
		for _, target := range targets {
			a.Acts = append(a.Acts, explain.Act{Tool: "shell", Target: target, Outcome: explain.Ask, Why: why})
		}
		return a
	}
	d := day{name: "x", calls: []call{shell("git commit -m x && git commit -m y"), shell("'A=1' npx vitest"), shell("ls"), shell("curl example.org")}}
	tl := &tally{policy: "some"}
	tl.count(d, []explain.Answer{
		asked("no rule at p/policy.yaml:3", "git commit -m x", "git commit -m y"),
		asked("no rule (p/policy.yaml:4)", "'A=1' npx vitest run"),
		{Outcome: explain.Allow},
		{Outcome: explain.Deny, Why: "the network is off"},
	})
	var out strings.Builder
	tl.print(&out, true)
	for _, want := range []string{
		"ask   x-001  git commit -m x && git commit -m y\n",
		"deny  x-001  curl example.org\n      the network is off\n",
		"x      4      2       1             10.0",
		"    2  no rule\n       git commit 1, npx vitest 1\n",
		"    2 of   2  commands that are not known whole: no rule\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in:\n%s", want, out.String())
		}
	}
}
