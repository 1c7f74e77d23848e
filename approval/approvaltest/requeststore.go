package approvaltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// TestRequestStore is the suite that every [approval.RequestStore] must pass.
func TestRequestStore(t *testing.T, open func(t *testing.T) Pair) {
	t.Run("is empty at first", func(t *testing.T) {
		p := open(t)
		wantOpen(t, p.One, "")
		if _, err := p.One.Posted(t.Context(), "none"); !errors.Is(err, approval.ErrUnknownRequest) {
			t.Errorf("Posted: %v, want ErrUnknownRequest", err)
		}
		if err := p.One.Answer(t.Context(), approval.Decision{Request: "none"}); !errors.Is(err, approval.ErrUnknownRequest) {
			t.Errorf("Answer: %v, want ErrUnknownRequest", err)
		}
		if _, err := p.One.Await(t.Context(), "none"); !errors.Is(err, approval.ErrUnknownRequest) {
			t.Errorf("Await: %v, want ErrUnknownRequest", err)
		}
	})
	t.Run("what is posted is seen elsewhere, in order, with its view", func(t *testing.T) { requestsPosted(t, open(t)) })
	t.Run("an answer reaches who waits", func(t *testing.T) { answerReaches(t, open(t)) })
	t.Run("one of many answers wins", func(t *testing.T) { oneAnswerWins(t, open(t)) })
	t.Run("an answer that does not fit has no effect", func(t *testing.T) { answersChecked(t, open(t)) })
	t.Run("settling wins like an answer", func(t *testing.T) { settling(t, open(t)) })
	t.Run("what cannot take effect is asked again", func(t *testing.T) { reopening(t, open(t)) })
	t.Run("an answer can be taken back until it is taken", func(t *testing.T) { takingBack(t, open(t)) })
	t.Run("at most so many of a session wait", func(t *testing.T) {
		p := open(t)
		full, more := Requests(t, approval.MaxPending, "s"), Requests(t, 2, "s")
		post(t, p.One, full...)
		if err := p.Two.Post(t.Context(), more...); !errors.Is(err, approval.ErrTooManyPending) {
			t.Errorf("one too many: %v, want ErrTooManyPending", err)
		}
		wantOpen(t, p.One, "s", full...)
		post(t, p.Two, full[0]) // which is there
		post(t, p.Two, Requests(t, 1, "other")...)
		if err := p.Two.Answer(t.Context(), full[7].Deny("")); err != nil {
			t.Fatal(err)
		}
		post(t, p.Two, more[0])
	})
	t.Run("open requests come in pages", func(t *testing.T) { openPages(t, open(t)) })
	t.Run("waiting ends with the context", func(t *testing.T) {
		p := open(t)
		r := Requests(t, 1, "s")[0]
		post(t, p.One, r)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		cancel(why)
		if _, err := p.One.Await(ctx, r.ID); !errors.Is(err, why) {
			t.Errorf("Await: %v, want the cause of the context", err)
		}
	})
	t.Run("changes are told", func(t *testing.T) {
		p := open(t)
		told := make(chan struct{}, 100)
		stop := p.One.NotifyRequests(func() { told <- struct{}{} })
		defer stop()
		r := Requests(t, 1, "s")[0]
		post(t, p.Two, r)
		wantTold(t, told)
		if err := p.Two.Answer(t.Context(), r.Approve("")); err != nil {
			t.Fatal(err)
		}
		wantTold(t, told)
	})
}

func wantTold(t *testing.T, told <-chan struct{}) {
	t.Helper()
	select {
	case <-told:
	case <-t.Context().Done():
		t.Error("nobody was told")
	}
}

// Requests returns requests of one session as a gate makes them.
func Requests(t testing.TB, n int, session string) []*approval.Request {
	t.Helper()
	requests, err := NewRequests(n, session)
	if err != nil {
		t.Fatal(err)
	}
	return requests
}

// NewRequests is [Requests] for a program that is no test.
func NewRequests(n int, session string) (out []*approval.Request, err error) {
	gate, err := approval.New(approval.Config{Preparer: NewTools("ask"), Clock: new(Clock).Now, NewID: randomID, Session: session})
	for i := range n {
		if err != nil {
			return nil, err
		}
		call := policy.Call{Tool: "ask", Arguments: fmt.Appendf(nil, `{"n":%d}`, i)}
		out = append(out, gate.Review(context.Background(), call).Pending()...)
		if len(out) != i+1 {
			err = fmt.Errorf("a session may have %d requests", approval.MaxPending)
		}
	}
	return out, err
}

func post(t *testing.T, s approval.RequestStore, requests ...*approval.Request) {
	t.Helper()
	if err := s.Post(t.Context(), requests...); err != nil {
		t.Fatal(err)
	}
}

func wantOpen(t *testing.T, s approval.RequestStore, session string, want ...*approval.Request) {
	t.Helper()
	posted, err := s.Open(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	var got, ids []string
	for _, p := range posted {
		got = append(got, p.Request.ID)
	}
	for _, r := range want {
		ids = append(ids, r.ID)
	}
	wantList(t, "open requests", got, ids)
}

func wantList(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s %q, want %q", what, got, want)
	}
}

