package approval_test

import (
	"context"
	"errors"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
)

func TestResolveAnySubsetInAnyOrder(t *testing.T) {
	f := newFixture(t)
	b := f.Review(t.Context(), call("send", "yes"), call("read", "free"), call("send", "no"), call("send", "change"), call("send", "open"))
	p := b.Pending()
	f.resolve(b, p[2].Change([]byte(`{"what":"other"}`), "use the other"), p[1].Deny("not that one"))
	wantState(t, b, policy.StatePending, policy.StateFree, policy.StateDenied, policy.StatePending, policy.StatePending)
	f.resolve(b, p[0].Approve("go on"))
	wantState(t, b, policy.StateApproved, policy.StateFree, policy.StateDenied, policy.StatePending, policy.StatePending)
	again := b.Pending()[0]
	if string(again.Call.Arguments) != `{"what":"other"}` || again.ID == p[2].ID {
		t.Errorf("asked again about %s as %s", again.Call.Arguments, again.ID)
	}
	f.resolve(b, again.Approve(""))
	wantState(t, b, policy.StateApproved, policy.StateFree, policy.StateDenied, policy.StateApproved, policy.StatePending)
	if o := b.Outcome(3); string(o.Original) != `{"what":"change"}` {
		t.Errorf("the original arguments are %s", o.Original)
	}
	if b.Outcome(0).Note() != "go on" {
		t.Error("the comment on a yes is lost")
	}
	var denied *approval.DeniedError
	if !errors.As(b.Outcome(2).Err(), &denied) {
		t.Fatalf("error %v, want a DeniedError", b.Outcome(2).Err())
	}
	wantText(t, denied.ForModel(), "send did not run", "nothing was changed", "a person said no", "not that one", "Do not retry")
	wantError(t, b.Outcome(4).Err(), approval.ErrOpen)
}

func TestDecisionsThatHaveNoEffect(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "1"))
	_, other := f.pending(call("send", "2"))
	wrong := r.Approve("")
	wrong.Fingerprint = other.Fingerprint
	unbound := r.Approve("")
	unbound.Fingerprint = policy.Digest{}
	odd := r.Approve("")
	odd.Answer = "perhaps"
	chosen := r.Approve("")
	chosen.Choice = "sandboxed"
	byRule := r.Approve("")
	byRule.By.Via = policy.ViaRule
	both := r.Approve("")
	both.Result = "and this"
	denyAndChange := r.Deny("")
	denyAndChange.Arguments = []byte(`{}`)
	for name, c := range map[string]struct {
		d    approval.Decision
		want error
	}{
		"another request's id":   {other.Approve(""), approval.ErrUnknownRequest},
		"no id":                  {approval.Decision{Answer: approval.AnswerApprove, Fingerprint: r.Fingerprint}, approval.ErrUnknownRequest},
		"another fingerprint":    {wrong, approval.ErrWrongCall},
		"no fingerprint":         {unbound, approval.ErrWrongCall},
		"unknown answer":         {odd, approval.ErrInvalidDecision},
		"unknown choice":         {chosen, approval.ErrNotOffered},
		"as a rule":              {byRule, approval.ErrInvalidDecision},
		"approves and answers":   {both, approval.ErrInvalidDecision},
		"denies and changes":     {denyAndChange, approval.ErrInvalidDecision},
		"arguments that are bad": {r.Change([]byte(`{"a":1,"a":2}`), ""), canonical.ErrDuplicateKey},
		"a dismissal forever":    {r.Dismiss().ForSession(policy.ReachExact), approval.ErrInvalidDecision},
		"a lifetime below zero": {func() approval.Decision {
			d := r.Approve("").ForSession(policy.ReachExact)
			d.Remember.For = -1
			return d
		}(), approval.ErrInvalidDecision},
		"an unknown reach":          {r.Approve("").ForSession("galaxy"), approval.ErrInvalidDecision},
		"an unknown memory":         {func() approval.Decision { d := r.Approve(""); d.Remember.Keep = "some"; return d }(), approval.ErrInvalidDecision},
		"a result that is repeated": {r.Respond("42").ForSession(policy.ReachExact), approval.ErrInvalidDecision},
	} {
		err := b.Resolve(t.Context(), c.d)
		var typed *approval.DecisionError
		if !errors.Is(err, c.want) || !errors.As(err, &typed) || typed.Request != c.d.Request {
			t.Errorf("%s: %v, want a DecisionError with %v", name, err, c.want)
		}
		wantState(t, b, policy.StatePending)
	}
	f.resolve(b, r.Approve(""))
	wantState(t, b, policy.StateApproved)
}

