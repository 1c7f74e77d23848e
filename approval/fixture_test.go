package approval_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
)

// A fixture is a gate with everything around it under the test's control.
type fixture struct {
	*approval.Gate
	t        *testing.T
	clock    approvaltest.Clock
	tools    *approvaltest.Tools
	memory   *approval.Memory
	recorder approvaltest.Recorder
}

// newFixture returns a gate in which the tools send, mail and write ask and
// read is free. Change alters its config.
func newFixture(t *testing.T, change ...func(*approval.Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, tools: approvaltest.NewTools("send", "mail", "hub:post"), memory: approval.NewMemory(0)}
	f.tools.Set("read", approval.Proposal{Acts: []policy.Act{{Name: "read", Target: policy.TextTarget("x"), Verdict: policy.VerdictFree}}})
	f.tools.Set("write", approval.Proposal{Acts: []policy.Act{fileAct("notes/a.md")}})
	f.Gate = f.another(change...)
	return f
}

// another returns a second gate with the same tools, clock and memory.
func (f *fixture) another(change ...func(*approval.Config)) *approval.Gate {
	f.t.Helper()
	cfg := approval.Config{
		Preparer: f.tools, Clock: f.clock.Now, NewID: approvaltest.IDs(), Session: "s",
		Rules: f.memory, Grants: f.memory, Recorder: &f.recorder,
	}
	for _, c := range change {
		c(&cfg)
	}
	gate, err := approval.New(cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	return gate
}

func fileAct(path string) policy.Act {
	return policy.Act{Name: policy.ActWriteFile, Target: policy.PathTarget(path), Known: true, Verdict: policy.VerdictAsk}
}

func commandAct(words ...string) policy.Act {
	return policy.Act{Name: policy.ActShell, Target: policy.CommandTarget(words...), Known: true, Verdict: policy.VerdictAsk}
}

func withMode(m policy.Mode) func(*approval.Config) { return func(c *approval.Config) { c.Mode = m } }
func withApprover(a approval.Approver) func(*approval.Config) {
	return func(c *approval.Config) { c.Approver = a }
}

// call returns a call of the tool with arguments that say what.
func call(tool, what string) policy.Call {
	connector, name, ok := strings.Cut(tool, ":")
	if !ok {
		connector, name = "", tool
	}
	return policy.Call{ID: tool + " " + what, Connector: connector, Tool: name, Arguments: []byte(`{"what":"` + what + `"}`)}
}

// pending reviews a call that must be asked.
func (f *fixture) pending(c policy.Call) (*approval.Batch, *approval.Request) {
	f.t.Helper()
	b := f.Review(f.t.Context(), c)
	waiting := b.Pending()
	if len(waiting) != 1 {
		o := b.Outcome(0)
		f.t.Fatalf("%s is %s (%s), want pending", c.Name(), o.State, o.Why)
	}
	return b, waiting[0]
}

// approved reviews a call and has it approved.
func (f *fixture) approved(c policy.Call) *approval.Batch {
	f.t.Helper()
	b, r := f.pending(c)
	f.resolve(b, r.Approve(""))
	return b
}

func (f *fixture) resolve(b *approval.Batch, ds ...approval.Decision) {
	f.t.Helper()
	if err := b.Resolve(f.t.Context(), ds...); err != nil {
		f.t.Fatal(err)
	}
}

// addRule saves a rule whose id is its text.
func (f *fixture) addRule(text string) {
	f.t.Helper()
	r, err := policy.ParseRule(text)
	r.ID = text
	if err == nil {
		err = f.memory.AddRules(context.Background(), r)
	}
	if err != nil {
		f.t.Errorf("adding %q: %v", text, err)
	}
}

// start starts call 0 of the batch as a tool would: prepared once more.
func (f *fixture) start(b *approval.Batch) (*approval.Execution, error) {
	f.t.Helper()
	p, err := f.tools.Prepare(f.t.Context(), b.Outcome(0).Call)
	if err != nil {
		p = approval.Proposal{}
	}
	return b.Start(f.t.Context(), 0, p)
}

func wantState(t *testing.T, b *approval.Batch, want ...policy.State) {
	t.Helper()
	var got []policy.State
	for _, o := range b.Outcomes() {
		got = append(got, o.State)
	}
	if !slices.Equal(got, want) {
		t.Errorf("states %q, want %q", got, want)
	}
}

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
}

// wantNothingLeft wants neither a grant nor a pending entry of the session s.
func (f *fixture) wantNothingLeft(batches ...*approval.Batch) {
	f.t.Helper()
	for _, b := range batches {
		if n := len(b.Pending()); n > 0 {
			f.t.Errorf("%d requests are pending", n)
		}
	}
	set, err := f.memory.Grants(f.t.Context(), "s")
	if err != nil || len(set.Grants()) > 0 {
		f.t.Errorf("grants %v (%v), want none", set.Grants(), err)
	}
}

// everything and nothing answer as a mode does.
func everything(_ context.Context, r *approval.Request) (approval.Decision, error) {
	d := r.Approve("")
	d.By.Via = policy.ViaMode
	return d, nil
}

func nothing(_ context.Context, r *approval.Request) (approval.Decision, error) {
	d := r.Deny("strict mode refuses what would have to be asked")
	d.By.Via = policy.ViaMode
	return d, nil
}
