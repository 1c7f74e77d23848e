package approval

import (
	"context"
	"errors"
	"time"
)

// A SessionKind says what a session is, and so when it has gone stale.
type SessionKind string

// The kinds. A run or chat is stale when its process is gone, unless it is kept;
// the session of a foreign agent when nothing was heard of it for [SessionIdle],
// or when its process is gone, if it is known to have only one, as with a gateway.
const (
	SessionRun     SessionKind = "run"
	SessionChat    SessionKind = "chat"
	SessionHook    SessionKind = "hook"
	SessionGateway SessionKind = "gateway"
)

// SessionIdle is how long the session of a foreign agent lives in silence.
const SessionIdle = 8 * time.Hour

// A Process identifies a process: its number alone is used again.
type Process struct {
	Host    string `json:"host,omitempty"`
	ID      int    `json:"pid,omitempty"`
	Started string `json:"started,omitempty"`
}

// A Session is as long as grants last.
type Session struct {
	ID    string      `json:"id"`
	Kind  SessionKind `json:"kind"`
	Owner Process     `json:"owner,omitzero"` // of a run, chat or gateway
	// Folder is the project that another agent works in; only for its hooks.
	Folder string `json:"folder,omitempty"`
	// Kept says that the session outlives its process: the run was put aside.
	Kept  bool      `json:"kept,omitempty"`
	Begun time.Time `json:"begun"`
	Seen  time.Time `json:"seen"` // when something was heard of it last
}

// ErrNoSession says that a session has ended or was never begun.
var ErrNoSession = errors.New("no such session")

// A SessionStore knows which sessions are alive. Grants are kept for those only.
type SessionStore interface {
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
	case SessionHook, SessionGateway:
		return now.Sub(s.Seen) > SessionIdle || s.Owner != (Process{}) && !alive(s.Owner)
	}
	return !s.Kept && !alive(s.Owner)
}
