package approval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
)

func TestNewRefusesConfigThatCouldNotRefuseSafely(t *testing.T) {
	good := approval.Config{Preparer: approvaltest.NewTools(), Clock: new(approvaltest.Clock).Now, NewID: approvaltest.IDs()}
	for want, change := range map[string]func(*approval.Config){
		"Preparer": func(c *approval.Config) { c.Preparer = nil },
		"Clock":    func(c *approval.Config) { c.Clock = nil },
		"NewID":    func(c *approval.Config) { c.NewID = nil },
		"mode":     func(c *approval.Config) { c.Mode = 7 },
	} {
		cfg := good
		change(&cfg)
		gate, err := approval.New(cfg)
		if err == nil || gate != nil {
			t.Fatalf("a config with a bad %s was taken", want)
		}
		wantText(t, err.Error(), want)
	}
}

func TestReviewSettlesWhatItCanInTheModelsOrder(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("wipe", approval.Proposal{Acts: []policy.Act{{Name: "wipe", Target: policy.TextTarget("/")}}})
	f.addRule("allow mail")
	f.addRule("deny hub:post")
	b := f.Review(t.Context(), call("send", "1"), call("read", "1"), call("wipe", "1"), call("mail", "1"),
		call("hub:post", "1"), call("none", "1"), call("send", "2"))
	wantState(t, b, policy.StatePending, policy.StateFree, policy.StateBlocked, policy.StateAutoApproved, policy.StateAutoDenied, policy.StateInvalid, policy.StatePending)
	if r := b.Pending(); len(r) != 2 || r[0].Call.ID != "send 1" || r[1].Call.ID != "send 2" {
		t.Errorf("pending %v, want the two sends in order", r)
	}
	wantText(t, b.Outcome(2).Err().Error(), "wipe is blocked: blocked by policy")
}

func TestRequestWithoutWordsOfItsOwn(t *testing.T) {
	f := newFixture(t)
	_, r := f.pending(call("hub:post", "x"))
	if r.Summary != "Tool call: hub:post" {
		t.Errorf("summary %q", r.Summary)
	}
	v, err := r.View(t.Context())
	if err != nil || v.Content != "{\n  \"what\": \"x\"\n}" {
		t.Errorf("view %q (%v), want the arguments", v.Content, err)
	}
}

func TestBadInputLeavesNothingBehind(t *testing.T) {
	f := newFixture(t, func(c *approval.Config) {
		tools := c.Preparer
		c.Preparer = approvaltest.PreparerFunc(func(ctx context.Context, call policy.Call) (approval.Proposal, error) {
			if bytes.Contains(call.Arguments, []byte("wrong type")) {
				return approval.Proposal{}, errors.New(`field "what": want a number`)
			}
			if bytes.Contains(call.Arguments, []byte("panic")) {
				panic("boom")
			}
			return tools.Prepare(ctx, call)
		})
	})
	raw := func(tool, args string) policy.Call { return policy.Call{ID: "1", Tool: tool, Arguments: []byte(args)} }
	deep := strings.Repeat(`{"a":`, 10000) + "1" + strings.Repeat("}", 10000)
	for name, c := range map[string]struct {
		call policy.Call
		want string
		is   error
	}{
		"malformed JSON":       {raw("send", `{"a":`), "malformed JSON", canonical.ErrMalformedJSON},
		"duplicate keys":       {raw("send", `{"a":1,"a":2}`), "duplicate key", canonical.ErrDuplicateKey},
		"not an object":        {raw("send", `[1]`), "object", canonical.ErrNotAnObject},
		"unknown tool":         {raw("nope", `{}`), `unknown tool "nope"`, approval.ErrInvalid},
		"wrong type":           {raw("send", `{"what":"wrong type"}`), "want a number", approval.ErrInvalid},
		"panic":                {raw("send", `{"what":"panic"}`), "panicked: boom", approval.ErrInvalid},
		"32 MB":                {raw("send", `{"a":"`+strings.Repeat("x", 32<<20)+`"}`), "too large", canonical.ErrTooLarge},
		"10,000 levels":        {raw("send", deep), "too deep", canonical.ErrTooDeep},
		"invalid UTF-8":        {raw("send", "{\"a\":\"\xff\"}"), "UTF-8", canonical.ErrInvalidUTF8},
		"invalid UTF-8 name":   {raw("se\xffnd", `{}`), "UTF-8", canonical.ErrInvalidUTF8},
		"empty name":           {raw("", `{}`), "names no tool", approval.ErrInvalid},
		"empty connector tool": {policy.Call{ID: "1", Connector: "hub"}, "names no tool", approval.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			b := f.Review(t.Context(), c.call)
			wantState(t, b, policy.StateInvalid)
			o := b.Outcome(0)
			var invalid *approval.InvalidError
			if err := o.Err(); !errors.As(err, &invalid) {
				t.Fatalf("error %v, want an InvalidError", err)
			}
			wantError(t, o.Err(), approval.ErrInvalid)
			wantError(t, o.Err(), c.is)
			text := invalid.ForModel()
			wantText(t, strings.ReplaceAll(text, "deeply", "deep"), c.want, "did not run", "try again")
			if len(text) > 1000 {
				t.Errorf("the model is told %d bytes", len(text))
			}
			if o.Call.ID != "1" || o.Call.Session != "s" || o.Stage != approval.StageFailed {
				t.Errorf("outcome of call %q, session %q, stage %s", o.Call.ID, o.Call.Session, o.Stage)
			}
			f.wantNothingLeft(b)
			if _, err := json.Marshal(b); err != nil {
				t.Errorf("the batch cannot be saved: %v", err)
			}
		})
	}
}

