package open

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/store"
)

// ErrNoStore says that nothing is kept yet.
var ErrNoStore = errors.New("nothing is kept yet")

// Store opens the store as the user's config says, and makes it if there is none. What
// programs that were killed left behind is taken into it.
func Store(ctx context.Context, places setup.Places, user *config.User) (*store.Store, error) {
	s, err := store.Open(ctx, places.State, store.Options{
		RuleLimit: user.MaxRules, Detail: approval.Detail(user.Audit.KeepArguments), SyncAll: user.Audit.FsyncAll,
		Posted: places.WakeBridge,
	})
	if err != nil {
		return nil, err
	}
	if err := gateway.RecoverStarts(ctx, SpoolFolder(places.State), s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// ReadStore is Store for who changes nothing: where there is none, none is made, and the error
// is [ErrNoStore].
func ReadStore(ctx context.Context, places setup.Places, user *config.User) (*store.Store, error) {
	if !store.Made(places.State) {
		return nil, fmt.Errorf("%w: there is no store in %s", ErrNoStore, places.State)
	}
	return Store(ctx, places, user)
}

// SpoolFolder is where gateways keep what starts until the store has it.
func SpoolFolder(state string) string { return filepath.Join(state, "spool") }

// tidyWithin is how long removing old records may take when something begins. What is left
// goes the next time.
const tidyWithin = time.Second

// tidyLog removes the records that the user's config does not keep any longer. Those that a team is still to get stay.
func tidyLog(ctx context.Context, s *store.Store, state string, log config.Audit) error {
	keep := store.Retention{Age: time.Duration(log.KeepDays) * 24 * time.Hour, Bytes: log.KeepBytes}
	if keep == (store.Retention{}) {
		return nil
	}
	if link.Joined(state) {
		sent, err := link.Shipped(state)
		if err != nil {
			sent = 0 // how far the server is is not known
		}
		keep.Sent = &sent
	}
	limited, cancel := context.WithTimeout(ctx, tidyWithin)
	defer cancel()
	_, err := s.Retain(limited, keep)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}

// ApprovalsOff says how asking is turned on again, if it is off: by the command, or by the
// user's own config. The store may be nil. With an error nobody may take it for off.
func ApprovalsOff(ctx context.Context, user *config.User, s *store.Store) (turnOn string, err error) {
	if user.ApprovalsOff {
		return "take approvals: false out of your config.yaml", nil
	}
	if s == nil {
		return "", nil
	}
	on, err := s.Approvals(ctx)
	if err != nil || on {
		return "", err
	}
	return "assent approvals on", nil
}

// SayApprovalsOff says loudly that nobody is asked.
func SayApprovalsOff(w io.Writer, turnOn string) {
	fmt.Fprintln(w, "WARNING: approvals are OFF: what would be asked runs without a question.")
	fmt.Fprintln(w, "         What is blocked, deny rules and the audit log still hold. Turn them on:", turnOn)
}
