package toolbox_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell"
)

// A yes that came too late holds once for the same act of the same command: in the same
// folder, with the same variables.
func TestALateYesIsForTheSameAct(t *testing.T) {
	conf := strings.Replace(runningPolicy, "shell:", "shell:\n  hold: 100ms", 1)
	const text = `cd "$(cat where)"; . ../set; $(cat ../cmd)`
	for name, tt := range map[string]struct {
		file, text string // what changed meanwhile
		asks       bool
	}{
		"the same":        {"set", "", false},
		"another folder":  {"where", "b", true},
		"another setting": {"set", "export LD_PRELOAD=/nowhere.so", true},
		"other words":     {"cmd", "wc -c x", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conf)
			for name, text := range map[string]string{"where": "a", "set": "", "cmd": "wc -l x", "a/x": "1\n", "b/x": "1\n2\n"} {
				w.write("proj/"+name, text)
			}
			answer, late := make(chan struct{}), make(chan struct{})
			inner := 0
			person := approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
				d := r.Approve("")
				if strings.Contains(r.Call.ID, ".") {
					if inner++; inner > 1 {
						d = r.Deny("")
					} else {
						<-answer
						defer close(late)
					}
				}
				d.By = policy.Who{User: "ann", Via: policy.ViaTerminal}
				return d, nil
			})
			g, err := tool.Guard(approval.Config{Mode: policy.ModeAsk, Approver: person, Recorder: w, Session: "s", Policy: w.box.Policy.Rules}, w.box.Tools...)
			must(t, err)
			defer g.Close()
			args, err := json.Marshal(map[string]any{"command": text})
			must(t, err)
			call := func(id string) shell.Result {
				r := tool.Call(t.Context(), g, policy.Call{ID: id, Tool: "shell", Arguments: args})
				got, ok := r.Value.(shell.Result)
				if !ok {
					t.Fatalf("%+v, %s", r.Value, r.Text)
				}
				return got
			}
			if got := call("1"); !strings.Contains(got.Stopped, "nobody answered within") {
				t.Fatalf("%+v", got)
			}
			close(answer)
			<-late
			w.write("proj/"+tt.file, tt.text)
			got := call("2")
			for try := 0; !tt.asks && got.Stopped != "" && try < 100; try++ { // the yes is on its way
				got = call("2")
			}
			if asks := got.Stopped != ""; asks != tt.asks {
				t.Errorf("%+v", got)
			}
			if again := call("3"); again.Stopped == "" {
				t.Errorf("it holds twice: %+v", again)
			}
		})
	}
}
