// Package sessions has what a store keeps beside the gate's own memory: which sessions live, and
// the runs that wait for somebody. It is pure; package store keeps both.
package sessions

import (
	"context"
	"errors"
	"time"
)

// A Kind says what a session is, and so when it has gone stale.
type Kind string

// The kinds. A run, chat or inbox is stale when its process is gone, unless it is kept;
// the session of a foreign agent when nothing was heard of it for [Idle],
// or when its process is gone, if it is known to have only one, as with a gateway.
const (
	KindRun     Kind = "run"
	KindChat    Kind = "chat"
	KindHook    Kind = "hook"
	KindGateway Kind = "gateway"
	KindInbox   Kind = "inbox" // in which a person answers what other processes ask
)

// Idle is how long the session of a foreign agent lives in silence.
const Idle = 8 * time.Hour

// A Process identifies a process: its number alone is used again.
type Process struct {
	Host    string `json:"host,omitempty"`
	ID      int    `json:"pid,omitempty"`
	Started string `json:"started,omitempty"`
}

// A Session is as long as grants last.
type Session struct {
	ID    string  `json:"id"`
	Kind  Kind    `json:"kind"`
	Owner Process `json:"owner,omitzero"` // of a run, chat or gateway
	// Folder is the project that another agent works in; only for its hooks.
	Folder string `json:"folder,omitempty"`
	// Kept says that the session outlives its process: the run was put aside.
	Kept  bool      `json:"kept,omitempty"`
	Begun time.Time `json:"begun"`
	Seen  time.Time `json:"seen"` // when something was heard of it last
}

// ErrNoSession says that a session has ended or was never begun.
var ErrNoSession = errors.New("no such session")

// A Store knows which sessions are alive. Grants are kept for those only.
type Store interface {
	// BeginSession begins a session, or goes on with it: its owner and whether it
	// is kept become those of s. One that has ended or gone stale begins anew,
	// without grants.
	BeginSession(ctx context.Context, s Session) error
	// EndSession ends a session with its grants, and dismisses what waits in it.
	// One that is not alive is [ErrNoSession].
	EndSession(ctx context.Context, id string) error
	// Sessions returns the sessions that are alive, the oldest first.
	Sessions(ctx context.Context) ([]Session, error)
	// CleanSessions ends the stale sessions and returns them.
	CleanSessions(ctx context.Context) ([]Session, error)
}

// Stale reports whether the session should end: alive says whether its owner is.
func (s Session) Stale(now time.Time, alive func(Process) bool) bool {
	switch s.Kind {
	case KindHook, KindGateway:
		return now.Sub(s.Seen) > Idle || s.Owner != (Process{}) && !alive(s.Owner)
	}
	return !s.Kept && !alive(s.Owner)
}

// A SavedRun is a run that was put aside, as bytes that only its program reads.
type SavedRun struct {
	ID      string
	Session string
	// Version counts the saves. Saving wants the version that was loaded, 0 for
	// a run that is new.
	Version int64
	Saved   time.Time
	Data    []byte
}

// Why a run was not saved or found; match with [errors.Is].
var (
	ErrRunNotFound = errors.New("no such run")
	ErrRunChanged  = errors.New("the run was saved by another process meanwhile")
)

// A RunStore keeps runs that wait for somebody.
type RunStore interface {
	// SaveRun saves the run if its version is the one that is kept, and returns
	// the new version; otherwise the error is [ErrRunChanged].
	SaveRun(ctx context.Context, run SavedRun) (version int64, err error)
	// LoadRun returns a run, or [ErrRunNotFound].
	LoadRun(ctx context.Context, id string) (SavedRun, error)
	// Runs lists the runs without their data, the oldest save first.
	Runs(ctx context.Context) ([]SavedRun, error)
	// DeleteRun forgets a run, or fails with [ErrRunNotFound].
	DeleteRun(ctx context.Context, id string) error
}
