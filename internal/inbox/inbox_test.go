package inbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/inbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/sessions"
)

// opened opens an inbox and posts requests of a session of process 1, which may die.
func opened(t *testing.T, n int) (*approvaltest.Fake, *inbox.Inbox, []*approval.Request) {
	t.Helper()
	store := approvaltest.NewFake(new(approvaltest.Clock))
	store.SetAlive(func(sessions.Process) bool { return true })
	begin(t, store, sessions.Session{ID: "s", Kind: sessions.KindRun, Owner: sessions.Process{ID: 4242}})
	requests := approvaltest.Requests(t, n, "s")
	if err := store.Post(t.Context(), requests...); err != nil {
		t.Fatal(err)
	}
	return store, openOn(t, store), requests
}

func openOn(t *testing.T, store inbox.Store) *inbox.Inbox {
	t.Helper()
	in, err := inbox.Open(t.Context(), store, inbox.Options{Owner: sessions.Process{ID: 1}, Sweep: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	return in
}

func begin(t *testing.T, store *approvaltest.Fake, s sessions.Session) {
	t.Helper()
	if err := store.BeginSession(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

func TestOthersKnowThatItIsOpen(t *testing.T) {
	store := approvaltest.NewFake(new(approvaltest.Clock))
	store.SetAlive(func(p sessions.Process) bool { return p.ID == 1 })
	in, err := inbox.Open(t.Context(), store, inbox.Options{Owner: sessions.Process{ID: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := store.Sessions(t.Context()); err != nil || len(all) != 1 || all[0].Kind != sessions.KindInbox || all[0].Owner.ID != 1 {
		t.Errorf("open: %+v, %v", all, err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if all, err := store.Sessions(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("closed: %+v, %v", all, err)
	}
}

// As long as a request waits it is the same value; how it ended is told then.
func TestWhatWaits(t *testing.T) {
	_, in, posted := opened(t, 2)
	first, second := in.Pending(), in.Pending()
	if len(first) != 2 || first[0] != second[0] || first[1].ID != posted[1].ID {
		t.Fatalf("%v, then %v", first, second)
	}
	if err := in.Resolve(t.Context(), first[0].Approve("")); err != nil {
		t.Fatal(err)
	}
	if left := in.Pending(); len(left) != 1 || left[0] != first[1] {
		t.Errorf("left: %v", left)
	}
	o := in.Outcomes()
	if len(o) != 1 || o[0].Request != first[0].ID || o[0].State != policy.StateApproved {
		t.Errorf("outcomes: %+v", o)
	}
	if got := strings.Join(in.Quiet(), ", "); got != "Nothing waits, 1 answered, Ctrl-C leaves" {
		t.Errorf("quiet: %s", got)
	}
}

// A quickStore has whoever asked act before the answerer hears how it went.
type quickStore struct {
	*approvaltest.Fake
	before, after func()
}

func (s *quickStore) Answer(ctx context.Context, d approval.Decision) error {
	s.before()
	defer s.after()
	return s.Fake.Answer(ctx, d)
}

// An answer of ours is counted as ours, however fast it is taken; one that came too late
// is not.
func TestWhoAnsweredIsCounted(t *testing.T) {
	fake, _, posted := opened(t, 2)
	store := &quickStore{Fake: fake, before: func() {}, after: func() {}}
	in := openOn(t, store)
	waiting := in.Pending()
	store.after = func() { in.Pending() }
	if err := in.Resolve(t.Context(), waiting[0].Approve("")); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(in.Quiet(), ", "); !strings.Contains(got, "1 answered, Ctrl-C") {
		t.Errorf("ours: %s", got)
	}
	store.before = func() {
		if err := fake.Settle(t.Context(), posted[1], approval.Settlement{State: policy.StateDismissed}); err != nil {
			t.Error(err)
		}
		in.Pending()
	}
	if err := in.Resolve(t.Context(), waiting[1].Approve("")); err == nil {
		t.Error("an answer that came too late was taken")
	}
	if got := strings.Join(in.Quiet(), ", "); !strings.Contains(got, "1 answered, 1 elsewhere") {
		t.Errorf("others: %s", got)
	}
}

func TestWhatOthersAnswered(t *testing.T) {
	for _, c := range []struct {
		name string
		how  approval.Settlement
		want approval.Outcome
	}{
		{"a rule", approval.Settlement{State: policy.StateAutoApproved, By: policy.Who{Via: policy.ViaRule}}, approval.Outcome{State: policy.StateAutoApproved, Basis: "a rule"}},
		{"the process that asked has ended", approval.Settlement{State: policy.StateDismissed}, approval.Outcome{State: policy.StateDismissed, Why: "the process that asked has ended, or asks no more"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			store, in, posted := opened(t, 1)
			in.Pending()
			if err := store.Settle(t.Context(), posted[0], c.how); err != nil {
				t.Fatal(err)
			}
			if left := in.Pending(); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			o := in.Outcomes()
			if len(o) != 1 || o[0].State != c.want.State || o[0].Basis != c.want.Basis || o[0].Why != c.want.Why {
				t.Errorf("outcomes: %+v", o)
			}
			if got := strings.Join(in.Quiet(), ", "); !strings.Contains(got, "0 answered, 1 elsewhere") {
				t.Errorf("quiet: %s", got)
			}
		})
	}
}

// Of a call that is asked again with other arguments it is not known yet how it ends.
func TestChangedArgumentsAreNoOutcome(t *testing.T) {
	_, in, _ := opened(t, 1)
	r := in.Pending()[0]
	if err := in.Resolve(t.Context(), r.Change([]byte(`{"n":7}`), "")); err != nil {
		t.Fatal(err)
	}
	if left, o := in.Pending(), in.Outcomes(); len(left) > 0 || len(o) > 0 {
		t.Errorf("left %v, outcomes %+v", left, o)
	}
}

// A request whose answer had no effect is another question, which says why.
func TestAnAnswerWithoutEffect(t *testing.T) {
	store, in, posted := opened(t, 1)
	r := in.Pending()[0]
	if err := in.Resolve(t.Context(), r.Approve("").Always()); err != nil {
		t.Fatal(err)
	}
	if err := store.Reopen(t.Context(), posted[0], "too many rules"); err != nil {
		t.Fatal(err)
	}
	again := in.Pending()
	if len(again) != 1 || again[0].ID != r.ID {
		t.Fatalf("%v, was %v", again, r)
	}
	about := in.About(t.Context(), again[0])
	if about.Problem != "too many rules" || !strings.Contains(about.From, "(run, process 4242, session s, since ") {
		t.Errorf("%+v", about)
	}
}

// What a process asked that is gone is taken away.
func TestSweep(t *testing.T) {
	store, in, _ := opened(t, 1)
	changed, stop := in.Watch()
	defer stop()
	if n := len(in.Pending()); n != 1 {
		t.Fatalf("%d wait", n)
	}
	store.SetAlive(func(p sessions.Process) bool { return p.ID != 4242 })
	for len(in.Pending()) > 0 {
		<-changed
	}
}

// So is what a process asked that is gone, if its session lives on: an agent has more processes.
func TestSweep_OneProcessOfASession(t *testing.T) {
	store := approvaltest.NewFake(new(approvaltest.Clock))
	store.SetAlive(func(sessions.Process) bool { return true })
	begin(t, store, sessions.Session{ID: "s", Kind: sessions.KindHook})
	requests := approvaltest.Requests(t, 3, "s")
	requests[0].Origin.Process, requests[1].Origin.Process = approval.Process{ID: 7}, approval.Process{ID: 8}
	if err := store.Post(t.Context(), requests...); err != nil {
		t.Fatal(err)
	}
	in := openOn(t, store)
	changed, stop := in.Watch()
	defer stop()
	if n := len(in.Pending()); n != 3 {
		t.Fatalf("%d wait", n)
	}
	store.SetAlive(func(p sessions.Process) bool { return p.ID != 7 })
	for len(in.Pending()) > 2 {
		<-changed
	}
	if o := in.Outcomes(); len(o) != 1 || o[0].Request != requests[0].ID || o[0].State != policy.StateDismissed {
		t.Errorf("outcomes: %+v", o)
	}
}

func TestFrom(t *testing.T) {
	for want, session := range map[string]sessions.Session{
		"chat, process 7, session long-nam…, since ":          {Kind: sessions.KindChat, Owner: sessions.Process{ID: 7}},
		"hook, session long-nam…, since ":                     {Kind: sessions.KindHook},
		"gateway, session long-nam…, since ":                  {Kind: sessions.KindGateway},
		"a run that defers its questions, since ":             {Kind: sessions.KindRun, Kept: true},
		"saved run R: 'assent resume R' continues it, since ": {Kind: sessions.KindRun, Kept: true, Begun: time.Now()},
	} {
		store := approvaltest.NewFake(new(approvaltest.Clock))
		store.SetAlive(func(sessions.Process) bool { return true })
		if !session.Begun.IsZero() {
			if _, err := store.SaveRun(t.Context(), sessions.SavedRun{ID: "R", Session: "long-name"}); err != nil {
				t.Fatal(err)
			}
		}
		session.ID = "long-name"
		begin(t, store, session)
		r := approvaltest.Requests(t, 1, "long-name")[0]
		r.Origin = approval.Origin{Agent: "claude-code", Folder: "/src/shop", Branch: "main"}
		want = "claude-code in /src/shop on branch main (" + want
		if got := openOn(t, store).About(t.Context(), r).From; !strings.HasPrefix(got, want) {
			t.Errorf("from %q, want %q…", got, want)
		}
	}
}

// broken is a store that cannot be read.
type broken struct{ *approvaltest.Fake }

var errBroken = errors.New("the store is broken")

func (broken) Open(context.Context, string) ([]approval.Posted, error) { return nil, errBroken }

// An inbox that cannot read its store shows nothing, and says why.
func TestABrokenStoreIsTheEnd(t *testing.T) {
	store := approvaltest.NewFake(new(approvaltest.Clock))
	store.SetAlive(func(sessions.Process) bool { return true })
	in := openOn(t, broken{store})
	if left := in.Pending(); left != nil || !errors.Is(in.Err(), errBroken) {
		t.Errorf("%v, %v", left, in.Err())
	}
}
