package files

import (
	"context"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/roots"
)

// fileOps do the work at a place that was judged: in this process, or by an
// [Inside] in a sandbox, where the kernel judges once more.
type fileOps interface {
	load(ctx context.Context, p roots.Place, limit int64) (state, error)
	put(ctx context.Context, p roots.Place, was, next state) error
	drop(ctx context.Context, p roots.Place, was state) error
	move(ctx context.Context, from, to roots.Place, was state) (carried bool, err error)
	makeDir(ctx context.Context, p roots.Place) error
	walk(ctx context.Context, p roots.Place, most int, see func(walkEntry) error) (looked int, err error)
}

// localOps works in this process.
type localOps struct{ worker }

var _ fileOps = (*localOps)(nil)

// at returns where the work is done, if the root is still where it was.
func (o *localOps) at(p roots.Place) (spot, error) {
	if err := p.Anchored(); err != nil {
		return spot{}, err
	}
	root, rel := p.Handle()
	return spot{root, rel}, nil
}

func (o *localOps) load(_ context.Context, p roots.Place, limit int64) (state, error) {
	s, err := o.at(p)
	if err != nil {
		return state{}, err
	}
	return o.worker.load(s, limit)
}

func (o *localOps) put(_ context.Context, p roots.Place, was, next state) error {
	s, err := o.at(p)
	if err != nil {
		return notAsShown(err)
	}
	return o.worker.put(s, was, next)
}

func (o *localOps) drop(_ context.Context, p roots.Place, was state) error {
	s, err := o.at(p)
	if err != nil {
		return notAsShown(err)
	}
	return o.worker.drop(s, was)
}

func (o *localOps) move(_ context.Context, from, to roots.Place, was state) (bool, error) {
	s, err := o.at(from)
	if err != nil {
		return false, notAsShown(err)
	}
	dest, err := o.at(to)
	if err != nil {
		return false, notAsShown(err)
	}
	return o.worker.move(s, dest, was)
}

func (o *localOps) makeDir(_ context.Context, p roots.Place) error {
	s, err := o.at(p)
	if err != nil {
		return notAsShown(err)
	}
	return o.worker.makeDir(s)
}

func (o *localOps) walk(_ context.Context, p roots.Place, most int, see func(walkEntry) error) (int, error) {
	root, rel := p.Handle()
	return o.worker.walk(spot{root, rel}, most, see)
}

// A spot is a place as whoever does the work sees it: an open root, and a path below it in
// which no link is followed.
type spot struct {
	root *os.Root
	rel  string
}

// open opens the folder that the spot lies in, and returns its name there.
func (s spot) open(create bool) (*dir, string, error) {
	d, err := openDir(s.root, path.Dir(s.rel), create)
	return d, path.Base(s.rel), err
}

// A worker does the work on files, after everything was judged and agreed to: in this
// process, or in a copy of it inside a sandbox.
type worker struct {
	swept sync.Map // of folders, by fileID
}

// load reads a file, following no link.
func (w *worker) load(s spot, limit int64) (state, error) {
	d, name, err := s.open(false)
	if err != nil {
		return state{}, err
	}
	defer d.close()
	return d.load(name, limit)
}

// put makes next lie at a spot if it is still was there.
func (w *worker) put(s spot, was, next state) error {
	d, name, err := s.open(!was.exists)
	if err != nil {
		return notAsShown(err)
	}
	err = d.put(name, was, next)
	defer d.closeAfter(err)
	return w.tidied(d, err)
}

// drop removes a file if it is still was.
func (w *worker) drop(s spot, was state) error {
	d, name, err := s.open(false)
	if err != nil {
		return notAsShown(err)
	}
	defer d.close()
	return w.tidied(d, d.drop(name, was))
}

// move moves a file if it is still was; carried says that it took two steps.
func (w *worker) move(s, dest spot, was state) (carried bool, err error) {
	from, name, err := s.open(false)
	if err != nil {
		return false, notAsShown(err)
	}
	defer from.close()
	to, newName, err := dest.open(true)
	if err != nil {
		return false, notAsShown(err)
	}
	carried, err = from.moveTo(name, to, newName, was)
	defer to.closeAfter(err)
	return carried, w.tidied(to, w.tidied(from, err))
}

// makeDir makes a folder, and those on the way to it.
func (w *worker) makeDir(s spot) error {
	d, err := openDir(s.root, s.rel, true)
	if err != nil {
		return notAsShown(err)
	}
	d.close()
	return nil
}

// A walkEntry is what is seen below a folder: a file, or a folder that is not looked into.
type walkEntry struct {
	Rel     string `json:"rel"`
	Skipped bool   `json:"skipped,omitempty"`
}

// walk goes through what lies below a folder, at most so much, and returns how much it
// was. It looks into no repository's own folder.
func (w *worker) walk(s spot, most int, see func(walkEntry) error) (looked int, err error) {
	base := s.rel
	err = fs.WalkDir(s.root.FS(), base, func(name string, d fs.DirEntry, err error) error {
		if looked++; looked > most {
			return errEnough
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(name, base), "/")
		if base == "." {
			rel = name
		}
		switch {
		case err != nil && name == base:
			return err
		case err != nil, d.IsDir() && d.Name() == ".git" && name != base:
			if err := see(walkEntry{rel, true}); err != nil {
				return err
			}
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		return see(walkEntry{Rel: rel})
	})
	return looked, err
}

// tidied sweeps the folder of a change that was made, once, and returns the error of the
// change.
func (w *worker) tidied(d *dir, err error) error {
	var st unix.Stat_t
	if happened(err) && unix.Fstat(d.fd(), &st) == nil {
		if _, done := w.swept.LoadOrStore(idOf(st), true); !done {
			d.sweep(time.Now())
		}
	}
	return err
}
