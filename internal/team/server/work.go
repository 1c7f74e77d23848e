package server

import (
	"context"
	"errors"
	"time"

	"github.com/assent-dev/assent/internal/team/db"
)

// How often what goes on by itself is done. Every replica does all of it: conditional updates decide who was
// first, and what one has done the next finds done.
const (
	sweepEach  = time.Second
	pruneEach  = time.Hour
	leaseEach  = 30 * time.Second
	leaseLasts = 2 * time.Minute
)

// begin starts the work in the background, which ends with the context.
func (s *Server) begin(ctx context.Context) error {
	if err := s.refreshBundle(ctx); err != nil {
		return err
	}
	outbox := make(chan struct{}, 1)
	s.done.Go(func() { s.db.Watch(ctx, func(c db.Changes) { s.changed(ctx, c, outbox) }) })
	s.every(ctx, "sweep", sweepEach, func(ctx context.Context) error { return s.db.Sweep(ctx, s.court(time.Now())) })
	s.every(ctx, "checkpoint", s.cfg.CheckpointEach, s.checkpoint)
	s.every(ctx, "retention", pruneEach, s.Prune)
	s.every(ctx, "leases", leaseEach, s.lease)
	s.done.Go(func() { s.sendNotices(ctx, outbox) })
	return nil
}

// every does something again and again. An error is logged once for each row of failures.
func (s *Server) every(ctx context.Context, what string, each time.Duration, do func(context.Context) error) {
	s.done.Go(func() {
		tick := time.NewTicker(each)
		defer tick.Stop()
		failing := false
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			within, cancel := context.WithTimeout(ctx, each+20*time.Second)
			err := do(within)
			cancel()
			if err != nil && !failing && ctx.Err() == nil {
				s.log.Error("background work failed", "what", what, "error", err.Error())
			}
			failing = err != nil
		}
	})
}

// changed wakes those who wait for what has changed.
func (s *Server) changed(ctx context.Context, c db.Changes, outbox chan struct{}) {
	if c.Bundle {
		if err := s.refreshBundle(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("bundle", "error", err.Error())
		}
	}
	if c.AnyGate {
		s.waiting.wakeAll()
	}
	for _, gate := range c.Gates {
		s.waiting.wake(gate)
	}
	if c.Outbox {
		nudge(outbox)
	}
}

// checkpoint signs the heads of all chains, unless another replica has done so or nothing has grown.
func (s *Server) checkpoint(ctx context.Context) error {
	_, err := s.db.MakeCheckpoint(ctx, s.logKey)
	if errors.Is(err, db.ErrNotFound) { // there are no records yet
		return nil
	}
	if err == nil {
		s.metrics.checkpoints.Add(1)
	}
	return err
}

// Prune removes what is older than the newest policy keeps, as the server does each hour. Without a policy, or with one
// that has expired, all is kept: what is gone cannot be brought back.
func (s *Server) Prune(ctx context.Context) error {
	var keep time.Duration
	if p := s.bundle.newest.Load(); p != nil && time.Now().Before(p.Expires) {
		keep = p.Keep()
	}
	return s.db.Prune(ctx, keep)
}

// lease says which machines are there.
func (s *Server) lease(ctx context.Context) error {
	there := s.waiting.serials()
	if len(there) == 0 {
		return nil
	}
	return s.db.Lease(ctx, there, leaseLasts)
}
