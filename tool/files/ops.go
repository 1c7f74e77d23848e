package files

import (
	"context"

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
