package approvaltest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/sessions"
)

// A Fake is a [Store] in memory. It is safe for concurrent use. Make one with
// [NewFake].
type Fake struct {
	*approval.Memory
	clock *Clock
	log   fakeLog

	mu        sync.Mutex
	alive     func(sessions.Process) bool
	sessions  map[string]sessions.Session
	requests  []*fakeRequest
	claims    map[approval.Claim]approval.Stage
	runs      map[string]sessions.SavedRun
	listeners map[int]func()
	next      int
}

var _ Store = (*Fake)(nil)

// NewFake returns an empty store.
func NewFake(clock *Clock) *Fake {
	return &Fake{
		Memory: approval.NewMemory(0), clock: clock,
		alive:     func(sessions.Process) bool { return true },
		sessions:  map[string]sessions.Session{},
		claims:    map[approval.Claim]approval.Stage{},
		runs:      map[string]sessions.SavedRun{},
		listeners: map[int]func(){},
	}
}

// SetAlive says which processes are there.
func (f *Fake) SetAlive(alive func(sessions.Process) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.alive = alive
}

// session returns a session that is alive.
func (f *Fake) session(id string) (sessions.Session, bool) {
	s, ok := f.sessions[id]
	return s, ok && !s.Stale(f.clock.Now(), f.alive)
}

// Grants implements [approval.GrantStore].
func (f *Fake) Grants(ctx context.Context, session string) (*policy.GrantSet, error) {
	f.mu.Lock()
	_, alive := f.session(session)
	f.mu.Unlock()
	if !alive {
		return nil, nil
	}
	return f.Memory.Grants(ctx, session)
}

// AddGrants implements [approval.GrantStore].
func (f *Fake) AddGrants(ctx context.Context, grants ...policy.Grant) error {
	f.mu.Lock()
	for _, g := range grants {
		if _, alive := f.session(g.Session); !alive {
			f.mu.Unlock()
			return fmt.Errorf("session %q: %w", g.Session, sessions.ErrNoSession)
		}
	}
	f.mu.Unlock()
	return f.Memory.AddGrants(ctx, grants...)
}

// RevokeGrant ends one grant.
func (f *Fake) RevokeGrant(_ context.Context, session, id string) error {
	return f.Memory.RevokeGrant(session, id)
}

// BeginSession implements [sessions.Store].
func (f *Fake) BeginSession(ctx context.Context, s sessions.Session) error {
	f.mu.Lock()
	old, alive := f.session(s.ID)
	f.mu.Unlock()
	if !alive {
		_ = f.EndSession(ctx, s.ID) // if it went stale
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Begun, s.Seen = f.clock.Now(), f.clock.Now()
	if alive {
		s.Begun, s.Kind = old.Begun, old.Kind
	}
	f.sessions[s.ID] = s
	return nil
}

// EndSession implements [sessions.Store].
func (f *Fake) EndSession(_ context.Context, id string) error {
	f.mu.Lock()
	if _, known := f.sessions[id]; !known {
		f.mu.Unlock()
		return fmt.Errorf("session %q: %w", id, sessions.ErrNoSession)
	}
	delete(f.sessions, id)
	for _, r := range f.requests {
		if r.request.Call.Session == id && r.settled == nil {
			r.settled = &approval.Settlement{State: policy.StateDismissed, At: f.clock.Now()}
		}
	}
	f.mu.Unlock()
	f.ClearGrants(id)
	f.tell()
	return nil
}

// Sessions implements [sessions.Store].
func (f *Fake) Sessions(context.Context) ([]sessions.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []sessions.Session
	for id := range f.sessions {
		if s, alive := f.session(id); alive {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b sessions.Session) int { return a.Begun.Compare(b.Begun) })
	return out, nil
}

// CleanSessions implements [sessions.Store].
func (f *Fake) CleanSessions(ctx context.Context) (ended []sessions.Session, err error) {
	f.mu.Lock()
	for id, s := range f.sessions {
		if _, alive := f.session(id); !alive {
			ended = append(ended, s)
		}
	}
	var orphans []*approval.Request
	for _, r := range f.requests {
		if r.settled == nil && !f.awaited(r.request) {
			orphans = append(orphans, r.request)
		}
	}
	f.mu.Unlock()
	for _, r := range orphans {
		if err := f.Settle(ctx, r, approval.Settlement{State: policy.StateDismissed}); err != nil {
			return nil, err
		}
	}
	for _, s := range ended {
		if err := f.EndSession(ctx, s.ID); err != nil {
			return nil, err
		}
	}
	return ended, nil
}

// Claim implements [approval.ClaimStore].
func (f *Fake) Claim(_ context.Context, c approval.Claim) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	want := approval.Stage("")
	if c.Resume {
		want = approval.StageSuspended
	}
	if f.claims[claimKey(c)] != want {
		return fmt.Errorf("call %q: %w", c.Call, approval.ErrClaimed)
	}
	f.claims[claimKey(c)] = approval.StageExecuting
	return nil
}

func claimKey(c approval.Claim) approval.Claim {
	return approval.Claim{Batch: c.Batch, Call: c.Call, Fingerprint: c.Fingerprint}
}

// Release implements [approval.ClaimStore].
func (f *Fake) Release(_ context.Context, c approval.Claim, stage approval.Stage) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.claims[claimKey(c)] = stage
	if stage == approval.StageWaiting {
		delete(f.claims, claimKey(c))
	}
	return nil
}

// SaveRun implements [sessions.RunStore].
func (f *Fake) SaveRun(_ context.Context, run sessions.SavedRun) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.runs[run.ID].Version != run.Version {
		return 0, fmt.Errorf("run %q: %w", run.ID, sessions.ErrRunChanged)
	}
	run.Version, run.Saved, run.Data = run.Version+1, f.clock.Now(), slices.Clone(run.Data)
	f.runs[run.ID] = run
	return run.Version, nil
}

// LoadRun implements [sessions.RunStore].
func (f *Fake) LoadRun(_ context.Context, id string) (sessions.SavedRun, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	run, ok := f.runs[id]
	if !ok {
		return run, fmt.Errorf("run %q: %w", id, sessions.ErrRunNotFound)
	}
	run.Data = slices.Clone(run.Data)
	return run, nil
}

// Runs implements [sessions.RunStore].
func (f *Fake) Runs(context.Context) ([]sessions.SavedRun, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []sessions.SavedRun
	for _, run := range f.runs {
		run.Data = nil
		out = append(out, run)
	}
	slices.SortFunc(out, func(a, b sessions.SavedRun) int { return a.Saved.Compare(b.Saved) })
	return out, nil
}

// DeleteRun implements [sessions.RunStore].
func (f *Fake) DeleteRun(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.runs[id]; !ok {
		return fmt.Errorf("run %q: %w", id, sessions.ErrRunNotFound)
	}
	delete(f.runs, id)
	return nil
}
