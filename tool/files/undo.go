package files

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/roots"
)

// An Undo store keeps what changes replaced. It is safe for concurrent use.
type Undo interface {
	// Keep stores an entry and returns its new id. The error wraps ErrTooLarge if
	// the store never takes so much.
	Keep(ctx context.Context, e Entry) (id string, err error)
	// Get returns an entry whole; the error wraps ErrNoEntry if there is none.
	Get(ctx context.Context, id string) (Entry, error)
	// List returns the entries, the newest first, without what they keep.
	List(ctx context.Context) ([]Entry, error)
	// Drop forgets an entry. That there is none is no error.
	Drop(ctx context.Context, id string) error
}

// Why there is nothing to undo; match with [errors.Is].
var (
	ErrNoEntry  = errors.New("there is nothing to undo with this ID")
	ErrTooLarge = errors.New("too large to be kept for undo")
)

// An Entry is what one call replaced.
type Entry struct {
	ID      string    `json:"id"`
	Tool    string    `json:"tool"`
	Time    time.Time `json:"time"`
	Policy  string    `json:"policy,omitempty"` // the policy file that was in force
	Changes []Change  `json:"changes"`          // two for a move

	// Agent, Session and Project are those of a call that another agent ran by itself; what it
	// was about to change was kept ahead: see [Foresee].
	Agent   string `json:"agent,omitempty"`
	Session string `json:"session,omitempty"`
	Project string `json:"project,omitempty"`
	// Pending says that nobody has told yet that the agent ran the call; Settled is when somebody
	// did.
	Pending bool      `json:"pending,omitempty"`
	Settled time.Time `json:"settled,omitzero"`
}

// A Change is how a call changed one file.
type Change struct {
	// Path is the file's virtual name, with links resolved.
	Path string `json:"path"`
	// Existed says that there was a file, Before its bytes and Mode its mode.
	Existed bool   `json:"existed"`
	Before  []byte `json:"-"`
	Mode    uint32 `json:"mode,omitempty"`
	// UID and GID are its owner, given back if we may.
	UID int `json:"uid,omitempty"`
	GID int `json:"gid,omitempty"`
	// Left is the digest of what the call left there, or of there being nothing.
	Left policy.Digest `json:"left"`
	// Host and Was are for a call of another agent: where the file lies, and the digest of what
	// was there.
	Host string        `json:"host,omitempty"`
	Was  policy.Digest `json:"was,omitzero"`
}

func changeOf(p roots.Place, was, next state) Change {
	return Change{
		Path: p.Resolved(), Existed: was.exists, Before: was.data,
		Mode: was.meta.mode, UID: was.meta.uid, GID: was.meta.gid, Left: next.digest(),
	}
}

// before is the state that the change replaced.
func (c Change) before() state {
	s := state{exists: c.Existed, data: c.Before}
	if c.Existed {
		s.meta = meta{known: true, mode: c.Mode, uid: c.UID, gid: c.GID}
	}
	return s
}

// keeping makes a change after what it replaces has been stored, and returns
// what to tell the model about undoing it. What did not happen is not kept.
func (t *toolset) keeping(ctx context.Context, name string, changes []Change, change func() error) (note string, err error) {
	if t.opts.Undo == nil {
		return "", change()
	}
	id, err := t.opts.Undo.Keep(ctx, Entry{Tool: name, Changes: changes})
	switch {
	case errors.Is(err, ErrTooLarge):
		return " It is too large to be undone.", change()
	case err != nil:
		return "", fmt.Errorf("nothing was changed, because what it replaces cannot be kept for undo: %w", roots.Plain(err))
	}
	if err = change(); !happened(err) {
		return "", errors.Join(err, roots.Plain(t.opts.Undo.Drop(context.WithoutCancel(ctx), id)))
	}
	return fmt.Sprintf(" Undo id: %s.", id), err
}

// ErrNotOurs says that a file is no longer what the call left, so that undoing
// the call would lose what came later.
var ErrNotOurs = errors.New("it has changed since; undoing would lose that")

// ErrAsBefore says that there is nothing to undo: the call did not get to change
// anything, changed nothing, or has been undone.
var ErrAsBefore = errors.New("everything is already as it was before the call")

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
// place of the file, to another root, or into what is read-only or protected. What
// undoing a creation deletes was written, and what undoing a deletion writes was
// deleted: a root that denies one of the two does not forbid it.
func mayRestore(p roots.Place, c Change) error {
	if p.Resolved() != c.Path {
		return fmt.Errorf("%s: %w: it leads to %s now", c.Path, ErrNotOurs, p.Resolved())
	}
	write, remove := p.Act(roots.AccessWrite), p.Act(roots.AccessDelete)
	if write.Verdict == policy.VerdictBlock && remove.Verdict == policy.VerdictBlock {
		return fmt.Errorf("%s cannot be restored: %s", c.Path, write.Why)
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
			return failed(st.place.Name(), err)
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
