package approvaltest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/sessions"
)

// A Store is everything that processes share. What implements it passes
// [TestStore].
type Store interface {
	approval.RuleStore
	approval.GrantStore
	approval.Notifier
	sessions.Store
	approval.RequestStore
	approval.ClaimStore
	sessions.RunStore
	approval.AuditLog
	RevokeGrant(ctx context.Context, session, id string) error
}

// A Pair is one empty store as two processes see it, and the clock of both. The
// two may be one where nothing is shared between processes.
type Pair struct {
	One, Two Store
	Clock    *Clock
	// Alive says which processes are there. The suite sets it before it begins
	// sessions.
	Alive func(func(sessions.Process) bool)
}

// TestStore is the suite that everything which keeps what must last has to pass:
// open returns a new pair each time.
func TestStore(t *testing.T, open func(t *testing.T) Pair) {
	begun := func(t *testing.T) Pair {
		p := open(t)
		for _, id := range []string{"one", "two"} {
			begin(t, p.One, sessions.Session{ID: id, Kind: sessions.KindHook})
		}
		return p
	}
	t.Run("rules", func(t *testing.T) {
		TestRuleStore(t, func(t *testing.T) approval.RuleStore { return open(t).One })
	})
	t.Run("grants", func(t *testing.T) {
		TestGrantStore(t, func(t *testing.T) approval.GrantStore { return begun(t).One })
	})
	t.Run("sessions", func(t *testing.T) { TestSessionStore(t, open) })
	t.Run("requests", func(t *testing.T) { TestRequestStore(t, open) })
	t.Run("claims", func(t *testing.T) { TestClaimStore(t, open) })
	t.Run("runs", func(t *testing.T) { TestRunStore(t, open) })
	t.Run("audit", func(t *testing.T) { TestAuditLog(t, open) })
	t.Run("gates", func(t *testing.T) { TestSharedGates(t, open) })
}

