package refusal

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/assent-dev/assent/sandbox"
)

// A Kind is what was refused.
type Kind string

// The kinds.
const (
	Read    Kind = "read"
	Write   Kind = "write"
	Move    Kind = "move" // or remove: a mount cannot be
	Network Kind = "network"
	Git     Kind = "git"
)

// A Grade is how sure it is that the sandbox did it.
type Grade string

// The grades.
const (
	Certain Grade = "certain"
	Likely  Grade = "likely"
)

func (g Grade) rank() int { return map[Grade]int{Likely: 1, Certain: 2}[g] }

// A Refusal is something that a sandbox kept from a command.
type Refusal struct {
	Kind  Kind
	Path  string // for Read, Write and Move
	Grade Grade
	// Fixed says that nothing lets a command at the path: it is protected, or hidden.
	Fixed bool
	// Source is the line of config behind it, if there is one.
	Source string
}

// String is one line for the model.
func (r Refusal) String() string {
	return fmt.Sprintf("sandbox (%s): %s", r.Grade, r.what())
}

func (r Refusal) what() string {
	switch r.Kind {
	case Git:
		return "the repository cannot be changed by commands: .git is read-only (git_write is off)"
	case Network:
		return "the network is off for commands"
	case Move:
		return "removing or renaming " + r.Place() +
			" was refused: it is protected, hidden or a root, or holds something that is"
	case Write:
		if r.Fixed {
			return "writing " + r.Place() + " was refused: it is protected" + r.because()
		}
		return "writing " + r.Place() + " was refused: it is in no folder that commands may write"
	}
	if r.Fixed {
		return r.Place() + " is hidden from commands" + r.because()
	}
	return r.Place() + " exists on this machine, but is not shared with commands"
}

func (r Refusal) because() string {
	if r.Source == "" {
		return ""
	}
	return " (" + r.Source + ")"
}

// Place is the path as it is told: in quotes if it has characters that do not print.
func (r Refusal) Place() string {
	if quoted := strconv.Quote(r.Path); quoted != `"`+r.Path+`"` {
		return quoted
	}
	return r.Path
}

// ForPerson is the line with what would allow it, in the person's own config.
func (r Refusal) ForPerson() string {
	line := r.Allows()
	if line == "" {
		return r.String()
	}
	return r.String() + "; to allow it: " + line
}

// Allows is the config that would allow what was refused; empty if none does.
func (r Refusal) Allows() string {
	switch {
	case r.Kind == Git:
		return "sandbox: {git_write: true}"
	case r.Kind == Network:
		return "sandbox: {network: true}"
	case r.Fixed, r.Kind == Move:
		return ""
	}
	return fmt.Sprintf("sandbox: {extra: {%s: [%s]}}", r.Kind, strconv.Quote(r.Path))
}

// Widen returns the profile with just this allowed, and whether that can be.
func (r Refusal) Widen(p sandbox.Profile) (sandbox.Profile, bool) {
	switch {
	case r.Fixed || r.Kind == Git || r.Kind == Move:
		return p, false
	case r.Kind == Network:
		p.Network = sandbox.Network{On: true, Source: byPerson}
		return p, true
	}
	mode := sandbox.ModeReadOnly
	if r.Kind == Write {
		mode = sandbox.ModeReadWrite
	}
	roots := append([]sandbox.Root(nil), p.Roots...)
	for i := range roots {
		if roots[i].Path == r.Path {
			roots[i].Mode = max(roots[i].Mode, mode)
			p.Roots = roots
			return p, p.Check() == nil
		}
	}
	// A smaller step before this one would stay a mount, which cannot be removed.
	roots = slices.DeleteFunc(roots, func(o sandbox.Root) bool {
		return o.Source == byPerson && o.Mode <= mode && sandbox.Below(r.Path, o.Path)
	})
	p.Roots = append(roots, sandbox.Root{Path: r.Path, Mode: mode, Guarded: true, Source: byPerson})
	return p, p.Check() == nil
}

// byPerson is the source of what a step added.
const byPerson = "a person, for this command"
