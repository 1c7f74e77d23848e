package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	pinned "github.com/assent-dev/assent/tool/command"
)

// parkedVersion is the version of the JSON form of a run that was put aside.
const parkedVersion = 1

// A parked run is one that waits for answers: how it was started, and how far it is.
type parked struct {
	Version   int           `json:"version"`
	Worker    string        `json:"worker"` // the path of its file
	Folder    string        `json:"folder"` // where it was started
	Config    string        `json:"config,omitempty"`
	Set       []string      `json:"set,omitempty"`
	Model     string        `json:"model,omitempty"`
	OnDeny    string        `json:"on_deny"`
	MaxSteps  int           `json:"max_steps,omitempty"`
	MaxTokens int64         `json:"max_tokens,omitempty"`
	MaxTime   time.Duration `json:"max_time,omitempty"`
	// Created are the workers that a person agreed to in the run.
	Created map[string]policy.Digest `json:"created,omitempty"`
	// Programs are what the run starts, as they were when it began.
	Programs *pinned.Programs `json:"programs,omitempty"`
	Run      json.RawMessage  `json:"run"`
}

// flags are those that the run was started with.
func (p parked) flags(k keeper) *runFlags {
	return &runFlags{
		workFlags: workFlags{askFlags: askFlags{onDeny: p.OnDeny}, keeper: k, config: p.Config, ask: "terminal", set: p.Set},
		model:     p.Model, maxSteps: p.MaxSteps, maxTokens: p.MaxTokens, maxTime: p.MaxTime, park: true,
	}
}

// An aside keeps a run in the store.
type aside struct {
	*job
	id      string
	version int64 // of what is kept
	parked  parked
}

var _ worker.RunStore = (*aside)(nil)

func newAside(j *job, p parked) *aside {
	p.Version = parkedVersion
	return &aside{job: j, id: strings.ToLower(rand.Text()[:10]), parked: p}
}

// Save implements [worker.RunStore].
func (a *aside) Save(ctx context.Context, data []byte) error {
	a.parked.Run, a.parked.Created, a.parked.Programs = data, a.crew.Created(), a.desk.Programs
	all, err := json.Marshal(a.parked)
	if err != nil {
		return err
	}
	version, err := a.desk.Store.SaveRun(ctx, approval.SavedRun{ID: a.id, Session: a.desk.Session, Version: a.version, Data: all})
	if err == nil {
		a.version = version // otherwise what was kept before still is
	}
	return err
}

// Collect implements [worker.RunStore].
func (a *aside) Collect(ctx context.Context, b *approval.Batch) error {
	err := approval.Collect(ctx, a.desk.Store, b)
	a.desk.ties.Settle(ctx, b)
	var withdrawn *approval.WithdrawnError
	if errors.As(err, &withdrawn) {
		return nil // nobody's answer; it is asked again
	}
	return err
}

// Post implements [worker.RunStore]. What waits no more is withdrawn.
func (a *aside) Post(ctx context.Context, b *approval.Batch) error {
	pending := b.Pending()
	open, err := a.desk.Store.Open(ctx, a.desk.Session)
	if err != nil {
		return err
	}
	for _, p := range open {
		if !slices.ContainsFunc(pending, func(r *approval.Request) bool { return r.ID == p.Request.ID }) {
			if err := a.desk.Store.Settle(ctx, p.Request, approval.Settlement{State: policy.StateDismissed}); err != nil {
				return err
			}
		}
	}
	return a.desk.Store.Post(ctx, pending...)
}

// ended forgets a run that waits for nothing any more.
func (a *aside) ended(ctx context.Context) error {
	if a.version == 0 {
		return nil
	}
	return a.desk.Store.DeleteRun(context.WithoutCancel(ctx), a.id)
}

// loadParked reads a run that was put aside.
func loadParked(run approval.SavedRun) (parked, error) {
	var p parked
	if err := json.Unmarshal(run.Data, &p); err != nil {
		return p, fmt.Errorf("run %s: %w", run.ID, err)
	}
	if p.Version != parkedVersion {
		return p, fmt.Errorf("run %s has version %d; this program knows version %d", run.ID, p.Version, parkedVersion)
	}
	return p, nil
}
