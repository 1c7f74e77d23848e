// Package toolbox puts together the tools that a policy gives an agent: it is
// where config, files, commands, programs and the machine meet. The programs
// (assent itself and its hook) wire what it returns to a gate.
//
// The box of a worker that another one called is opened with its caller's as
// [Options.Parent]. Then every word is the stricter of the two: the roots only
// narrow, a tool is there only if both have it, and what the caller blocks or
// asks stays so.
package toolbox

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/network"
	"github.com/assent-dev/assent/internal/snapshot"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/command"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

// Options say what the tools work with.
type Options struct {
	// State is assent's state folder; no tool writes there.
	State string
	// Protected are further files and folders that no tool writes, ProtectedNames those of
	// [roots.Options].
	Protected, ProtectedNames []string
	// Environ is our own environment, of which commands see a part.
	Environ []string
	// Undo keeps what changes replace. May be nil.
	Undo files.Undo
	// Snapshots keeps what commands change. May be nil.
	Snapshots *snapshot.Store
	// Denied reports whether an act is denied by a rule or for this session.
	Denied func(context.Context, policy.Act) bool
	// Folder is where the file lies that the policy was read from, and File how
	// it is called in sources: its custom tools are looked for there.
	Folder, File string
	// Programs are those of the run that the box is for: custom tools run no others. Nil means
	// those that are there when the box is opened.
	Programs *command.Programs
	// Hold finds what holds the tools of a policy. Nil means that nothing does, and
	// that custom tools only say what would happen.
	Hold func(*config.Policy) (Hold, error)
	// Rules are those in force besides the policy's own when the box is opened: files
	// that they deny are hidden from commands.
	Rules []policy.Rule
	// Later says which deny came after that; empty if none did. Nil means that none can.
	Later func() string
	// Further are tools that are not made here, but that config has a word on.
	Further []tool.Tool
	// Parent is the box of the worker that called this one; nil for none.
	Parent *Box
	// Looking makes tools that only say what would happen.
	Looking bool
	// Read reads commands; nil is the usual reading. See shell.Options.
	Read func(text, dir string, world analysis.World) (*analysis.Script, error)
	// Tmp is a folder that is /tmp for all commands of the box; empty gives each its own.
	Tmp string
	// Dialer opens connections that were agreed to; the zero one is the system's.
	Dialer network.Dialer
	// Without leaves out layers of the defence, for those who want to see what the others
	// hold alone: see also Read.
	Without Layers
	// Shell is the command line of the program that interprets commands: one that calls
	// inside.Main. Without it no command runs.
	Shell []string
}

// Layers are parts of what holds commands.
type Layers struct {
	Running bool // the judgement of each act as it happens
	Wall    bool // what the kernel holds a command to from its acts
}

// A Box is the tools of a policy. Close it when the last call has ended.
type Box struct {
	Policy *config.Policy
	Roots  *roots.Set
	Tools  []tool.Tool
	// Warnings are what is accepted and should be written otherwise, and what
	// is left out.
	Warnings []string
	// Hold is what holds the tools.
	Hold Hold

	commands *shell.Tool // nil if there is none
	found    Found
	inside   *sandboxedFiles // nil if the file tools work in this process
	staying  *background
	parent   *Box
	programs map[string]program // of the custom tools, by their names
	partial  bool               // the caller does not reach all roots of the policy
}

// Open makes the tools. The policy was read from a file that is among those
// protected.
func Open(conf *config.Policy, opts Options) (*Box, error) {
	b := &Box{Policy: conf, parent: opts.Parent, programs: map[string]program{}}
	if opts.Programs == nil {
		opts.Programs = &command.Programs{}
	}
	if err := b.openRoots(opts); err != nil {
		return nil, err
	}
	err := b.hold(opts)
	if err == nil {
		err = b.fill(opts)
	}
	if err != nil {
		return nil, errors.Join(err, b.Roots.Close())
	}
	for _, w := range conf.Warnings {
		b.Warnings = append(b.Warnings, w.String())
	}
	return b, nil
}

func (b *Box) openRoots(opts Options) (err error) {
	options := roots.Options{Secrets: b.Policy.Secrets, Protected: append([]string{opts.State}, opts.Protected...),
		Names: opts.ProtectedNames}
	if b.parent == nil {
		b.Roots, err = roots.New(options, b.Policy.Roots...)
		return err
	}
	var within []roots.Root
	for _, r := range b.Policy.Roots {
		alone, err := b.parent.Roots.Narrow(options, r)
		if err != nil {
			b.Warnings = append(b.Warnings, r.Source+": left out, as the caller does not reach it: "+err.Error())
			b.partial = true
			continue
		}
		if err := alone.Close(); err != nil {
			return err
		}
		within = append(within, r)
	}
	b.Roots, err = b.parent.Roots.Narrow(options, within...)
	return err
}

func (b *Box) fill(opts Options) error {
	own, err := b.make(b.Policy, opts)
	if err != nil {
		return err
	}
	var warnings []string
	if b.Tools, warnings, err = tool.Configure(b.Policy.Tools, own...); err != nil {
		return err
	}
	b.Warnings = append(b.Warnings, warnings...)
	for p := b.parent; p != nil; p = p.parent {
		if err := b.narrow(p, opts); err != nil {
			return err
		}
	}
	return nil
}

// make makes the tools that a policy gives, over the roots of the box.
func (b *Box) make(conf *config.Policy, opts Options) ([]tool.Tool, error) {
	if conf.UndoOff {
		opts.Undo = nil
	}
	options := files.Options{Undo: opts.Undo, Denied: deniedFile(opts.Denied)}
	if b.inside != nil {
		options.Inside = b.inside
	}
	all := files.Tools(b.Roots, options)
	if conf.HasShell {
		sh, err := b.shell(conf, opts)
		switch {
		case err != nil && b.partial:
			b.warn("the shell is left out, as the caller does not reach its folder: %v", err)
		case err != nil:
			return nil, err
		default:
			all = append(all, sh)
		}
		if conf == b.Policy {
			b.commands = sh
		}
	}
	request, err := newWeb(conf, opts)
	if err != nil {
		return nil, err
	}
	all = append(append(all, request), b.custom(conf, opts)...)
	if b.Hold.held() {
		all = tool.Under(b.Hold.digest(), all...)
	}
	return append(all, opts.Further...), nil
}

// Undoing says in a line what undo does about a command; empty if there is nothing to say.
func (b *Box) Undoing(ctx context.Context, args json.RawMessage) string {
	if b.commands == nil {
		return ""
	}
	return b.commands.Undoing(ctx, args)
}

func deniedFile(denied func(context.Context, policy.Act) bool) func(policy.Act) bool {
	if denied == nil {
		return nil
	}
	return func(a policy.Act) bool { return denied(context.Background(), a) }
}
