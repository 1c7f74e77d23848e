package approval_test

import (
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
)

// A parked call waits in a store, in a batch that was saved.
type parked struct {
	*fixture
	requests *approvaltest.Fake
	request  *approval.Request
	saved    []byte
}

func park(t *testing.T) *parked {
	t.Helper()
	f := newFixture(t)
	p := &parked{fixture: f, requests: approvaltest.NewFake(&f.clock)}
	b, r := p.pending(call("send", "1"))
	p.request, p.saved = r, p.save(b)
	if err := p.requests.Post(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return p
}

// answers gives the answer in another process.
func (p *parked) answers(d approval.Decision) {
	p.t.Helper()
	if err := p.requests.Answer(p.t.Context(), d); err != nil {
		p.t.Fatal(err)
	}
}

// resumes restores the batch in a new gate, which takes the answers that there are.
func (p *parked) resumes(change ...func(*approval.Config)) *approval.Batch {
	p.t.Helper()
	change = append(change, func(c *approval.Config) { c.Requests = p.requests })
	b, err := p.another(change...).Restore(p.t.Context(), p.saved)
	if err == nil {
		err = approval.Collect(p.t.Context(), p.requests, b)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// What a person said while the run was put aside holds, whatever would let the
// call run without them by now.
func TestAnAnswerHoldsThoughARuleCameAfterIt(t *testing.T) {
	changed := []byte(`{"what":"2"}`)
	for name, c := range map[string]struct {
		answer func(*approval.Request) approval.Decision
		want   policy.State
	}{
		"no":               {func(r *approval.Request) approval.Decision { return r.Deny("not that") }, policy.StateDenied},
		"closed":           {(*approval.Request).Dismiss, policy.StateDismissed},
		"their own":        {func(r *approval.Request) approval.Decision { return r.Respond("42") }, policy.StateAnswered},
		"yes, with a note": {func(r *approval.Request) approval.Decision { return r.Approve("fine") }, policy.StateApproved},
	} {
		for by, allow := range map[string]func(*parked) []func(*approval.Config){
			"a rule": func(p *parked) []func(*approval.Config) { p.addRule("allow send"); return nil },
			"a mode": func(*parked) []func(*approval.Config) {
				return []func(*approval.Config){func(c *approval.Config) { c.Mode = policy.ModeApproveAll }}
			},
		} {
			p := park(t)
			d := c.answer(p.request)
			p.answers(d)
			b := p.resumes(allow(p)...)
			if o := b.Outcome(0); o.State != c.want || o.Note() != d.Note {
				t.Errorf("%s, then %s: %s with the note %q, want %s", name, by, o.State, o.Note(), c.want)
			}
		}
	}

	p := park(t)
	d := p.request.Change(changed, "")
	p.answers(d)
	p.addRule("allow send")
	if o := p.resumes().Outcome(0); string(o.Call.Arguments) != string(changed) {
		t.Errorf("other arguments, then a rule: it is %s with %s", o.State, o.Call.Arguments)
	}
}

// A no was said to the call as it was shown. If it is another by now, a person is
// asked again, though a rule or the tool would let it run.
func TestANoToWhatHasChangedIsAskedAgain(t *testing.T) {
	p := park(t)
	p.answers(p.request.Deny(""))
	p.tools.Set("send", approval.Proposal{Acts: []policy.Act{{Name: "send", Target: policy.TextTarget("1"), Verdict: policy.VerdictFree}}})
	wantState(t, p.resumes(), policy.StatePending)

	p = park(t)
	p.answers(p.request.Deny(""))
	p.addRule("allow send")
	p.tools.Set("send", approval.Proposal{State: policy.DigestOf([]byte("edited"))})
	b := p.resumes()
	wantState(t, b, policy.StatePending)
	if again := b.Pending()[0]; again.ID == p.request.ID {
		t.Error("the question has its old id")
	}
	p.resolve(b, b.Pending()[0].Approve(""))
	wantState(t, b, policy.StateApproved)
}

// While nobody has answered, a rule may; then it is too late for a person.
func TestARuleAnswersWhatNobodyDid(t *testing.T) {
	p := park(t)
	p.addRule("allow send")
	wantState(t, p.resumes(), policy.StateAutoApproved)
	wantError(t, p.requests.Answer(t.Context(), p.request.Deny("")), approval.ErrSettled)
	wantState(t, p.resumes(), policy.StateAutoApproved) // as if the program had died there
}

// A yes is nothing against a deny that came after it.
func TestADenyAfterAYesHolds(t *testing.T) {
	p := park(t)
	p.answers(p.request.Approve(""))
	p.addRule("deny send")
	wantState(t, p.resumes(), policy.StateAutoDenied)
}

// A question that ended without an answer comes again, where it can be answered.
func TestWhatEndedWithoutAnAnswerIsAskedUnderAnotherID(t *testing.T) {
	p := park(t)
	if err := p.requests.Settle(t.Context(), p.request, approval.Settlement{State: policy.StateAutoApproved, By: policy.Who{Via: policy.ViaRule}}); err != nil {
		t.Fatal(err)
	}
	b := p.resumes()
	wantState(t, b, policy.StatePending)
	if again := b.Pending()[0]; again.ID == p.request.ID {
		t.Error("the question has the id of one that has ended")
	}
}
