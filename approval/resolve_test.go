package approval_test

import (
	"context"
	"errors"
	"testing"

	. "github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
)

func TestResolveAnySubsetInAnyOrder(t *testing.T) {
	f := newFixture(t)
	b := f.Review(t.Context(), call("send", "yes"), call("read", "free"), call("send", "no"), call("send", "change"), call("send", "open"))
	p := b.Pending()
	f.resolve(b, p[2].Change([]byte(`{"what":"other"}`), "use the other"), p[1].Deny("not that one"))
	wantState(t, b, Pending, FreeToRun, Denied, Pending, Pending)
	f.resolve(b, p[0].Approve("go on"))
	wantState(t, b, Approved, FreeToRun, Denied, Pending, Pending)
	again := b.Pending()[0]
	if string(again.Call.Arguments) != `{"what":"other"}` || again.ID == p[2].ID {
		t.Errorf("asked again about %s as %s", again.Call.Arguments, again.ID)
	}
	f.resolve(b, again.Approve(""))
	wantState(t, b, Approved, FreeToRun, Denied, Approved, Pending)
	if o := b.Outcome(3); string(o.Original) != `{"what":"change"}` {
		t.Errorf("the original arguments are %s", o.Original)
	}
	if b.Outcome(0).Note() != "go on" {
		t.Error("the comment on a yes is lost")
	}
	var denied *DeniedError
	if !errors.As(b.Outcome(2).Err(), &denied) {
		t.Fatalf("error %v, want a DeniedError", b.Outcome(2).Err())
	}
	wantText(t, denied.ForModel(), "send did not run", "nothing was changed", "a person said no", "not that one", "Do not retry")
	wantError(t, b.Outcome(4).Err(), ErrOpen)
}

func TestDecisionsThatHaveNoEffect(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "1"))
	_, other := f.pending(call("send", "2"))
	wrong := r.Approve("")
	wrong.Fingerprint = other.Fingerprint
	unbound := r.Approve("")
	unbound.Fingerprint = Digest{}
	odd := r.Approve("")
	odd.Answer = "perhaps"
	chosen := r.Approve("")
	chosen.Choice = "sandboxed"
	byRule := r.Approve("")
	byRule.By.Via = ViaRule
	both := r.Approve("")
	both.Result = "and this"
	denyAndChange := r.Deny("")
	denyAndChange.Arguments = []byte(`{}`)
	for name, c := range map[string]struct {
		d    Decision
		want error
	}{
		"another request's id":      {other.Approve(""), ErrUnknownRequest},
		"no id":                     {Decision{Answer: Approve, Fingerprint: r.Fingerprint}, ErrUnknownRequest},
		"another fingerprint":       {wrong, ErrWrongCall},
		"no fingerprint":            {unbound, ErrWrongCall},
		"unknown answer":            {odd, ErrInvalidDecision},
		"unknown choice":            {chosen, ErrNotOffered},
		"as a rule":                 {byRule, ErrInvalidDecision},
		"approves and answers":      {both, ErrInvalidDecision},
		"denies and changes":        {denyAndChange, ErrInvalidDecision},
		"arguments that are bad":    {r.Change([]byte(`{"a":1,"a":2}`), ""), ErrDuplicateKey},
		"a dismissal for ever":      {r.Dismiss().ForSession(Exact), ErrInvalidDecision},
		"a lifetime below zero":     {func() Decision { d := r.Approve("").ForSession(Exact); d.Remember.For = -1; return d }(), ErrInvalidDecision},
		"an unknown reach":          {r.Approve("").ForSession("galaxy"), ErrInvalidDecision},
		"an unknown memory":         {func() Decision { d := r.Approve(""); d.Remember.Keep = "some"; return d }(), ErrInvalidDecision},
		"a result that is repeated": {r.Respond("42").ForSession(Exact), ErrInvalidDecision},
	} {
		err := b.Resolve(t.Context(), c.d)
		var typed *DecisionError
		if !errors.Is(err, c.want) || !errors.As(err, &typed) || typed.Request != c.d.Request {
			t.Errorf("%s: %v, want a DecisionError with %v", name, err, c.want)
		}
		wantState(t, b, Pending)
	}
	f.resolve(b, r.Approve(""))
	wantState(t, b, Approved)
}