func requestsPosted(t *testing.T, p Pair) {
	a, b := Requests(t, 2, "a"), Requests(t, 1, "b")
	post(t, p.One, a...)
	post(t, p.Two, b...)
	post(t, p.Two, a[0]) // posting again changes nothing
	wantOpen(t, p.One, "", a[0], a[1], b[0])
	wantOpen(t, p.Two, "a", a...)
	got, err := p.Two.Posted(t.Context(), a[1].ID)
	if err != nil || got.Settled != nil {
		t.Fatalf("%+v, %v; want it open", got, err)
	}
	view, _ := got.Request.View(t.Context())
	want, _ := a[1].View(t.Context())
	if !view.Equal(want) || got.Request.Fingerprint != a[1].Fingerprint || len(got.Request.Acts) != len(a[1].Acts) {
		t.Errorf("posted %+v with view %q, want %+v with %q", got.Request, view.Content, a[1], want.Content)
	}
}

// openPages wants all requests of a session, each once, from a store that has pages.
func openPages(t *testing.T, p Pair) {
	pager, ok := p.Two.(approval.OpenPager)
	if !ok {
		return
	}
	all := Requests(t, 25, "s")
	post(t, p.One, all...)
	post(t, p.One, Requests(t, 3, "other")...)
	var want, got []string
	for _, r := range all {
		want = append(want, r.ID)
	}
	f, pages := approval.OpenFilter{Session: "s", Limit: 10}, 0
	for ; pages == 0 || f.After != ""; pages++ {
		page, next, err := pager.OpenPage(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, each := range page {
			got = append(got, each.Request.ID)
		}
		f.After = next
	}
	wantList(t, "requests of all pages", got, want)
	if pages != 3 {
		t.Errorf("%d pages, want 3", pages)
	}
	if _, _, err := pager.OpenPage(t.Context(), approval.OpenFilter{After: "nonsense"}); err == nil {
		t.Error("a page after nonsense")
	}
}

func answerReaches(t *testing.T, p Pair) {
	requests := Requests(t, 2, "s")
	post(t, p.One, requests...)
	got := make(chan approval.Posted, 1)
	go func() {
		posted, err := p.One.Await(context.WithoutCancel(t.Context()), requests[0].ID, requests[1].ID)
		if err != nil {
			t.Errorf("waiting: %v", err)
		}
		got <- posted
	}()
	d := requests[1].Change([]byte(`{"n":7,"password":"hunter2"}`), "rather this")
	d.By, d.Remember.For = policy.Who{User: "ann", Via: policy.ViaInbox}, time.Minute
	if err := p.Two.Answer(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	posted := <-got
	if posted.Request == nil || posted.Request.ID != requests[1].ID || posted.Settled == nil || posted.Settled.Decision == nil {
		t.Fatalf("who waits gets %+v", posted)
	}
	won := *posted.Settled.Decision
	if won.Digest() != d.Digest() || posted.Settled.Partial || won.At.IsZero() || posted.Settled.By != d.By {
		t.Errorf("who waits gets %+v, want %+v", won, d)
	}
	wantOpen(t, p.Two, "", requests[0])
}

func oneAnswerWins(t *testing.T, p Pair) {
	const n = 20
	r := Requests(t, 1, "s")[0]
	post(t, p.One, r)
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			d := r.Deny("no")
			d.By.User = fmt.Sprint("user", i)
			errs[i] = []Store{p.One, p.Two}[i%2].Answer(context.Background(), d)
		})
	}
	all.Wait()
	winner := slices.Index(errs, nil)
	if winner < 0 {
		t.Fatalf("nobody won: %v", errs[0])
	}
	for i, err := range errs {
		var late *approval.SettledError
		switch {
		case i == winner:
		case !errors.As(err, &late) || !errors.Is(err, approval.ErrSettled):
			t.Errorf("answer %d: %v, want a SettledError", i, err)
		case late.By.User != fmt.Sprint("user", winner) || late.State != policy.StateDenied:
			t.Errorf("answer %d is told that %s won (%s), want user%d", i, late.By, late.State, winner)
		}
	}
	if got, err := p.Two.Await(t.Context(), r.ID); err != nil || got.Settled.By.User != fmt.Sprint("user", winner) {
		t.Errorf("who waits sees %+v, %v", got.Settled, err)
	}
}

func answersChecked(t *testing.T, p Pair) {
	two := Requests(t, 2, "s")
	r := two[0]
	post(t, p.One, r)
	foreign := r.Approve("")
	foreign.Fingerprint = two[1].Fingerprint
	rule := r.Approve("")
	rule.By.Via = policy.ViaRule
	nonsense := r.Approve("")
	nonsense.Answer = "perhaps"
	for _, c := range []struct {
		d    approval.Decision
		want error
	}{
		{foreign, approval.ErrWrongCall},
		{rule, approval.ErrInvalidDecision},
		{nonsense, approval.ErrInvalidDecision},
		{two[1].Approve(""), approval.ErrUnknownRequest},
	} {
		if err := p.Two.Answer(t.Context(), c.d); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.d, err, c.want)
		}
		wantOpen(t, p.One, "", r)
	}
}

