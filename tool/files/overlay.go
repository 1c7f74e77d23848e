package files

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/tool/roots"
)

// An overlay is what the calls of a turn would leave behind, seen by those that
// come after them.
type overlay struct {
	mu      sync.Mutex
	entries map[string]overlaid // by roots.Place.Key
}

// An overlaid place is what a turn would leave there: a file, a folder, or
// nothing.
type overlaid struct {
	state  state
	folder bool
}

func (e overlaid) exists() bool { return e.folder || e.state.exists }

type overlayKey struct{}

// withOverlay returns a context in which the calls of one turn are prepared on
// top of each other: the second edit of a file is shown, and bound to, what the
// first one would leave.
//
// Calls run in a context without it: then the files themselves must have become
// what was shown, else the call is asked again.
func withOverlay(ctx context.Context) context.Context {
	if overlayOf(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, overlayKey{}, &overlay{entries: map[string]overlaid{}})
}

// overlayOf returns the overlay of a context. A nil overlay is empty and
// forgets what it is told.
func overlayOf(ctx context.Context) *overlay {
	o, _ := ctx.Value(overlayKey{}).(*overlay)
	return o
}

// set says what file would lie at a place, or that none would.
func (o *overlay) set(p roots.Place, s state) { o.put(p, overlaid{state: s}) }

// makeFolder says that a folder would be made.
func (o *overlay) makeFolder(p roots.Place) { o.put(p, overlaid{folder: true}) }

func (o *overlay) put(p roots.Place, e overlaid) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.entries[p.Key()] = e
}

// at returns what the turn would leave at a place; not ok means what is on disk.
// A folder on the way to a file would be made. What would lie below a file is an
// error.
func (o *overlay) at(p roots.Place) (e overlaid, ok bool, err error) {
	if o == nil {
		return overlaid{}, false, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if e, ok := o.entries[p.Key()]; ok {
		return e, true, nil
	}
	for dir := path.Dir(p.Key()); dir != path.Dir(dir); dir = path.Dir(dir) {
		if o.entries[dir].state.exists {
			return overlaid{}, false, errBelowFile
		}
	}
	for key, e := range o.entries {
		if p.Info == nil && e.exists() && strings.HasPrefix(key, p.Key()+"/") {
			return overlaid{folder: true}, true, nil
		}
	}
	return overlaid{}, false, nil
}

// below returns the files that the turn would leave below a folder, by their
// paths in it, sorted.
func (o *overlay) below(folder roots.Place) []string {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for _, key := range slices.Sorted(maps.Keys(o.entries)) {
		rel, ok := strings.CutPrefix(key, strings.TrimSuffix(folder.Key(), "/")+"/")
		if ok && o.entries[key].state.exists {
			out = append(out, rel)
		}
	}
	return out
}