// TestSessionStore is the suite that every [sessions.Store] must pass.
func TestSessionStore(t *testing.T, open func(t *testing.T) Pair) {
	t.Run("grants reach every process of a session and end with it", func(t *testing.T) {
		p := open(t)
		begin(t, p.One, sessions.Session{ID: "s", Kind: sessions.KindHook})
		addGrants(t, p.One, grant("s", "a"))
		wantGrants(t, p.Two, "s", "a")
		addGrants(t, p.Two, grant("s", "b"))
		wantGrants(t, p.One, "s", "a", "b")
		if err := p.Two.EndSession(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		wantGrants(t, p.One, "s")
		begin(t, p.One, sessions.Session{ID: "s", Kind: sessions.KindHook})
		wantGrants(t, p.Two, "s") // a resumed id starts without grants
	})
	t.Run("a session that was not begun has no grants and takes none", func(t *testing.T) {
		p := open(t)
		if err := p.One.AddGrants(t.Context(), grant("nobody", "a")); !errors.Is(err, sessions.ErrNoSession) {
			t.Errorf("adding a grant: %v, want ErrNoSession", err)
		}
		if err := p.One.EndSession(t.Context(), "nobody"); !errors.Is(err, sessions.ErrNoSession) {
			t.Errorf("ending it: %v, want ErrNoSession", err)
		}
		wantGrants(t, p.One, "nobody")
	})
	t.Run("beginning again goes on", func(t *testing.T) {
		p := open(t)
		begin(t, p.One, sessions.Session{ID: "s", Kind: sessions.KindHook})
		addGrants(t, p.One, grant("s", "a"))
		begin(t, p.Two, sessions.Session{ID: "s", Kind: sessions.KindHook})
		wantGrants(t, p.Two, "s", "a")
	})
	t.Run("a revoked grant is gone everywhere", func(t *testing.T) {
		p := open(t)
		begin(t, p.One, sessions.Session{ID: "s", Kind: sessions.KindHook})
		addGrants(t, p.One, grant("s", "a"), grant("s", "b"))
		wantGrants(t, p.Two, "s", "a", "b")
		if err := p.One.RevokeGrant(t.Context(), "s", "a"); err != nil {
			t.Fatal(err)
		}
		wantGrants(t, p.Two, "s", "b")
		if err := p.Two.RevokeGrant(t.Context(), "s", "a"); !errors.Is(err, policy.ErrGrantNotFound) {
			t.Errorf("revoking again: %v, want ErrGrantNotFound", err)
		}
	})
	t.Run("idle ones of foreign agents go stale", func(t *testing.T) { idleSessions(t, open(t)) })
	t.Run("ones whose process is gone go stale", func(t *testing.T) { deadSessions(t, open(t)) })
	t.Run("the end of one dismisses what waits in it", func(t *testing.T) {
		p := open(t)
		begin(t, p.One, sessions.Session{ID: "s", Kind: sessions.KindHook})
		r := Requests(t, 1, "s")[0]
		post(t, p.One, r)
		if err := p.Two.EndSession(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		got, err := p.One.Await(t.Context(), r.ID)
		if err != nil || got.Settled == nil || got.Settled.State != policy.StateDismissed {
			t.Errorf("the request is %+v, %v; want it dismissed", got.Settled, err)
		}
	})
}

func begin(t *testing.T, s sessions.Store, session sessions.Session) {
	t.Helper()
	if err := s.BeginSession(t.Context(), session); err != nil {
		t.Fatal(err)
	}
}

func wantSessions(t *testing.T, s sessions.Store, want ...string) {
	t.Helper()
	got, err := s.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, session := range got {
		ids = append(ids, session.ID)
	}
	wantList(t, "sessions", ids, want)
}

// idleSessions wants a session to live eight hours from the last word of it.
func idleSessions(t *testing.T, p Pair) {
	begin(t, p.One, sessions.Session{ID: "s", Kind: sessions.KindGateway})
	addGrants(t, p.One, grant("s", "a"))
	p.Clock.Advance(sessions.Idle - time.Minute)
	if err := p.Two.Record(t.Context(), event("s", "call", approval.EventStarted)); err != nil {
		t.Fatal(err)
	}
	p.Clock.Advance(sessions.Idle - time.Minute)
	wantGrants(t, p.Two, "s", "a")
	wantSessions(t, p.Two, "s")
	p.Clock.Advance(time.Hour)
	wantGrants(t, p.One, "s")
	wantGrants(t, p.Two, "s")
	wantSessions(t, p.One)
	begin(t, p.Two, sessions.Session{ID: "s", Kind: sessions.KindGateway})
	wantGrants(t, p.One, "s")
	wantSessions(t, p.One, "s")
}

// deadSessions wants a run to end with its process, unless it was put aside, and so a
// gateway.
func deadSessions(t *testing.T, p Pair) {
	dead := map[int]bool{}
	p.Alive(func(who sessions.Process) bool { return !dead[who.ID] })
	for id, pid := range map[string]int{"lives": 1, "dies": 2, "kept": 3} {
		begin(t, p.One, sessions.Session{ID: id, Kind: sessions.KindRun, Owner: sessions.Process{ID: pid}, Kept: id == "kept"})
		addGrants(t, p.One, grant(id, "a"))
		p.Clock.Advance(time.Second)
	}
	begin(t, p.One, sessions.Session{ID: "serves", Kind: sessions.KindGateway, Owner: sessions.Process{ID: 4}})
	addGrants(t, p.One, grant("serves", "a"))
	wantGrants(t, p.Two, "serves", "a")
	dead[4] = true
	wantGrants(t, p.Two, "serves")
	if ended, err := p.Two.CleanSessions(t.Context()); err != nil || len(ended) != 1 || ended[0].ID != "serves" {
		t.Errorf("ended %v, %v; want the gateway that is gone", ended, err)
	}
	dead[2], dead[3] = true, true
	wantGrants(t, p.Two, "dies")
	ended, err := p.Two.CleanSessions(t.Context())
	if err != nil || len(ended) != 1 || ended[0].ID != "dies" {
		t.Errorf("ended %v, %v; want the one whose process is gone", ended, err)
	}
	wantGrants(t, p.One, "kept", "a")
	wantGrants(t, p.One, "lives", "a")
	begin(t, p.Two, sessions.Session{ID: "kept", Kind: sessions.KindRun, Owner: sessions.Process{ID: 1}})
	wantGrants(t, p.One, "kept", "a") // it was resumed
}