func TestSecondAnswerSaysWhoWon(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "1"))
	d := r.Deny("")
	d.By = policy.Who{User: "ann", Host: "desk", Via: policy.ViaInbox}
	f.resolve(b, d)
	err := b.Resolve(t.Context(), r.Approve("").Always())
	wantError(t, err, approval.ErrSettled)
	wantText(t, err.Error(), "denied by ann on desk (inbox)")
	wantState(t, b, policy.StateDenied)
	if rules, _ := f.memory.Rules(t.Context()); len(rules.Rules()) != 0 {
		t.Errorf("the losing answer's memory was saved: %v", rules.Rules())
	}
	select {
	case <-r.Done():
	default:
		t.Error("the request is settled and not done")
	}
}

func TestAnswerToAReplacedRequest(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "1"))
	f.resolve(b, r.Change([]byte(`{"what":"2"}`), ""))
	err := b.Resolve(t.Context(), r.Approve(""))
	wantError(t, err, approval.ErrWrongCall)
	wantText(t, err.Error(), b.Pending()[0].ID)
	f.resolve(b, b.Pending()[0].Deny(""))
	wantError(t, b.Resolve(t.Context(), r.Approve("")), approval.ErrSettled)
	wantState(t, b, policy.StateDenied)
}

func TestChangedArgumentsAreJudgedFromTheStart(t *testing.T) {
	prepare := func(_ context.Context, c policy.Call) (approval.Proposal, error) {
		a := policy.Act{Name: c.Tool, Target: policy.TextTarget(string(c.Arguments)), Verdict: policy.VerdictAsk}
		switch string(c.Arguments) {
		case `{"to":"nobody"}`:
			a.Verdict, a.Why = policy.VerdictBlock, "nobody may"
		case `{"to":"self"}`:
			a.Verdict = policy.VerdictFree
		case `{"to":5}`:
			return approval.Proposal{}, errors.New("to: want a string")
		}
		return approval.Proposal{Acts: []policy.Act{a}}, nil
	}
	for args, want := range map[string]policy.State{
		`{"to":"nobody"}`: policy.StateBlocked, `{"to":"enemy"}`: policy.StateAutoDenied, `{"to":"friend"}`: policy.StateAutoApproved,
		`{"to":"self"}`: policy.StateFree, `{"to":"stranger"}`: policy.StatePending,
	} {
		f := newFixture(t, func(c *approval.Config) { c.Preparer = approvaltest.PreparerFunc(prepare) })
		f.addRule("allow send(*friend*)")
		f.addRule("deny send(*enemy*)")
		start := policy.Call{ID: "1", Tool: "send", Arguments: []byte(`{"to":"a"}`)}

		// Bound to what was shown: asked again where it asks.
		b, r := f.pending(start)
		f.resolve(b, r.Change([]byte(args), "changed"))
		wantState(t, b, want)

		// Bound to what was previewed: a yes, unless blocked or denied.
		b, r = f.pending(start)
		preview, err := b.Preview(t.Context(), r.ID, []byte(args))
		if want == policy.StateBlocked || want == policy.StateAutoDenied {
			wantError(t, err, map[policy.State]error{policy.StateBlocked: approval.ErrBlocked, policy.StateAutoDenied: approval.ErrDenied}[want])
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		wantState(t, b, policy.StatePending)
		f.resolve(b, preview.Change([]byte(args), "changed"))
		wantState(t, b, policy.StateApproved)
		if o := b.Outcome(0); string(o.Call.Arguments) != args || string(o.Original) != `{"to":"a"}` {
			t.Errorf("%s: arguments %s, original %s", args, o.Call.Arguments, o.Original)
		}
	}
}

func TestPreviewedFingerprintOfOtherArgumentsIsNoYes(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "1"))
	preview, err := b.Preview(t.Context(), r.ID, []byte(`{"what":"seen"}`))
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, b.Resolve(t.Context(), preview.Change([]byte(`{"what":"unseen"}`), "")), approval.ErrWrongCall)
	wantError(t, b.Resolve(t.Context(), preview.Approve("")), approval.ErrWrongCall)
	wantState(t, b, policy.StatePending)
	_, err = b.Preview(t.Context(), r.ID, []byte(`[]`))
	wantError(t, err, canonical.ErrNotAnObject)
	_, err = b.Preview(t.Context(), "foreign", nil)
	wantError(t, err, approval.ErrUnknownRequest)
	f.resolve(b, r.Deny(""))
	_, err = b.Preview(t.Context(), r.ID, nil)
	wantError(t, err, approval.ErrSettled)
}

func TestSameArgumentsAreNoChange(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "1"))
	f.resolve(b, r.Change([]byte(` {"what" : "1"} `), ""))
	wantState(t, b, policy.StateApproved)
	if o := b.Outcome(0); o.Original != nil {
		t.Errorf("the model would be told that its arguments %s were changed", o.Original)
	}
}

