package approval

import (
	"context"
	"errors"
	"time"
)

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
