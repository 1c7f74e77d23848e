// Package toolbox puts together the tools that a policy gives an agent: it is
// where config, files, commands and the machine meet. The programs (assent itself
// and its hook) wire what it returns to a gate.
package toolbox

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
)

// Options say what the tools work with.
type Options struct {
	// State is assent's state folder; no tool writes there.
	State string
	// Protected are further files and folders that no tool writes.
	Protected []string
	// Environ is our own environment, of which commands see a part.
	Environ []string
	// Undo keeps what changes replace. May be nil.
	Undo files.Undo
	// Denied reports whether an act is denied by a rule or for this session.
	Denied func(context.Context, approval.Act) bool
	// Looking makes tools that only say what would happen.
	Looking bool
}

// A Box is the tools of a policy. Close it when the last call has ended.
type Box struct {
	Policy *config.Policy
	Roots  *roots.Set
	Tools  []tool.Tool
	// Warnings are what is accepted and should be written otherwise.
	Warnings []string
}

// Open makes the tools. The policy was read from a file that is among those
// protected.
func Open(policy *config.Policy, opts Options) (*Box, error) {
	protected := append([]string{opts.State}, opts.Protected...)
	set, err := roots.New(roots.Options{Secrets: policy.Secrets, Protected: protected}, policy.Roots...)
	if err != nil {
		return nil, err
	}
	b := &Box{Policy: policy, Roots: set}
	if err := b.fill(opts); err != nil {
		return nil, errors.Join(err, set.Close())
	}
	return b, nil
}

// Close gives the roots back.
func (b *Box) Close() error { return b.Roots.Close() }

func (b *Box) fill(opts Options) error {
	all := files.Tools(b.Roots, files.Options{Undo: opts.Undo, Denied: deniedFile(opts.Denied)})
	if b.Policy.HasShell {
		sh, err := b.shell(opts)
		if err != nil {
			return err
		}
		all = append(all, sh)
	}
	configured, warnings, err := tool.Configure(b.Policy.Tools, all...)
	if err != nil {
		return err
	}
	b.Tools = configured
	for _, w := range b.Policy.Warnings {
		warnings = append(warnings, w.String())
	}
	b.Warnings = warnings
	return nil
}

func deniedFile(denied func(context.Context, approval.Act) bool) func(approval.Act) bool {
	if denied == nil {
		return nil
	}
	return func(a approval.Act) bool { return denied(context.Background(), a) }
}

// shell makes the tool for commands.
func (b *Box) shell(opts Options) (tool.Tool, error) {
	m := newMachine(opts.Environ, b.Policy.Shell.Env, filepath.Join(opts.State, "shell"))
	run := m.run
	if opts.Looking {
		run = nil
	}
	return shell.New(b.Policy.Shell, b.Roots, shell.Options{World: m.world, Run: run, Denied: opts.Denied})
}
