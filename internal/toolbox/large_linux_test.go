package toolbox_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell"
)

// A large program inside a root runs once somebody approved it, and not if it was exchanged
// between the yes and the start: then the yes was for something else, and it is asked again.
func TestLargePrograms(t *testing.T) {
	w := newWorld(t, runningPolicy)
	program, err := os.ReadFile("/bin/echo")
	must(t, err)
	w.write("proj/large", string(program)+strings.Repeat("\x00", 40<<20))
	name := w.top + "/proj/large"
	must(t, os.Chmod(name, 0o755))
	args := map[string]any{"command": "./large hello"}
	r := w.call(policy.ModeAsk, yes(""), "shell", args)
	if got, ok := r.Value.(shell.Result); !ok || got.Stdout != "hello\n" || got.ExitCode != 0 {
		t.Fatalf("%+v %s", r.Value, r.Text)
	}
	asked := 0
	exchanging := approval.ApproverFunc(func(ctx context.Context, r *approval.Request) (approval.Decision, error) {
		if asked++; asked > 1 {
			d := r.Deny("that is another program")
			d.By = policy.Who{User: "ann", Via: policy.ViaTerminal}
			return d, nil
		}
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteAt([]byte{1}, int64(len(program))+40<<20-1) // its last byte
		must(t, err)
		must(t, f.Close())
		return yes("").Approve(ctx, r)
	})
	if r := w.call(policy.ModeAsk, exchanging, "shell", args); asked != 2 || !strings.Contains(r.Text, "that is another program") {
		t.Fatalf("asked %d times: %s", asked, r.Text)
	}
}
