package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// An Undo keeps what commands change, so that a person can put it back. It is safe for
// concurrent use.
type Undo interface {
	// Before keeps what the command may change. It returns what to call when the command has
	// ended, however it did. An error means that it cannot be kept; the command does not run
	// then.
	Before(ctx context.Context, c Change) (after func(context.Context) (Kept, error), err error)
	// Covers says why what the command changes could not be put back; empty if it can, apart
	// from what Through lists.
	Covers(ctx context.Context, c Change) (why string)
	// Through lists what the command may change that is not kept: files and folders that git
	// ignores, and what is too large.
	Through(ctx context.Context, c Change) ([]string, error)
}

// A Change is what a command may change in the writable roots.
type Change struct {
	Text string
	// Whole says that it may be anything; Paths are the files and folders otherwise, as
	// absolute paths. A folder stands for all below it.
	Whole bool
	Paths []string
}

// Changes reports whether there is anything that it may change.
func (c Change) Changes() bool { return c.Whole || len(c.Paths) > 0 }

// A Kept is what was kept of what a command changed.
type Kept struct {
	// ID is what undo calls it; empty if the command changed nothing.
	ID string
	// Files is how many files it changed.
	Files int
	// Note says what cannot be undone; may be empty.
	Note string
}

// String tells the model, in a line.
func (k Kept) String() string {
	var lines []string
	if k.ID != "" {
		lines = append(lines, fmt.Sprintf("Undo id: %s.", k.ID))
	}
	if k.Note != "" {
		lines = append(lines, k.Note)
	}
	return strings.Join(lines, " ")
}

// changeOf says what a script may change. If not every effect of it is known, that is anything.
func changeOf(s *analysis.Script) Change {
	c := Change{Text: s.Text.String(), Whole: !complete(s) || gitWrites(s)}
	for i := range s.Parts {
		p := &s.Parts[i]
		if p.Kind != analysis.Touches || p.Access == programs.Read || p.Elsewhere {
			continue
		}
		switch glob := p.Many && p.Operand.Glob; {
		case p.Path == "", p.More, glob && len(p.Matches) == 0:
			c.Whole = true
		case glob:
			c.Paths = append(c.Paths, p.Matches...)
		case strings.HasPrefix(p.Path, "/dev/"):
		default:
			c.Paths = append(c.Paths, p.Path)
		}
	}
	if c.Whole {
		c.Paths = nil
	}
	slices.Sort(c.Paths)
	c.Paths = slices.Compact(c.Paths)
	return c
}

// uncovered says why undo does not cover a script that a sandbox holds; empty if it does, if the
// policy does not want it to, or if there is nothing to undo: what such a script writes outside
// of the roots is its own.
func (t *Tool) uncovered(ctx context.Context, s *analysis.Script) string {
	c := changeOf(s)
	c.Paths = slices.DeleteFunc(c.Paths, func(name string) bool {
		_, inside, err := t.roots.ResolveHost(name)
		return err == nil && !inside
	})
	switch {
	case !c.Changes() || t.cfg.UndoOff != "":
		return ""
	case t.opts.Undo == nil:
		return "undo is not available here"
	}
	return t.opts.Undo.Covers(ctx, c)
}

// keeping runs a command between the two looks of undo.
func (t *Tool) keeping(ctx context.Context, s *analysis.Script, run func() (Result, error)) (Result, error) {
	c := changeOf(s)
	if t.opts.Undo == nil || t.cfg.UndoOff != "" || !c.Changes() {
		return run()
	}
	after, err := t.opts.Undo.Before(ctx, c)
	if err != nil {
		return Result{}, fmt.Errorf("the command was not run: the files that it may change cannot be saved for undo; "+
			"make room or set undo: off in the policy: %w", roots.Plain(err))
	}
	r, err := run()
	ctx = context.WithoutCancel(ctx)
	kept, problem := after(ctx)
	if r.Gone != nil {
		problem = errors.Join(problem, t.keepingOn(ctx, c, &r))
	}
	if problem != nil {
		problem = roots.Plain(problem)
		r.Note = joined(r.Note, problem.Error())
	}
	if err != nil && kept.ID != "" {
		err = fmt.Errorf("%w (undo id of what it changed: %s)", err, kept.ID)
	}
	if _, streamed := StreamsOf(ctx); streamed {
		kept.ID = "" // who reads the output there looks for no ids in it
	}
	if text := kept.String(); text != "" {
		r.Note = joined(r.Note, text)
	}
	return r, err
}

// keepingOn keeps what programs change that a command left in the background, until they end.
// If that cannot be done they end now.
func (t *Tool) keepingOn(ctx context.Context, c Change, r *Result) error {
	c.Text, c.Whole, c.Paths = "left in the background by: "+c.Text, true, nil
	after, err := t.opts.Undo.Before(ctx, c)
	if err != nil {
		r.End()
		return fmt.Errorf("its background processes were ended: the files that they may change cannot be saved for undo: %w", err)
	}
	gone := r.Gone
	t.background.Go(func() {
		<-gone
		_, _ = after(ctx) // nobody is there to be told; undo lists what was kept
	})
	return nil
}

// Wait returns when it is kept for undo what programs in the background changed. They have ended.
func (t *Tool) Wait() { t.background.Wait() }

// outlives reports whether programs in the background may go on after a command that runs only
// because it is held: undo has to cover what they do then.
func (t *Tool) outlives(ctx context.Context) bool {
	switch {
	case t.cfg.UndoOff != "":
		return true
	case t.opts.Undo == nil:
		return false
	}
	return t.opts.Undo.Covers(ctx, Change{Whole: true}) == ""
}

func joined(note, more string) string { return strings.TrimPrefix(note+"\n"+more, "\n") }

// maxThrough is how many files and folders are listed.
const maxThrough = 6

// Undoing says in a line what undo does about a call; empty if the call changes no file.
func (t *Tool) Undoing(ctx context.Context, args json.RawMessage) string {
	var in arguments
	if json.Unmarshal(args, &in) != nil {
		return ""
	}
	dir, err := t.folder(in.Cwd)
	if err != nil {
		return ""
	}
	script, err := t.opts.Read(in.Command, dir.Key(), t.opts.World(dir.Key()))
	if err != nil {
		return ""
	}
	c := changeOf(script)
	switch {
	case !c.Changes():
		return ""
	case t.cfg.UndoOff != "":
		return "off, by " + t.cfg.UndoOff
	case t.opts.Undo == nil:
		return "nothing is kept here"
	}
	if why := t.opts.Undo.Covers(ctx, c); why != "" {
		return "not covered: " + why
	}
	through, err := t.opts.Undo.Through(ctx, c)
	what := "the files that it writes or deletes are saved before it runs"
	if c.Whole {
		what = "files in writable roots are saved before it runs; git's own files (commits, branches) are not"
	}
	switch {
	case err != nil:
		return what + "; the files that are not saved could not be listed: " + roots.Plain(err).Error()
	case len(through) == 0:
		return what
	}
	shown := through[:min(len(through), maxThrough)]
	for i, name := range shown {
		shown[i] = t.virtual(name)
	}
	text := what + "; ignored by git or too large, so not undone: " + strings.Join(shown, ", ")
	if more := len(through) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// virtual is a host path by the name of its root.
func (t *Tool) virtual(name string) string {
	bare, slash := strings.CutSuffix(name, "/")
	if p, inside, err := t.roots.ResolveHost(bare); err == nil && inside {
		bare = p.Name()
	}
	if slash {
		return bare + "/"
	}
	return bare
}
