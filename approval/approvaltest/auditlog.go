package approvaltest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/policy"
)

// TestAuditLog is the suite that every [approval.AuditLog] must pass.
func TestAuditLog(t *testing.T, open func(t *testing.T) Pair) {
	t.Run("keeps events in order, bound to each other", func(t *testing.T) { recordsInOrder(t, open(t)) })
	t.Run("finds what is asked for", func(t *testing.T) { recordsFiltered(t, open(t)) })
	t.Run("marks a start without an end", func(t *testing.T) { recordsUnended(t, open(t)) })
	t.Run("takes events from many at once", func(t *testing.T) { recordsAtOnce(t, open(t)) })
	t.Run("a seal is of the last record", func(t *testing.T) { recordsSealed(t, open(t)) })
	t.Run("keeps no secrets", func(t *testing.T) {
		p := open(t)
		e := event("s", "1", approval.EventEnded)
		e.Note, e.Arguments = "use token ghp_0123456789012345678901234567890123456789", []byte(`{"password":"hunter2"}`)
		record(t, p.One, e)
		got := records(t, p.Two.Records(t.Context(), approval.RecordFilter{}))[0]
		if string(got.Arguments) != `{"password":"[redacted]"}` || got.Note != "use token [redacted]" {
			t.Errorf("kept %s and %q", got.Arguments, got.Note)
		}
	})
}

func event(session, call string, kind approval.EventKind) approval.Event {
	e := approval.Event{
		Kind: kind, At: Epoch, Session: session, CallID: call, Tool: "send",
		State: policy.StateAutoApproved, Stage: approval.StageExecuting, Arguments: []byte(`{"to":"ann"}`),
		ArgumentsDigest: policy.DigestOf([]byte(`{"to":"ann"}`)),
	}
	if kind == approval.EventEnded {
		e.Stage = approval.StageCompleted
	}
	return e
}

