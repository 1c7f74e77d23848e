package approval_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
)

// watching is silent and keeps why its question was withdrawn.
func watching(cause *error) approval.Approver {
	return approval.ApproverFunc(func(ctx context.Context, _ *approval.Request) (approval.Decision, error) {
		<-ctx.Done()
		*cause = context.Cause(ctx)
		return approval.Decision{}, *cause
	})
}

// after answers after a while, of the bubble's own time.
func after(d time.Duration, a approval.Approver) approval.Approver {
	return approval.ApproverFunc(func(ctx context.Context, r *approval.Request) (approval.Decision, error) {
		<-time.After(d)
		return a.Approve(ctx, r)
	})
}

func by(user string, a approval.Approver) approval.Approver {
	return approval.ApproverFunc(func(ctx context.Context, r *approval.Request) (approval.Decision, error) {
		d, err := a.Approve(ctx, r)
		d.By.User = user
		return d, err
	})
}

func TestFirstAnswerWinsAndTheOthersAreTold(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			var cause error
			winner := by("ann", after(time.Second, approvaltest.Script(approvaltest.No)))
			f := newFixture(t, withApprover(approval.First(watching(&cause), winner)))
			o := f.Decide(t.Context(), call("send", "x"))[0]
			if o.State != policy.StateDenied || o.Decision.By.User != "ann" {
				t.Errorf("%s by %v", o.State, o.Decision)
			}
			var withdrawn *approval.WithdrawnError
			if !errors.As(cause, &withdrawn) || withdrawn.Request != o.Request || withdrawn.State != policy.StateDenied || withdrawn.By.User != "ann" {
				t.Errorf("the other was told %v", cause)
			}
		})
	}
}

func TestFirstWithdrawsEachRequestAsItIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		slow := approval.ApproverFunc(func(ctx context.Context, r *approval.Request) (approval.Decision, error) {
			<-ctx.Done()
			var w *approval.WithdrawnError
			if errors.As(context.Cause(ctx), &w) && w.Request == r.ID {
				told = append(told, r.Call.ID)
			}
			return r.Approve("late"), nil
		})
		quick := after(time.Second, approvaltest.Script(approvaltest.No, approvaltest.No))
		f := newFixture(t, withApprover(approval.First(slow, quick)))
		for _, o := range f.Decide(t.Context(), call("send", "1"), call("send", "2")) {
			if o.State != policy.StateDenied {
				t.Errorf("%s is %s: a late answer counted", o.Call.ID, o.State)
			}
		}
		if len(told) != 2 {
			t.Errorf("told of %q, want both", told)
		}
	})
}

func TestFirstLeavesTheQuestionToTheOthersWhenOneFails(t *testing.T) {
	fails := approval.ApproverFunc(func(context.Context, *approval.Request) (approval.Decision, error) {
		return approval.Decision{}, errors.New("line cut")
	})
	panics := approval.ApproverFunc(func(context.Context, *approval.Request) (approval.Decision, error) { panic("boom") })
	f := newFixture(t, withApprover(approval.First(fails, panics, approvaltest.Script(approvaltest.Yes))))
	if o := f.Decide(t.Context(), call("send", "x"))[0]; o.State != policy.StateApproved {
		t.Errorf("%s: %s", o.State, o.Why)
	}
	f = newFixture(t, withApprover(approval.First(fails, panics)))
	o := f.Decide(t.Context(), call("send", "x"))[0]
	if o.State != policy.StateDenied {
		t.Errorf("%s", o.State)
	}
	wantText(t, o.Why, "line cut", "boom")
}

func TestWithdrawnByARule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		f := newFixture(t, withApprover(watching(&cause)))
		var out []approval.Outcome
		done := make(chan struct{})
		go func() {
			out = f.Decide(t.Context(), call("send", "x"))
			close(done)
		}()
		synctest.Wait()
		f.addRule("allow send")
		<-done
		if out[0].State != policy.StateAutoApproved {
			t.Errorf("%s", out[0].State)
		}
		var withdrawn *approval.WithdrawnError
		if !errors.As(cause, &withdrawn) {
			t.Fatalf("told %v", cause)
		}
		wantText(t, withdrawn.Error(), "auto-approved by a rule")
	})
}

// together answers a batch in one go.
type together struct {
	approval.Approver
	answer func(ctx context.Context, b *approval.Batch) error
}

func (a together) ApproveBatch(ctx context.Context, b *approval.Batch) error { return a.answer(ctx, b) }

