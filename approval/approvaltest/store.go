package approvaltest

import (
	"context"
	"testing"

	"github.com/assent-dev/assent/approval"
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
