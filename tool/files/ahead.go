package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

// A Foreseen is a file that another program is about to change by itself, so that nobody here
// is there when it does.
type Foreseen struct {
	Place roots.Place
	// Next is what it will leave there, if that is Known before. Gone says that it removes the
	// file.
	Next        []byte
	Known, Gone bool
}

// maxForeseen is how much one call of another program may replace: who waits for its answer
// waits for the copy too.
const maxForeseen = 16 << 20

// Foresee returns what such changes replace, ready to be kept. The error says why it cannot be
// kept; it wraps [ErrTooLarge] if that is the reason.
func Foresee(ctx context.Context, list []Foreseen) ([]Change, error) {
	var out []Change
	room := int64(maxForeseen)
	for _, f := range list {
		was, err := loadAhead(ctx, f.Place, room)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Place.Name(), err)
		}
		room -= int64(len(was.data))
		c := changeOf(f.Place, was, f.next())
		if c.Host, c.Was = f.Place.Key(), was.digest(); !f.Known && !f.Gone {
			c.Left = policy.Digest{} // matches nothing
		}
		out = append(out, c)
	}
	return out, nil
}

func (f Foreseen) next() state {
	if f.Gone {
		return state{}
	}
	return fileOf(f.Next)
}

// loadAhead reads what lies at a place, if it could be put back there.
func loadAhead(ctx context.Context, p roots.Place, room int64) (state, error) {
	if p.Info == nil && !path.IsAbs(p.Resolved()) { // its root may be a folder that is made with it
		return state{}, nil
	}
	if err := p.Anchored(); err != nil {
		return state{}, err
	}
	switch {
	case p.Info == nil:
		return state{}, nil
	case p.Info.IsDir():
		return state{}, errIsFolder
	case !p.Info.Mode().IsRegular():
		return state{}, errSpecial
	case p.Info.Size() > room:
		return state{}, fmt.Errorf("%d bytes: %w", p.Info.Size(), ErrTooLarge)
	}
	was, err := (&localOps{}).load(ctx, p, room)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	if err == nil {
		err = currentUser().mayReplace(was.meta)
	}
	return was, roots.Plain(err)
}

// Settle notes what the program left, once it says that it ran the call. A call that changed
// nothing is forgotten. Soon says that it ran just after the entry was kept: then a file that is
// not what was foreseen is what the program made of it, and otherwise it may be the work of
// somebody else, which undoing must not lose.
func (u *UndoFolder) Settle(ctx context.Context, id string, soon bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	s, err := u.head(id)
	if errors.Is(err, ErrNoEntry) {
		return nil // it was undone, or pushed out
	}
	if err != nil || !s.Pending {
		return err
	}
	if !s.happened() {
		return u.Drop(ctx, id)
	}
	for i, c := range s.Changes {
		left, err := digestAt(c.Host)
		if err != nil || left == c.Left {
			continue // what cannot be read now is not put back
		}
		if s.Changes[i].Left = (policy.Digest{}); soon && !u.touched(s, c.Host) {
			s.Changes[i].Left = left
		}
	}
	s.Pending, s.Settled = false, u.now().UTC()
	return u.saveHead(s)
}

// touched reports whether another call is known to have changed a file since the entry was kept.
func (u *UndoFolder) touched(s stored, host string) bool {
	heads, err := u.heads()
	same := func(c Change) bool { return c.Host == host }
	return err != nil || slices.ContainsFunc(heads, func(o stored) bool {
		return o.ID != s.ID && o.Settled.After(s.Time) && slices.ContainsFunc(o.Changes, same)
	})
}

// happened reports whether a file of the entry is not what it was. What cannot be read may not be.
func (e *Entry) happened() bool {
	return slices.ContainsFunc(e.Changes, func(c Change) bool {
		now, err := digestAt(c.Host)
		return err != nil || now != c.Was
	})
}

// digestAt is the digest of the state of a file of the host. It follows no link at the end and
// opens nothing but files: only the digest is used, and who puts something back looks again.
func digestAt(host string) (policy.Digest, error) {
	f, err := os.OpenFile(host, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return state{}.digest(), nil
	}
	if err != nil {
		return policy.Digest{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return policy.Digest{}, errSpecial
	}
	h := newStateHash()
	if _, err := io.Copy(h, f); err != nil {
		return policy.Digest{}, err
	}
	return policy.Digest(h.Sum(nil)), nil
}