func TestBatchApproverIsAskedOnce(t *testing.T) {
	var asked atomic.Int32
	a := together{approvaltest.Script(), func(ctx context.Context, b *approval.Batch) error {
		asked.Add(1)
		var ds []approval.Decision
		for i, r := range b.Pending() {
			ds = append([]approval.Decision{{Request: r.ID, Fingerprint: r.Fingerprint, Answer: []approval.Answer{approval.AnswerApprove, approval.AnswerDeny}[i%2]}}, ds...)
		}
		return b.Resolve(ctx, ds[1:]...) // the last is left open
	}}
	f := newFixture(t, withApprover(a))
	out := f.Decide(t.Context(), call("send", "1"), call("send", "2"), call("send", "3"))
	if out[0].State != policy.StateApproved || out[1].State != policy.StateDenied || out[2].State != policy.StateDenied {
		t.Errorf("states %s, %s, %s", out[0].State, out[1].State, out[2].State)
	}
	wantText(t, out[2].Err().Error(), "gave no answer")
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
}

func TestBatchApproverIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		a := together{approvaltest.Script(), func(ctx context.Context, b *approval.Batch) error {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return cause
		}}
		f := newFixture(t, withApprover(approval.First(a, after(time.Second, approvaltest.Script(approvaltest.Yes, approvaltest.Yes)))))
		for _, o := range f.Decide(t.Context(), call("send", "1"), call("send", "2")) {
			if o.State != policy.StateApproved {
				t.Errorf("%s", o.State)
			}
		}
		var withdrawn *approval.WithdrawnError
		if !errors.As(cause, &withdrawn) {
			t.Errorf("told %v", cause)
		}
	})
}

func TestTimeoutTurnsSilenceIntoExpired(t *testing.T) {
	late := approval.ApproverFunc(func(ctx context.Context, r *approval.Request) (approval.Decision, error) {
		<-ctx.Done()
		return r.Approve("late"), nil
	})
	stubborn := after(time.Hour, approvaltest.Script(approvaltest.Yes, approvaltest.Yes))
	for name, inner := range map[string]approval.Approver{
		"silent": approvaltest.Silent, "late": late, "stubborn": stubborn, "first": approval.First(late, approvaltest.Silent),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, withApprover(approval.Timeout(time.Minute, inner)))
				begin := time.Now()
				for _, o := range f.Decide(t.Context(), call("send", "1"), call("send", "2")) {
					if o.State != policy.StateExpired || !errors.Is(o.Err(), approval.ErrDenied) {
						t.Errorf("%s is %s: %v", o.Call.ID, o.State, o.Err())
					}
				}
				if took := time.Since(begin); took < time.Minute || took > 2*time.Minute {
					t.Errorf("took %v", took)
				}
				f.wantNothingLeft()
				<-time.After(3 * time.Hour) // the stubborn one comes to its end
			})
		})
	}
}

func TestTimeoutPassesAnswersOn(t *testing.T) {
	script := approvaltest.Script(approvaltest.Yes, approvaltest.No)
	f := newFixture(t, withApprover(approval.Timeout(time.Hour, script)))
	out := f.Decide(t.Context(), call("send", "1"), call("send", "2"))
	if out[0].State != policy.StateApproved || out[1].State != policy.StateDenied {
		t.Errorf("states %s, %s", out[0].State, out[1].State)
	}
}

func TestApproverThatIgnoresCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		answered := make(chan error)
		a := together{approvaltest.Script(), func(_ context.Context, b *approval.Batch) error {
			r := b.Pending()[0]
			<-time.After(time.Hour) // of the bubble's own time
			answered <- b.Resolve(context.Background(), r.Approve("late"))
			return nil
		}}
		f := newFixture(t, withApprover(a))
		time.AfterFunc(time.Second, cancel)
		if o := f.Decide(ctx, call("send", "x"))[0]; o.State != policy.StateDismissed {
			t.Errorf("%s", o.State)
		}
		wantError(t, <-answered, approval.ErrSettled)
	})
}

func TestSingleQuestionsToCombinedApprovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		_, r := f.pending(call("send", "x"))
		var cause error
		d, err := approval.First(watching(&cause), after(time.Second, approvaltest.Script(approvaltest.Yes))).Approve(t.Context(), r)
		if err != nil || d.Answer != approval.AnswerApprove {
			t.Errorf("First: %v, %v", d, err)
		}
		synctest.Wait()
		var withdrawn *approval.WithdrawnError
		if !errors.As(cause, &withdrawn) {
			t.Errorf("the loser was told %v", cause)
		}
		d, err = approval.Timeout(time.Minute, approvaltest.Silent).Approve(t.Context(), r)
		if err != nil || d.Answer != approval.AnswerExpire {
			t.Errorf("Timeout: %v, %v", d, err)
		}
	})
}

func TestQuestionShowsTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left time.Duration
		a := approval.ApproverFunc(func(ctx context.Context, r *approval.Request) (approval.Decision, error) {
			end, _ := ctx.Deadline()
			left = time.Until(end)
			return r.Approve(""), nil
		})
		f := newFixture(t, withApprover(approval.Timeout(time.Minute, a)))
		f.Decide(t.Context(), call("send", "x"))
		if left != time.Minute {
			t.Errorf("the approver sees %v left", left)
		}
	})
}
