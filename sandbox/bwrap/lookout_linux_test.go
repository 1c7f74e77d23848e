package bwrap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/sandbox"
)

func TestWhatIsLeftInTheBackgroundIsTold(t *testing.T) {
	tellWhatIsLeft(t)
	if os.Geteuid() == 0 {
		runAsOrdinaryUser(t, "TestWhatIsLeftInTheBackgroundIsTold")
	}
}

// tellWhatIsLeft leaves processes in every way that they know to get away, and ends without
// any.
func tellWhatIsLeft(t *testing.T) {
	const one = "1 process left in the background (sleep)"
	r := newRunner(t)
	for name, tt := range map[string]struct {
		script string
		sleeps string // how many processes are to be asleep when the command ends
		left   string
	}{
		"a job":                 {"sleep 1000 &", "1", one},
		"a session":             {"setsid sleep 1000 &", "1", one},
		"two forks":             {"(setsid sleep 1000 > /dev/null 2>&1 &)", "1", one},
		"no hangup":             {"nohup sleep 1000 > /dev/null 2>&1 &", "1", one},
		"no signals":            {"(trap '' TERM HUP INT; exec sleep 1000) &", "1", one},
		"closed streams":        {"sleep 1000 <&- >&- 2>&- &", "1", one},
		"three":                 {"sleep 1000 & sleep 1000 & sleep 1000 &", "3", "3 processes left in the background (sleep)"},
		"beside one that ended": {"true & sleep 1000 &", "1", one},
		"nothing":               {"true", "0", ""},
		"one that is awaited":   {"sleep 0.01 & wait", "0", ""},
		"a pipeline":            {"yes | head -n 1", "0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := project(t)
			wait := `; until [ "$(cat /proc/[0-9]*/comm 2> /dev/null | grep -c '^sleep$')" = ` + tt.sleeps + ` ]; do :; done; exit 3`
			script := strings.Replace(tt.script+wait, "&;", "&", 1)
			if exit, out := try(t, r, command(root, script)); exit != (sandbox.Exit{Code: 3, Left: tt.left}) {
				t.Errorf("%+v, want %q\n%s", exit, tt.left, out)
			}
			tidy(t, root, root)
		})
	}
}

// What ends by itself a moment later was not left behind, and does its work to the end.
func TestWhatEndsSoonIsNotLeft(t *testing.T) {
	r, root := newRunner(t), project(t)
	r.linger = patience
	exit, _ := try(t, r, command(root, "(sleep 0.1; echo done > log) & exit 3"))
	if exit != (sandbox.Exit{Code: 3}) {
		t.Errorf("%+v", exit)
	}
	if text, err := os.ReadFile(filepath.Join(root, "log")); err != nil || string(text) != "done\n" {
		t.Errorf("%q %v", text, err)
	}
}

// Names that processes give themselves say nothing else.
func TestTheNameOfAProcessIsOnlyAName(t *testing.T) {
	r, root := newRunner(t), project(t)
	program := filepath.Join(root, "a) Z 1 (\n")
	text, err := os.ReadFile("/bin/sleep")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	exit, _ := try(t, r, command(root, `./a* 1000 & until grep -q '^a' /proc/$!/comm; do :; done`))
	if want := "1 process left in the background (a??Z?1???)"; exit.Left != want {
		t.Errorf("%q, want %q", exit.Left, want)
	}
}

// A command that is ended from outside leaves nothing of its own accord.
func TestWhatIsEndedLeavesNothing(t *testing.T) {
	r, root := newRunner(t), project(t)
	c := command(root, "sleep 1000 & yes")
	c.Profile.Limits.Output = 1000
	if exit, _ := try(t, r, c); exit.Left != "" || exit.Ended != sandbox.EndingOutput {
		t.Errorf("%+v", exit)
	}
	if left := withWord(t, root); len(left) > 0 {
		t.Error(strings.Join(left, " "))
	}
}
