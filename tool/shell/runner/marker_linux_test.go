package runner_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/tool/shell/inside"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// The test program is also what tests start: a process below a call, and one that runs
// a command until it is killed.
func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{
		"inside": func([]string) error {
			fmt.Println(runner.Inside())
			return nil
		},
		"run": func(args []string) error {
			c := interpreted(args[0])
			c.Dir, c.Progress = "/", os.Stdout
			_, err := runner.Run(context.Background(), c.Command, c.Options)
			fmt.Println(err)
			return nil
		},
		"shell": reexec.Exits(func(args []string) int { return inside.Main(args, os.Stderr) }),
	})
	os.Exit(m.Run())
}

func TestInside(t *testing.T) {
	if runner.Inside() {
		t.Error("a test is inside a call")
	}
	for text, want := range map[string]string{
		"%s inside":                           "true",
		"env -i %s inside; :":                 "true",
		"(env -i %s inside)":                  "true",
		"env -i sh -c 'env -i %s inside'; :":  "true",
		"unset ASSENT_CALL; %s inside; :":     "true",
		"ASSENT_CALL= %s inside":              "true",
		"(unset ASSENT_CALL; exec %s inside)": "true",
	} {
		if got := lines(t, fmt.Sprintf(text, reexec.Self())); got[0] != want {
			t.Errorf("%s: inside %q, want %s", text, got, want)
		}
	}
}

func TestEveryCallHasItsOwnMarker(t *testing.T) {
	one, two := lines(t, "echo $ASSENT_CALL")[0], lines(t, "echo $ASSENT_CALL")[0]
	if one == two || !strings.HasPrefix(one, "c1.") || len(one) < 20 {
		t.Errorf("markers %q and %q", one, two)
	}
	c := command(t, "echo $ASSENT_CALL")
	c.Call = "a b\n\x00é" + strings.Repeat("x", 100)
	if got := run(t, c).Stdout.Text; !strings.HasPrefix(got, "ab"+strings.Repeat("x", 62)+".") {
		t.Errorf("marker %q", got)
	}
}

// When assent itself is killed, its command ends.
func TestKilledWithUs(t *testing.T) {
	us := exec.Command(reexec.Self(), "run", "echo $$; exec sleep 1000")
	out, err := us.StdoutPipe()
	must(t, err)
	must(t, us.Start())
	pid := make([]byte, 32)
	n, err := bufio.NewReader(out).Read(pid)
	must(t, err)
	must(t, us.Process.Kill())
	_ = us.Wait()
	ended(t, string(pid[:n]))
}
