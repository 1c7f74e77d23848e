package terminal

import (
	"context"
	"errors"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

func TestSingleDesk(t *testing.T) {
	f := newFixture(t, "one")
	r := f.batch.Pending()[0]
	d := &single{request: r}
	if len(d.Pending()) != 1 {
		t.Fatal("nothing is pending")
	}
	if err := d.Resolve(t.Context(), r.Deny("no")); err != nil || len(d.Pending()) != 0 || d.Outcomes()[0].State != policy.StateDenied {
		t.Fatalf("%v, %v", err, d.Outcomes())
	}
}

func TestAfterTheEndNobodyIsAsked(t *testing.T) {
	f := newFixture(t, "one")
	told := 0
	a := NewWith(Config{Stop: func(error) { told++ }})
	a.close(&StoppedError{Request: f.batch.Pending()[0], Note: "enough"})
	if err := a.ApproveBatch(t.Context(), f.batch); !errors.Is(err, ErrStopped) || told != 1 || f.state(0) != policy.StateDenied {
		t.Fatalf("%v, told %d times, %s", err, told, f.state(0))
	}
}

func TestWaitingForTheScreenEndsWithTheContext(t *testing.T) {
	a := NewWith(Config{})
	a.screen <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.ApproveBatch(ctx, newFixture(t, "one").batch); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestViewPanicIsAnError(t *testing.T) {
	gate, err := approval.New(approval.Config{
		Preparer: fakeTool(func(policy.Call) approval.Proposal {
			p := proposals["broken"](policy.Call{})
			p.View = nil
			return p
		}),
		Clock: NewWith(Config{}).cfg.Clock, NewID: func() string { return "x" },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := gate.Review(t.Context(), callOf("one")).Pending()[0]
	if view, err := viewOf(t.Context(), r); err != nil || view.Content == "" {
		t.Fatalf("%v, %v", view, err)
	}
	if _, err := viewOf(t.Context(), &approval.Request{}); err == nil {
		t.Fatal("a request that panics has a view")
	}
}
