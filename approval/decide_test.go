package approval_test

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
)

func TestDecideWithoutAnApproverIsARefusal(t *testing.T) {
	f := newFixture(t)
	out := f.Decide(t.Context(), call("read", "x"), call("send", "x"))
	if out[0].State != policy.StateFree || out[1].State != policy.StateDenied {
		t.Errorf("states %s, %s", out[0].State, out[1].State)
	}
	wantText(t, out[1].Err().Error(), "send was denied", "no approver to ask", "no approver")
	f.wantNothingLeft()
}

func TestApproversThatRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		approver func(ctx context.Context, r *approval.Request) (approval.Decision, error)
		says     string
	}{
		"failing": {func(context.Context, *approval.Request) (approval.Decision, error) {
			return approval.Decision{}, errors.New("line cut")
		}, "line cut"},
		"panicking": {func(context.Context, *approval.Request) (approval.Decision, error) { panic("boom") }, "panicked: boom"},
		"ending": {func(context.Context, *approval.Request) (approval.Decision, error) {
			runtime.Goexit()
			return approval.Decision{}, nil
		}, "ended without returning"},
		"saying nothing": {func(context.Context, *approval.Request) (approval.Decision, error) {
			return approval.Decision{}, nil
		}, "no answer was given"},
		"answering another request": {func(_ context.Context, r *approval.Request) (approval.Decision, error) {
			d := r.Approve("")
			d.Request = "foreign"
			return d, nil
		}, `the answer is for request "foreign"`},
		"answering another call": {func(_ context.Context, r *approval.Request) (approval.Decision, error) {
			d := r.Approve("")
			d.Fingerprint = policy.DigestOf(nil)
			return d, nil
		}, "its fingerprint differs"},
		"answering with a yes and an error": {func(_ context.Context, r *approval.Request) (approval.Decision, error) {
			return r.Approve(""), errors.New("not sure")
		}, "not sure"},
		"answering nonsense": {func(_ context.Context, r *approval.Request) (approval.Decision, error) {
			return approval.Decision{Answer: "yes please"}, nil
		}, "unknown answer"},
		"remembering what cannot be": {func(_ context.Context, r *approval.Request) (approval.Decision, error) {
			return r.Approve("").Always("allow mail"), nil
		}, "would not cover"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, withApprover(approval.ApproverFunc(c.approver)))
			o := f.Decide(t.Context(), call("send", "x"))[0]
			if o.State != policy.StateDenied || o.Runs() {
				t.Fatalf("%s", o.State)
			}
			wantText(t, o.Err().Error(), c.says)
			f.wantNothingLeft()
		})
	}
}

func TestApproverMayLeaveOutTheBinding(t *testing.T) {
	yes := func(context.Context, *approval.Request) (approval.Decision, error) {
		return approval.Decision{Answer: approval.AnswerApprove}, nil
	}
	f := newFixture(t, withApprover(approval.ApproverFunc(yes)))
	if o := f.Decide(t.Context(), call("send", "x"))[0]; o.State != policy.StateApproved || o.Decision.By.Via != policy.ViaProgram {
		t.Errorf("%s", o.State)
	}
}

func TestFailureForOneRequestLeavesTheOthers(t *testing.T) {
	a := approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		if r.Call.ID == "send bad" {
			return approval.Decision{}, errors.New("line cut")
		}
		return r.Approve(""), nil
	})
	f := newFixture(t, withApprover(a))
	out := f.Decide(t.Context(), call("send", "1"), call("send", "bad"), call("send", "2"))
	if out[0].State != policy.StateApproved || out[1].State != policy.StateDenied || out[2].State != policy.StateApproved {
		t.Errorf("states %s, %s, %s", out[0].State, out[1].State, out[2].State)
	}
}

func TestBlockedIsDecidedBeforeAsking(t *testing.T) {
	script := approvaltest.Script(approvaltest.Yes)
	f := newFixture(t, withApprover(script))
	f.tools.Set("wipe", approval.Proposal{Acts: []policy.Act{{Name: "wipe", Target: policy.TextTarget("/")}}})
	f.addRule("allow wipe")
	o := f.Decide(t.Context(), call("wipe", "x"))[0]
	var blocked *approval.BlockedError
	if !errors.As(o.Err(), &blocked) || errors.Is(o.Err(), approval.ErrDenied) {
		t.Fatalf("error %v, want a BlockedError", o.Err())
	}
	wantText(t, blocked.ForModel(), "wipe did not run", "blocked by policy", "nobody can approve it")
	if len(script.Asked()) > 0 {
		t.Error("the approver was asked")
	}
}