func record(t *testing.T, s approval.Recorder, events ...approval.Event) {
	t.Helper()
	for _, e := range events {
		if err := s.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
}

func records(t *testing.T, seq iter.Seq2[approval.Record, error]) (out []approval.Record) {
	t.Helper()
	for r, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func recordsInOrder(t *testing.T, p Pair) {
	for i := range 6 {
		e := event("s", fmt.Sprint(i), approval.EventEnded)
		e.At = Epoch.Add(-time.Duration(i) * time.Hour) // a clock that goes backwards
		record(t, []Store{p.One, p.Two}[i%2], e)
	}
	got := records(t, p.One.Records(t.Context(), approval.RecordFilter{}))
	for i, r := range got {
		if r.Seq != int64(i+1) || r.CallID != fmt.Sprint(i) || r.Hash.IsZero() {
			t.Errorf("record %d: number %d of call %s", i, r.Seq, r.CallID)
		}
		if i > 0 && r.Prev != got[i-1].Hash {
			t.Errorf("record %d does not carry the hash of the one before", r.Seq)
		}
	}
	v, err := p.Two.Verify(t.Context())
	if err != nil || !v.OK() || v.Records != 6 || v.First != 1 {
		t.Errorf("verified %+v, %v", v, err)
	}
	one, err := p.Two.RecordAt(t.Context(), 4)
	if err != nil || one.CallID != "3" || one.Hash != got[3].Hash {
		t.Errorf("record 4: %+v, %v", one, err)
	}
	if _, err := p.One.RecordAt(t.Context(), 7); !errors.Is(err, audit.ErrNoRecord) {
		t.Errorf("record 7: %v, want ErrNoRecord", err)
	}
}

func recordsFiltered(t *testing.T, p Pair) {
	for i := range 8 {
		e := event([]string{"a", "b"}[i%2], fmt.Sprint(i), approval.EventEnded)
		e.At = Epoch.Add(time.Duration(i) * time.Minute)
		e.Workers = []string{"main", []string{"left", "right"}[i/4]}
		if i%4 == 0 {
			e.Connector, e.State, e.Stage, e.Rule = "mail", policy.StateAutoDenied, approval.StageRefused, "r1"
		}
		record(t, p.One, e)
	}
	for _, c := range []struct {
		name   string
		filter approval.RecordFilter
		want   string
	}{
		{"all", approval.RecordFilter{}, "01234567"},
		{"session", approval.RecordFilter{Session: "a"}, "0246"},
		{"since", approval.RecordFilter{Since: Epoch.Add(6 * time.Minute)}, "67"},
		{"until", approval.RecordFilter{Until: Epoch.Add(2 * time.Minute)}, "01"},
		{"tool", approval.RecordFilter{Tool: "send"}, "123567"},
		{"connector's tool", approval.RecordFilter{Tool: "mail:*"}, "04"},
		{"any worker of the chain", approval.RecordFilter{Worker: "left"}, "0123"},
		{"part of a worker's name", approval.RecordFilter{Worker: "lef"}, ""},
		{"state", approval.RecordFilter{States: []policy.State{policy.StateAutoDenied}}, "04"},
		{"a state that is called like the stage of another", approval.RecordFilter{States: []policy.State{policy.StateDenied}}, ""},
		{"states", approval.RecordFilter{States: []policy.State{policy.StateDenied, policy.StateAutoDenied}}, "04"},
		{"stage", approval.RecordFilter{Stage: approval.StageCompleted}, "123567"},
		{"rule", approval.RecordFilter{Rule: "r1"}, "04"},
		{"last", approval.RecordFilter{Last: 3}, "567"},
		{"last of a session", approval.RecordFilter{Session: "a", Last: 2}, "46"},
		{"after", approval.RecordFilter{After: 6}, "67"},
		{"together", approval.RecordFilter{Session: "a", Stage: approval.StageCompleted, Worker: "right"}, "6"},
	} {
		got := ""
		for _, r := range records(t, p.Two.Records(t.Context(), c.filter)) {
			got += r.CallID
		}
		if got != c.want {
			t.Errorf("%s: calls %q, want %q", c.name, got, c.want)
		}
	}
}

func recordsUnended(t *testing.T, p Pair) {
	record(t, p.One, event("s", "1", approval.EventStarted), event("s", "2", approval.EventStarted), event("s", "1", approval.EventEnded))
	got := ""
	for _, r := range records(t, p.Two.Records(t.Context(), approval.RecordFilter{})) {
		if r.Unended {
			got += r.CallID
		}
	}
	if got != "2" {
		t.Errorf("calls %q have not ended, want 2", got)
	}
}

func recordsAtOnce(t *testing.T, p Pair) {
	const writers, each = 16, 20
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				e := event(fmt.Sprint("s", w), fmt.Sprint(i), approval.EventEnded)
				if err := []Store{p.One, p.Two}[w%2].Record(context.Background(), e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	v, err := p.One.Verify(t.Context())
	if err != nil || !v.OK() || v.Records != writers*each {
		t.Errorf("verified %+v, %v; want %d records", v, err, writers*each)
	}
	next := map[string]int{}
	for _, r := range records(t, p.Two.Records(t.Context(), approval.RecordFilter{})) {
		if r.CallID != fmt.Sprint(next[r.Session]) {
			t.Fatalf("session %s: call %s comes where %d should", r.Session, r.CallID, next[r.Session])
		}
		next[r.Session]++
	}
}

func recordsSealed(t *testing.T, p Pair) {
	record(t, p.One, event("s", "1", approval.EventEnded))
	seal, err := p.Two.Seal(t.Context())
	if err != nil || seal.Seq != 1 {
		t.Fatalf("seal %v, %v", seal, err)
	}
	read, err := audit.ParseSeal(seal.String())
	if err != nil || read != seal {
		t.Errorf("seal %q reads as %v, %v", seal, read, err)
	}
	record(t, p.Two, event("s", "2", approval.EventEnded))
	if v, err := p.One.Verify(t.Context(), seal); err != nil || !v.OK() {
		t.Errorf("with its seal: %+v, %v", v, err)
	}
	for kind, s := range map[audit.FlawKind]audit.Seal{
		audit.FlawCut:       {Seq: 9, Hash: seal.Hash},
		audit.FlawRewritten: {Seq: 2, Hash: seal.Hash},
	} {
		v, err := p.One.Verify(t.Context(), s)
		if err != nil || len(v.Flaws) != 1 || v.Flaws[0].Kind != kind {
			t.Errorf("with the seal %v: %+v, %v; want it %s", s, v, err, kind)
		}
	}
}
