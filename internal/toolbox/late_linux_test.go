package toolbox_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
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
		"others decide":   {"", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			conf := conf
			if tt.file == "" { // else the call as a whole is for the team
				conf = strings.Replace(conf, "hold:", "judge: running\n  hold:", 1)
			}
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
			team := &approvaltest.Team{Tenant: "acme", Sponsor: "p_ann", Serial: 1}
			g, err := tool.Guard(approval.Config{Mode: policy.ModeAsk, Approver: person, Recorder: w, Session: "s",
				Policy: w.box.Policy.Rules, Team: team}, w.box.Tools...)
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
			if tt.file != "" {
				w.write("proj/"+tt.file, tt.text)
			} else {
				team.Change(func(t *approvaltest.Team) { t.Deciders = deciders("shell(wc *)") })
			}
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

// deciders are the people of a team who decide about some acts.
func deciders(acts ...string) []approvaltest.Decider {
	need := approval.Need{From: []approval.Count{{Group: "sre", Count: 1}}, Proof: approval.StrengthDevice}
	return []approvaltest.Decider{{Acts: acts, Need: need}}
}

// What a team decides about since a command began is not done because the command was approved as a whole.
func TestARunningCommandHoldsToTheTeamsNewDeciders(t *testing.T) {
	w := newWorld(t, runningPolicy)
	for name, text := range map[string]string{"cmd": "wc -l x", "x": "1\n"} {
		w.write("proj/"+name, text)
	}
	team := &approvaltest.Team{Tenant: "acme", Sponsor: "p_ann", Serial: 1}
	person := approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		d := r.Approve("")
		switch {
		case r.TeamDecides():
			d = r.Deny("")
		case strings.Contains(r.Call.ID, "."):
			team.Change(func(t *approvaltest.Team) { t.Deciders = deciders("shell(python3 *)") })
		}
		d.By = policy.Who{User: "ann", Via: policy.ViaTerminal}
		return d, nil
	})
	g, err := tool.Guard(approval.Config{Mode: policy.ModeAsk, Approver: person, Recorder: w, Session: "s",
		Policy: w.box.Policy.Rules, Team: team}, w.box.Tools...)
	must(t, err)
	defer g.Close()
	args, err := json.Marshal(map[string]any{"command": `$(cat cmd); python3 --version`})
	must(t, err)
	r := tool.Call(t.Context(), g, policy.Call{ID: "1", Tool: "shell", Arguments: args})
	got, ok := r.Value.(shell.Result)
	if !ok || !strings.Contains(got.Stopped, "python3 --version") || !strings.HasPrefix(got.Stdout, "1 x") {
		t.Errorf("%+v %s", r.Value, r.Text)
	}
}
