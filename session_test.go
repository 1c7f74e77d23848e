package assent_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent"
	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// A call that was decoded from what a model wrote may name a session. What was denied for the agent's
// own holds all the same.
func TestACallCannotLeaveItsSession(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, home)
	}
	file := filepath.Join(home, "policy.yaml")
	must(t, os.WriteFile(file, []byte("version: 1\n"), 0o600))
	asked := 0
	never := func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		asked++
		if asked > 1 {
			return r.Approve(""), nil
		}
		d := r.Deny("")
		d.Remember = approval.Remember{Keep: approval.KeepSession, Reach: policy.ReachTool}
		return d, nil
	}
	buy := tool.NeedsApproval(true, tool.Func("buy", "Buy something.", func(context.Context, struct{}) (string, error) { return "bought", nil }))
	a, err := assent.Open(t.Context(), assent.Options{Policy: file, State: filepath.Join(home, "state"), Approver: approval.ApproverFunc(never), Tools: buy})
	must(t, err)
	defer a.Close()
	if r := a.Call(t.Context(), policy.Call{Tool: "buy", Arguments: json.RawMessage("{}")}); r.Outcome.State != policy.StateDenied {
		t.Fatalf("%+v", r)
	}
	var call policy.Call
	must(t, json.Unmarshal([]byte(`{"id":"2","tool":"buy","arguments":{},"session":"another"}`), &call))
	if r := a.Call(t.Context(), call); r.Outcome.State != policy.StateAutoDenied || asked != 1 {
		t.Errorf("call: %s, asked %d times", r.Outcome.State, asked)
	}
	if o := a.Review(t.Context(), call).Outcome(0); o.State != policy.StateAutoDenied || o.Call.Session != a.Session() {
		t.Errorf("review: %s in %s", o.State, o.Call.Session)
	}
}