func TestSecondAnswerSaysWhoWon(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "1"))
	d := r.Deny("")
	d.By = Who{User: "ann", Host: "desk", Via: ViaInbox}
	f.resolve(b, d)
	err := b.Resolve(t.Context(), r.Approve("").Always())
	wantError(t, err, ErrSettled)
	wantText(t, err.Error(), "denied by ann on desk (inbox)")
	wantState(t, b, Denied)
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
	wantError(t, err, ErrWrongCall)
	wantText(t, err.Error(), b.Pending()[0].ID)
	f.resolve(b, b.Pending()[0].Deny(""))
	wantError(t, b.Resolve(t.Context(), r.Approve("")), ErrSettled)
	wantState(t, b, Denied)
}

func TestChangedArgumentsAreJudgedFromTheStart(t *testing.T) {
	prepare := func(_ context.Context, c Call) (Proposal, error) {
		a := Act{Name: c.Tool, Target: TextTarget(string(c.Arguments)), Verdict: Ask}
		switch string(c.Arguments) {
		case `{"to":"nobody"}`:
			a.Verdict, a.Why = Block, "nobody may"
		case `{"to":"self"}`:
			a.Verdict = Free
		case `{"to":5}`:
			return Proposal{}, errors.New("to: want a string")
		}
		return Proposal{Acts: []Act{a}}, nil
	}
	for args, want := range map[string]State{
		`{"to":"nobody"}`: Blocked, `{"to":"enemy"}`: AutoDenied, `{"to":"friend"}`: AutoApproved,
		`{"to":"self"}`: FreeToRun, `{"to":"stranger"}`: Pending,
	} {
		f := newFixture(t, func(c *Config) { c.Preparer = approvaltest.PreparerFunc(prepare) })
		f.addRule("allow send(*friend*)")
		f.addRule("deny send(*enemy*)")
		start := Call{ID: "1", Tool: "send", Arguments: []byte(`{"to":"a"}`)}

		// Bound to what was shown: asked again where it asks.
		b, r := f.pending(start)
		f.resolve(b, r.Change([]byte(args), "changed"))
		wantState(t, b, want)

		// Bound to what was previewed: a yes, unless blocked or denied.
		b, r = f.pending(start)
		preview, err := b.Preview(t.Context(), r.ID, []byte(args))
		if want == Blocked || want == AutoDenied {
			wantError(t, err, map[State]error{Blocked: ErrBlocked, AutoDenied: ErrDenied}[want])
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		wantState(t, b, Pending)
		f.resolve(b, preview.Change([]byte(args), "changed"))
		wantState(t, b, Approved)
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
	wantError(t, b.Resolve(t.Context(), preview.Change([]byte(`{"what":"unseen"}`), "")), ErrWrongCall)
	wantError(t, b.Resolve(t.Context(), preview.Approve("")), ErrWrongCall)
	wantState(t, b, Pending)
	_, err = b.Preview(t.Context(), r.ID, []byte(`[]`))
	wantError(t, err, ErrNotAnObject)
	_, err = b.Preview(t.Context(), "foreign", nil)
	wantError(t, err, ErrUnknownRequest)
	f.resolve(b, r.Deny(""))
	_, err = b.Preview(t.Context(), r.ID, nil)
	wantError(t, err, ErrSettled)
}

func TestSameArgumentsAreNoChange(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "1"))
	f.resolve(b, r.Change([]byte(` {"what" : "1"} `), ""))
	wantState(t, b, Approved)
	if o := b.Outcome(0); o.Original != nil {
		t.Errorf("the model would be told that its arguments %s were changed", o.Original)
	}
}