func TestRespondGivesTheResultAndRunsNothing(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "1"))
	f.resolve(b, r.Respond("I did it myself"))
	o := b.Outcome(0)
	if o.State != policy.StateAnswered || o.Stage != approval.StageCompleted || o.Runs() || o.Err() != nil || o.Decision.Result != "I did it myself" {
		t.Errorf("outcome %+v", o)
	}
	_, err := f.start(b)
	wantError(t, err, approval.ErrNotAllowed)
}

func TestEveryKindOfNo(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*approval.Request) approval.Decision
		state  policy.State
		stage  approval.Stage
		says   string
	}{
		"deny":    {func(r *approval.Request) approval.Decision { return r.Deny("") }, policy.StateDenied, approval.StageRefused, "a person said no"},
		"dismiss": {(*approval.Request).Dismiss, policy.StateDismissed, approval.StageRefused, "dismissed without an answer"},
		"expire": {func(r *approval.Request) approval.Decision {
			return approval.Decision{Request: r.ID, Fingerprint: r.Fingerprint, Answer: approval.AnswerExpire}
		}, policy.StateExpired, approval.StageRefused, "nobody answered in time"},
		"nothing": {func(r *approval.Request) approval.Decision {
			return approval.Decision{Request: r.ID, Fingerprint: r.Fingerprint}
		}, policy.StateDenied, approval.StageRefused, "no answer was given"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			b, r := f.pending(call("send", "1"))
			f.resolve(b, c.answer(r))
			o := b.Outcome(0)
			if o.State != c.state || o.Stage != c.stage {
				t.Errorf("%s and %s, want %s and %s", o.State, o.Stage, c.state, c.stage)
			}
			wantError(t, o.Err(), approval.ErrDenied)
			wantText(t, o.Err().Error(), c.says)
			_, err := f.start(b)
			wantError(t, err, approval.ErrNotAllowed)
			f.wantNothingLeft(b)
		})
	}
}

func TestChoices(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("send", approval.Proposal{Choices: []approval.Choice{{ID: "slow", Label: "Slowly"}}})
	b, r := f.pending(call("send", "1"))
	d := r.Approve("")
	d.Choice = "slow"
	f.resolve(b, d)
	if got := b.Outcome(0).Decision.Choice; got != "slow" {
		t.Errorf("choice %q", got)
	}
}

func TestApprovalWithADoneContextHasNoEffect(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "1"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, b.Resolve(ctx, r.Approve("")), context.Canceled)
	wantState(t, b, policy.StatePending)
	if err := b.Resolve(ctx, r.Deny("")); err != nil {
		t.Errorf("a no has no effect: %v", err)
	}
	wantState(t, b, policy.StateDenied)
}

func TestElicitationAnswersOnceAndNeverForAPerson(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("send", approval.Proposal{Once: true})
	f.tools.Set("mail", approval.Proposal{Acts: []policy.Act{{Name: "mail", Target: policy.TextTarget("x"), Verdict: policy.VerdictAsk, PersonOnly: true}}})
	elicited := func(d approval.Decision) approval.Decision { d.By.Via = policy.ViaElicitation; return d }

	b, r := f.pending(call("send", "1"))
	wantError(t, b.Resolve(t.Context(), elicited(r.Approve("").ForSession(policy.ReachExact))), approval.ErrNotOffered)
	wantError(t, b.Resolve(t.Context(), elicited(r.Approve("").Always())), approval.ErrNotOffered)
	f.resolve(b, elicited(r.Approve("")))
	wantState(t, b, policy.StateApproved)
	f.wantNothingLeft(b)

	b, r = f.pending(call("mail", "1"))
	wantError(t, b.Resolve(t.Context(), elicited(r.Approve(""))), approval.ErrPersonOnly)
	wantError(t, b.Resolve(t.Context(), elicited(r.Respond("x"))), approval.ErrPersonOnly)
	wantState(t, b, policy.StatePending)
	f.resolve(b, elicited(r.Deny("")))
	wantState(t, b, policy.StateDenied)
}

func TestAnswersAreMatchedByCallID(t *testing.T) {
	f := newFixture(t)
	first, second := call("send", "1"), call("send", "2")
	first.ID, second.ID = "call-1", "call-2"
	b := f.Review(t.Context(), first, second)
	yes := b.Pending()[1].Approve("")
	yes.Request, yes.Call = "", "call-2"
	f.resolve(b, yes)
	wantState(t, b, policy.StatePending, policy.StateApproved)

	foreign := b.Pending()[0].Approve("")
	foreign.Request, foreign.Call = "", "call-3"
	wantError(t, b.Resolve(t.Context(), foreign), approval.ErrUnknownRequest)
	other := yes // an answer for another call, by its fingerprint
	other.Request, other.Call = "", "call-1"
	wantError(t, b.Resolve(t.Context(), other), approval.ErrWrongCall)
	wantState(t, b, policy.StatePending, policy.StateApproved)
}