func settling(t *testing.T, p Pair) {
	r := Requests(t, 3, "s")
	post(t, p.One, r[0])
	yes := r[0].Approve("")
	yes.By.User = "ann"
	settle := func(s approval.Settler, r *approval.Request, how approval.Settlement, want error) {
		t.Helper()
		if err := s.Settle(t.Context(), r, how); !errors.Is(err, want) {
			t.Errorf("settling: %v, want %v", err, want)
		}
	}
	settle(p.One, r[0], yes.Settled(), nil)
	settle(p.Two, r[0], yes.Settled(), nil) // the same
	settle(p.Two, r[0], r[0].Deny("").Settled(), approval.ErrSettled)
	if err := p.Two.Answer(t.Context(), r[0].Deny("")); !errors.Is(err, approval.ErrSettled) {
		t.Errorf("answering what is settled: %v", err)
	}
	byRule := approval.Settlement{State: policy.StateAutoApproved, By: policy.Who{Via: policy.ViaRule}}
	settle(p.One, r[1], byRule, nil) // never posted
	post(t, p.Two, r[1])             // and does not open afterwards
	wantOpen(t, p.One, "")
	settle(p.Two, r[1], byRule, nil)
	settle(p.Two, r[1], r[1].Approve("").Settled(), approval.ErrSettled)
	post(t, p.One, r[2])
	if err := p.Two.Answer(t.Context(), r[2].Approve("")); err != nil {
		t.Fatal(err)
	}
	settle(p.One, r[2], byRule, approval.ErrSettled) // a person was faster
	settle(p.One, r[2], r[2].Approve("").Settled(), nil)
	if got, err := p.Two.Posted(t.Context(), r[1].ID); err != nil || got.Settled.State != policy.StateAutoApproved || got.Settled.Decision != nil {
		t.Errorf("settled by a rule: %+v, %v", got.Settled, err)
	}
}

func reopening(t *testing.T, p Pair) {
	r := Requests(t, 1, "s")[0]
	post(t, p.One, r)
	if err := p.Two.Answer(t.Context(), r.Approve("")); err != nil {
		t.Fatal(err)
	}
	if err := p.One.Reopen(t.Context(), r, "the rules would not cover this call"); err != nil {
		t.Fatal(err)
	}
	posted, err := p.Two.Open(t.Context(), "s")
	if err != nil || len(posted) != 1 || posted[0].Problem != "the rules would not cover this call" {
		t.Fatalf("open: %+v, %v", posted, err)
	}
	if err := p.Two.Answer(t.Context(), r.Deny("")); err != nil {
		t.Errorf("the second answer: %v", err)
	}
	if got, err := p.One.Await(t.Context(), r.ID); err != nil || got.Settled.State != policy.StateDenied || got.Problem != "" {
		t.Errorf("%+v, %v; want it denied", got, err)
	}
}

func takingBack(t *testing.T, p Pair) {
	r := Requests(t, 1, "s")[0]
	post(t, p.One, r)
	yes, no := r.Approve("go"), r.Deny("wait")
	if err := p.Two.TakeBack(t.Context(), r.ID, yes.Digest()); !errors.Is(err, approval.ErrOpen) {
		t.Errorf("before an answer: %v, want ErrOpen", err)
	}
	for _, d := range []approval.Decision{yes, no} {
		if err := p.Two.Answer(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if err := p.Two.TakeBack(t.Context(), r.ID, policy.DigestOf([]byte("other"))); !errors.Is(err, approval.ErrSettled) {
			t.Errorf("another answer: %v, want ErrSettled", err)
		}
		if err := p.Two.TakeBack(t.Context(), r.ID, d.Digest()); err != nil {
			t.Fatal(err)
		}
	}
	if open, err := p.One.Open(t.Context(), "s"); err != nil || len(open) != 1 {
		t.Errorf("open: %+v, %v; want the request", open, err)
	}
	// Whoever has read an answer before it was taken back cannot use it.
	for _, d := range []approval.Decision{yes, no} {
		if err := p.One.Settle(t.Context(), r, d.Settled()); !errors.Is(err, approval.ErrTakenBack) {
			t.Errorf("settling with what was taken back: %v", err)
		}
	}
	again := r.Approve("now")
	if err := p.Two.Answer(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if err := p.One.Settle(t.Context(), r, again.Settled()); err != nil {
		t.Fatal(err)
	}
	if err := p.Two.TakeBack(t.Context(), r.ID, again.Digest()); !errors.Is(err, approval.ErrSettled) {
		t.Errorf("after it was taken: %v, want ErrSettled", err)
	}
}