func TestModesAnswerWithoutAskingAnybody(t *testing.T) {
	for mode, want := range map[policy.Mode]policy.State{policy.ModeApproveAll: policy.StateModeApproved, policy.ModeStrict: policy.StateModeDenied} {
		script := approvaltest.Script()
		f := newFixture(t, withMode(mode), withApprover(script))
		if got := f.Decide(t.Context(), call("send", "x"))[0].State; got != want {
			t.Errorf("%s: %s, want %s", mode, got, want)
		}
		if len(script.Asked()) > 0 {
			t.Errorf("%s: the approver was asked", mode)
		}
	}
}

func TestApproveAllLeavesWhatOnlyAPersonMayAnswer(t *testing.T) {
	script := approvaltest.Script(approvaltest.Yes, approvaltest.Yes)
	for name, c := range map[string]struct {
		change []func(*approval.Config)
		want   policy.State
	}{
		"a person is there":   {[]func(*approval.Config){withMode(policy.ModeApproveAll), withApprover(script)}, policy.StateApproved},
		"nobody is there":     {[]func(*approval.Config){withMode(policy.ModeApproveAll)}, policy.StateDenied},
		"as an approver":      {[]func(*approval.Config){withApprover(approval.ApproverFunc(everything))}, policy.StateDenied},
		"beside a person":     {[]func(*approval.Config){withApprover(approval.First(script, approval.ApproverFunc(everything)))}, policy.StateApproved},
		"strict":              {[]func(*approval.Config){withMode(policy.ModeStrict), withApprover(script)}, policy.StateModeDenied},
		"strict, an approver": {[]func(*approval.Config){withApprover(approval.ApproverFunc(nothing))}, policy.StateModeDenied},
	} {
		f := newFixture(t, c.change...)
		f.tools.Set("rm", approval.Proposal{Acts: []policy.Act{{Name: "rm", Target: policy.TextTarget("/"), Verdict: policy.VerdictAsk, PersonOnly: true, Why: "it deletes a root"}}})
		if got := f.Decide(t.Context(), call("rm", "x"))[0].State; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if r := script.Asked()[0]; !r.PersonOnly || len(r.Offers) != 1 || len(r.Offers[0].Allow) != 0 || r.Why != "it deletes a root" {
		t.Errorf("request %+v", r)
	}
}

func TestPersonOnlyIsNeverRemembered(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("rm", approval.Proposal{Once: true, Acts: []policy.Act{{Name: "rm", Target: policy.TextTarget("/"), Verdict: policy.VerdictAsk, PersonOnly: true}}})
	b, r := f.pending(call("rm", "x"))
	wantError(t, b.Resolve(t.Context(), r.Approve("").ForSession(policy.ReachExact)), approval.ErrPersonOnly)
	wantError(t, b.Resolve(t.Context(), r.Approve("").Always("allow rm")), approval.ErrPersonOnly)
	f.resolve(b, r.Approve(""))
	f.wantNothingLeft(b)
}

func TestCancelledQuestionIsDismissed(t *testing.T) {
	for name, answer := range map[string]approvaltest.Answer{"yes": approvaltest.Yes, "no": approvaltest.No} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			a := approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
				cancel()
				return answer(r), nil // too late
			})
			f := newFixture(t, withApprover(a))
			for _, o := range f.Decide(ctx, call("send", "1"), call("send", "2")) {
				if o.State != policy.StateDismissed || o.Stage != approval.StageRefused {
					t.Errorf("%s is %s", o.Call.ID, o.State)
				}
				wantError(t, o.Err(), approval.ErrDenied)
				if events := f.recorder.Of(o.Call.ID); len(events) != 1 || events[0].State != policy.StateDismissed {
					t.Errorf("events %v", events)
				}
			}
		})
	}
}
