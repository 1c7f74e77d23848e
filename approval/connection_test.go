package approval

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/assent-dev/assent/policy"
)

type events []Event

func (e *events) Record(_ context.Context, ev Event) error {
	*e = append(*e, ev)
	return nil
}

func TestRecordConnection(t *testing.T) {
	var got events
	now := time.Unix(1000, 0).UTC()
	g, err := New(Config{
		Preparer: preparerFunc(func(context.Context, policy.Call) (Proposal, error) { return Proposal{}, nil }),
		Clock:    func() time.Time { return now }, NewID: func() string { return "id" }, Recorder: &got,
	})
	if err != nil {
		t.Fatal(err)
	}
	call := policy.Call{ID: "c1", Tool: policy.ActShell, Session: "s", Arguments: []byte(`{"command":"npm install"}`)}
	by := Permit{State: policy.StateAutoApproved, Rule: "r1", Basis: "rule allow connect(a.example:443)", Who: policy.Who{Via: policy.ViaRule}}
	for _, c := range []EndedConnection{
		{Host: "A.example", Port: "443", Program: "node", Sent: 10, Received: 2000, Duration: time.Second, By: by},
		{Host: "b.example", Port: "22", By: Permit{State: policy.StateBlocked}, Err: errors.New("the host is denied")},
		{Host: "c.example", Port: "22", By: by, Err: errors.New("connection reset")},
	} {
		if err := g.RecordConnection(t.Context(), call, c); err != nil {
			t.Fatal(err)
		}
	}
	a, b, c := got[0], got[1], got[2]
	if a.Kind != EventConnected || a.Host != "a.example" || a.Port != "443" || a.Program != "node" || a.Sent != 10 || a.Received != 2000 || a.Duration != time.Second ||
		a.Rule != "r1" || a.Basis == "" || a.By.Via != policy.ViaRule || a.State != policy.StateAutoApproved || a.Stage != StageCompleted || a.CallID != "c1" ||
		!slices.Equal(a.Acts, []string{"connect(a.example:443)"}) || a.Arguments != nil || a.ArgumentsDigest != policy.DigestOf(call.Arguments) || !a.At.Equal(now) {
		t.Errorf("%+v", a)
	}
	if b.State != policy.StateBlocked || b.Stage != StageRefused || b.Error != "the host is denied" {
		t.Errorf("%+v", b)
	}
	if c.State != policy.StateAutoApproved || c.Stage != StageFailed {
		t.Errorf("%+v", c)
	}
	if none := a.Keep(DetailNone); none.Host != "" || none.Port != "" || none.Program != "" || none.Sent != 10 {
		t.Errorf("without details: %+v", none)
	}
}

type preparerFunc func(context.Context, policy.Call) (Proposal, error)

func (f preparerFunc) Prepare(ctx context.Context, c policy.Call) (Proposal, error) {
	return f(ctx, c)
}