func TestCallIDs(t *testing.T) {
	f := newFixture(t)
	bad := policy.Call{ID: "a", Tool: "send", Arguments: []byte(`{"`)}
	b := f.Review(t.Context(), policy.Call{ID: "a", Tool: "send"}, policy.Call{ID: "a", Tool: "read"}, bad, policy.Call{Tool: "send"}, policy.Call{Tool: "send"})
	wantState(t, b, policy.StatePending, policy.StateInvalid, policy.StateInvalid, policy.StatePending, policy.StatePending)
	first, second := b.Outcome(3).Call.ID, b.Outcome(4).Call.ID
	if first == "" || first == second {
		t.Errorf("calls without an id got %q and %q", first, second)
	}
	wantText(t, b.Outcome(1).Why, `"a" is used twice`)
	if _, err := json.Marshal(b); err != nil {
		t.Errorf("the batch cannot be saved: %v", err)
	}
}

func TestAtMost50CallsATurn(t *testing.T) {
	f := newFixture(t)
	var calls []policy.Call
	for i := range 53 {
		calls = append(calls, call("read", fmt.Sprint(i)))
	}
	calls[52].Arguments = []byte("{broken")
	b := f.Review(t.Context(), calls...)
	for i, o := range b.Outcomes() {
		want := policy.StateFree
		if i >= approval.MaxCallsPerTurn {
			want = policy.StateBlocked
		}
		if o.State != want || o.Call.Session != "s" {
			t.Errorf("call %d is %s in session %q, want %s", i+1, o.State, o.Call.Session, want)
		}
	}
	wantText(t, b.Outcome(50).Err().Error(), "50 calls at most", "number 51")
	if _, err := json.Marshal(b); err != nil {
		t.Errorf("the batch cannot be saved: %v", err)
	}
}

// fill makes 200 requests wait in the session s.
func fill(f *fixture) []*approval.Batch {
	var out []*approval.Batch
	for i := range approval.MaxPending {
		b, _ := f.pending(call("send", fmt.Sprint("fill", i)))
		out = append(out, b)
	}
	return out
}

func TestAtMost200PendingASession(t *testing.T) {
	f := newFixture(t)
	full := fill(f)
	b := f.Review(t.Context(), call("send", "more"), call("read", "free"))
	wantState(t, b, policy.StateBlocked, policy.StateFree)
	wantText(t, b.Outcome(0).Err().Error(), "200 requests wait")
	wantText(t, b.Outcome(0).Trace.String(), "limit: refused")
	other := call("send", "other session")
	other.Session = "two"
	wantState(t, f.Review(t.Context(), other), policy.StatePending)
	for _, b := range full {
		wantState(t, b, policy.StatePending) // none was evicted
	}
	f.resolve(full[7], full[7].Pending()[0].Deny(""))
	wantState(t, f.Review(t.Context(), call("send", "room again"), call("send", "full again")), policy.StatePending, policy.StateBlocked)
}

func TestChangingArgumentsNeedsNoFurtherRoom(t *testing.T) {
	f := newFixture(t)
	b := fill(f)[0]
	f.resolve(b, b.Pending()[0].Change([]byte(`{"what":"changed"}`), ""))
	wantState(t, b, policy.StatePending)
	f.resolve(b, b.Pending()[0].Approve(""))
	wantState(t, b, policy.StateApproved)
	wantState(t, f.Review(t.Context(), call("send", "one"), call("send", "two")), policy.StatePending, policy.StateBlocked)
}

// broken is a store that fails or panics.
type broken struct {
	*approval.Memory
	fail func() error
}

func (b broken) Rules(ctx context.Context) (*policy.RuleSet, error) {
	if err := b.fail(); err != nil {
		return nil, err
	}
	return b.Memory.Rules(ctx)
}

func TestFailingStoreRefuses(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("disk on fire") },
		"panic": func() error { panic("disk on fire") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(c *approval.Config) { c.Rules = broken{approval.NewMemory(0), fail} })
			b := f.Review(t.Context(), call("read", "free"), call("send", "x"))
			wantState(t, b, policy.StateDenied, policy.StateDenied)
			wantText(t, b.Outcome(0).Err().Error(), "the rules cannot be read", "disk on fire")
		})
	}
}

func TestCallerCannotChangeWhatWasReviewed(t *testing.T) {
	f := newFixture(t)
	c := call("send", "good")
	b := f.Review(t.Context(), c)
	copy(c.Arguments, `{"what":"evil"}`)
	r := b.Pending()[0]
	changed := []byte(`{"what":"edit"}`)
	preview, err := b.Preview(t.Context(), r.ID, changed)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(b.Outcome(0).Call.Arguments); got != `{"what":"good"}` {
		t.Errorf("the reviewed arguments are %s", got)
	}
	f.resolve(b, preview.Change(changed, ""))
	copy(changed, `{"what":"evil"}`)
	if got := string(b.Outcome(0).Call.Arguments); got != `{"what":"edit"}` {
		t.Errorf("the approved arguments are %s", got)
	}
}
