//go:build !linux

package bwrap

import (
	"context"
	"errors"
	"io"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// A Runner starts commands in bubblewrap, which only Linux has.
type Runner struct{}

var errElsewhere = errors.New("bubblewrap is for Linux only")

// New returns a runner that starts nothing.
func New(Program, []string) *Runner { return &Runner{} }

// Name is bwrap.
func (r *Runner) Name() string { return Name }

// Needs says that nothing can be held here.
func (r *Runner) Needs(sandbox.Profile) []string { return []string{errElsewhere.Error()} }

// Close does nothing.
func (r *Runner) Close() error { return nil }

// Start refuses.
func (r *Runner) Start(context.Context, sandbox.Command) (sandbox.Process, error) {
	return nil, errElsewhere
}

// StartThrough refuses.
func (r *Runner) StartThrough(context.Context, sandbox.Command, launch.Entrance) (sandbox.Process, error) {
	return nil, errElsewhere
}

// Sweep refuses.
func Sweep(io.Reader) error { return errElsewhere }

// LookAround knows nothing here.
func LookAround() Facts { return Facts{} }
