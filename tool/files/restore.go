package files

import (
	"context"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/roots"
)

// ErrNotOurs says that a file is no longer what the call left, so that undoing
// the call would lose what came later.
var ErrNotOurs = errors.New("it has changed since; undoing would lose that")

// ErrAsBefore says that there is nothing to undo: the call did not get to change
// anything, changed nothing, or has been undone.
var ErrAsBefore = errors.New("everything is as it was before the call already")

// A Restoration is a call about to be undone. Show its views, then apply it.
type Restoration struct {
	Entry Entry
	// Summary and Views say for each file what it would become again: in a line,
	// and in full.
	Summary []string
	Views   []present.View

	steps []restoreStep
}

type restoreStep struct {
	place    roots.Place
	now, was state
}

// Restore prepares to undo a call. It changes nothing. The error wraps
// [ErrNoEntry] if nothing is kept, [ErrNotOurs] if a file has changed since, and
// [ErrAsBefore] if there is nothing to do.
//
// It is for the person's own command: it asks nobody, and stays in the roots. The
// options are those of the tools; their Undo is where it looks.
func Restore(ctx context.Context, set *roots.Set, opts Options, id string) (*Restoration, error) {
	if opts.Undo == nil {
		return nil, fmt.Errorf("undo %q: %w", id, ErrNoEntry)
	}
	e, err := opts.Undo.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	t := newToolset(set, opts)
	r := &Restoration{Entry: e}
	for _, c := range e.Changes {
		p, err := set.Resolve(c.Path)
		if err != nil {
			return nil, err
		}
		if err := mayRestore(p, c); err != nil {
			return nil, err
		}
		now, err := t.look(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name(), err)
		}
		switch st := (restoreStep{place: p, now: now, was: c.before()}); {
		case now.same(st.was): // the call, or an undo, ended half way
		case now.digest() != c.Left:
			return nil, fmt.Errorf("%s: %w", p.Name(), ErrNotOurs)
		default:
			r.add(st)
		}
	}
	if len(r.steps) == 0 {
		return nil, fmt.Errorf("undo %s: %w", id, ErrAsBefore)
	}
	return r, nil
}

// mayRestore refuses what no tool could do: to follow a link that was put in the
// place of the file, to another root, or into what is read-only or protected.
func mayRestore(p roots.Place, c Change) error {
	access := roots.AccessWrite
	if !c.Existed {
		access = roots.AccessDelete
	}
	if p.Resolved() != c.Path {
		return fmt.Errorf("%s: %w: it leads to %s now", c.Path, ErrNotOurs, p.Resolved())
	}
	if act := p.Act(access); act.Verdict == policy.VerdictBlock {
		return fmt.Errorf("%s cannot be put back: %s", c.Path, act.Why)
	}
	return nil
}

func (r *Restoration) add(st restoreStep) {
	how := shown{"Remove " + label(st.place), showFile(st.place, st.now)}
	if st.was.exists {
		how = showChange(st.place, st.now, st.was)
	}
	r.steps = append(r.steps, st)
	r.Summary = append(r.Summary, how.summary)
	r.Views = append(r.Views, how.view)
}

// Apply puts everything back as it was. Each file must still be what was shown;
// if one is not, the error wraps [approval.ErrChanged], and those before it in
// Views have been put back.
func (r *Restoration) Apply(ctx context.Context) error {
	for _, st := range r.steps {
		if err := st.apply(ctx, &localOps{}); err != nil {
			return told(st.place.Name(), err)
		}
	}
	return nil
}

func (st restoreStep) apply(ctx context.Context, by fileOps) error {
	if st.was.exists {
		return by.put(ctx, st.place, st.now, st.was)
	}
	return by.drop(ctx, st.place, st.now)
}
