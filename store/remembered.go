package store

import (
	"context"

	"github.com/assent-dev/assent/approval"
)

// Remembered implements [approval.MemoryStore]: whether anything has changed is looked up
// once for all of it.
func (s *Store) Remembered(ctx context.Context, session string) (r approval.Remembered, err error) {
	h, err := s.now(ctx)
	if err != nil {
		return r, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	off, err := s.preferenceAt(ctx, approvalsOff, h)
	if err != nil {
		return r, err
	}
	if r.Rules, err = s.rulesAt(ctx, h); err != nil {
		return r, err
	}
	r.Off = off == yes
	r.Grants, err = s.grantsAt(ctx, session, h)
	return r, err
}