func TestRespondGivesTheResultAndRunsNothing(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "1"))
	f.resolve(b, r.Respond("I did it myself"))
	o := b.Outcome(0)
	if o.State != Answered || o.Stage != StageCompleted || o.Runs() || o.Err() != nil || o.Decision.Result != "I did it myself" {
		t.Errorf("outcome %+v", o)
	}
	_, err := f.start(b)
	wantError(t, err, ErrNotAllowed)
}

func TestEveryKindOfNo(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*Request) Decision
		state  State
		stage  Stage
		says   string
	}{
		"deny":    {func(r *Request) Decision { return r.Deny("") }, Denied, StageDenied, "a person said no"},
		"dismiss": {(*Request).Dismiss, Dismissed, StageDismissed, "dismissed without an answer"},
		"expire": {func(r *Request) Decision {
			return Decision{Request: r.ID, Fingerprint: r.Fingerprint, Answer: Expire}
		}, Expired, StageDenied, "nobody answered in time"},
		"nothing": {func(r *Request) Decision {
			return Decision{Request: r.ID, Fingerprint: r.Fingerprint}
		}, Denied, StageDenied, "no answer was given"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			b, r := f.pending(call("send", "1"))
			f.resolve(b, c.answer(r))
			o := b.Outcome(0)
			if o.State != c.state || o.Stage != c.stage {
				t.Errorf("%s and %s, want %s and %s", o.State, o.Stage, c.state, c.stage)
			}
			wantError(t, o.Err(), ErrDenied)
			wantText(t, o.Err().Error(), c.says)
			_, err := f.start(b)
			wantError(t, err, ErrNotAllowed)
			f.wantNothingLeft(b)
		})
	}
}

func TestChoices(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("send", Proposal{Choices: []Choice{{ID: "slow", Label: "Slowly"}}})
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
	wantState(t, b, Pending)
	if err := b.Resolve(ctx, r.Deny("")); err != nil {
		t.Errorf("a no has no effect: %v", err)
	}
	wantState(t, b, Denied)
}

func TestElicitationAnswersOnceAndNeverForAPerson(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("send", Proposal{Once: true})
	f.tools.Set("mail", Proposal{Acts: []Act{{Name: "mail", Target: TextTarget("x"), Verdict: Ask, PersonOnly: true}}})
	elicited := func(d Decision) Decision { d.By.Via = ViaElicitation; return d }

	b, r := f.pending(call("send", "1"))
	wantError(t, b.Resolve(t.Context(), elicited(r.Approve("").ForSession(Exact))), ErrNotOffered)
	wantError(t, b.Resolve(t.Context(), elicited(r.Approve("").Always())), ErrNotOffered)
	f.resolve(b, elicited(r.Approve("")))
	wantState(t, b, Approved)
	f.wantNothingLeft(b)

	b, r = f.pending(call("mail", "1"))
	wantError(t, b.Resolve(t.Context(), elicited(r.Approve(""))), ErrPersonOnly)
	wantError(t, b.Resolve(t.Context(), elicited(r.Respond("x"))), ErrPersonOnly)
	wantState(t, b, Pending)
	f.resolve(b, elicited(r.Deny("")))
	wantState(t, b, Denied)
}

func TestAnswersAreMatchedByCallID(t *testing.T) {
	f := newFixture(t)
	first, second := call("send", "1"), call("send", "2")
	first.ID, second.ID = "call-1", "call-2"
	b := f.Review(t.Context(), first, second)
	yes := b.Pending()[1].Approve("")
	yes.Request, yes.Call = "", "call-2"
	f.resolve(b, yes)
	wantState(t, b, Pending, Approved)

	foreign := b.Pending()[0].Approve("")
	foreign.Request, foreign.Call = "", "call-3"
	wantError(t, b.Resolve(t.Context(), foreign), ErrUnknownRequest)
	other := yes // an answer for another call, by its fingerprint
	other.Request, other.Call = "", "call-1"
	wantError(t, b.Resolve(t.Context(), other), ErrWrongCall)
	wantState(t, b, Pending, Approved)
}
