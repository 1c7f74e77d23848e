package files

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

// A scope is the folders that a list or search goes through.
type scope struct {
	name    string // for the person
	folders []roots.Place
	needs   needs // a read of each folder, and of the roots inside
	all     bool  // every root
}

// scope finds the folders of a path; `/` is all the roots that may be read.
func (t *toolset) scope(name string) (scope, error) {
	if strings.Trim(name, "/") == "" {
		return t.everywhere()
	}
	p, err := t.roots.Resolve(name)
	if err != nil {
		return scope{}, err
	}
	sc := scope{name: p.Name(), folders: []roots.Place{p}, needs: needs{reading(p)}}
	for _, inner := range p.Below() {
		// A root inside that is blocked is left out, file by file.
		if n := reading(inner); !(needs{n}).blocked() {
			sc.needs = append(sc.needs, n)
		}
	}
	return sc, nil
}

// reading is the need to look into a folder.
func reading(p roots.Place) need { return need{place: p, access: roots.AccessRead, folder: true} }

// missing reports why the scope cannot be gone through: there is no such folder,
// not even after the earlier calls of the turn. With filesToo a file will do.
func (sc scope) missing(ctx context.Context, filesToo bool) error {
	if sc.all {
		return nil
	}
	p := sc.folders[0]
	e, ok, err := overlayOf(ctx).at(p)
	switch {
	case err != nil:
		return err
	case ok && !e.exists(), !ok && p.Info == nil:
		return errMissing
	case !filesToo && (ok && !e.folder || !ok && !p.Info.IsDir()):
		return errNotFolder
	}
	return nil
}

func (t *toolset) everywhere() (scope, error) {
	sc := scope{name: "/", all: true}
	for _, name := range t.roots.Folders() {
		p, err := t.roots.Resolve(name)
		if err != nil {
			return scope{}, err
		}
		if n := reading(p); !(needs{n}).blocked() {
			sc.folders, sc.needs = append(sc.folders, p), append(sc.needs, n)
		}
	}
	if len(sc.folders) == 0 {
		return scope{}, &roots.Refusal{Why: "there is no root that may be read"}
	}
	return sc, nil
}

// A walk goes through the files of a scope and counts what it leaves out.
type walk struct {
	*toolset
	entries int
	leftOut int      // files that may not be read, and secrets
	skipped []string // folders that were not looked into
	cut     bool     // not everything was looked at
	over    *overlay
	seen    map[string]bool
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// each calls f for every file that may be read, with its name below the scope; below
// all roots with every name that it has.
func (w *walk) each(ctx context.Context, sc scope, f func(p roots.Place, names []string) error) error {
	w.seen, w.over = map[string]bool{}, overlayOf(ctx)
	for _, folder := range sc.folders {
		err := w.both(ctx, folder, func(p roots.Place, rel string) error {
			if sc.all {
				return f(p, p.Names())
			}
			return f(p, []string{rel})
		})
		if errors.Is(err, errEnough) {
			w.cut = true
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", folder.Name(), roots.Plain(err))
		}
	}
	return nil
}

// both goes through the files on disk and those that the turn would add.
func (w *walk) both(ctx context.Context, folder roots.Place, f func(roots.Place, string) error) error {
	if e, ok, _ := w.over.at(folder); ok && e.state.exists || folder.Info != nil && !folder.Info.IsDir() {
		return w.file(folder, folder, "", f)
	}
	if folder.Info != nil {
		if err := w.folder(ctx, folder, f); err != nil {
			return err
		}
	}
	for _, rel := range w.over.below(folder) {
		child, err := folder.Child(rel)
		if err != nil {
			w.leftOut++
			continue
		}
		if err := w.file(folder, child, rel, f); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) folder(ctx context.Context, folder roots.Place, f func(roots.Place, string) error) error {
	looked, err := w.ops.walk(ctx, folder, w.opts.Limits.Entries-w.entries, func(one walkEntry) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if one.Skipped {
			w.skip(folder, one.Rel)
			return nil
		}
		child, err := folder.Child(one.Rel)
		if err != nil {
			w.leftOut++ // a link that leads out, or a name that cannot be written or is hidden
			return nil
		}
		return w.file(folder, child, one.Rel, f)
	})
	w.entries += looked
	return err
}

// skip notes a folder that is not looked into. It is named to who may read it.
func (w *walk) skip(folder roots.Place, rel string) {
	if child, err := folder.Child(rel); err == nil && w.readable(folder, child, true) {
		w.skipped = append(w.skipped, child.Name())
		return
	}
	w.leftOut++
}

// file hands on a file once, if it may be read.
func (w *walk) file(folder, p roots.Place, rel string, f func(roots.Place, string) error) error {
	if !w.exists(p) || w.seen[p.Name()] {
		return nil
	}
	_, resolved := p.Within(folder)
	w.seen[p.Name()] = true
	if !w.readable(folder, p, resolved) {
		w.leftOut++
		return nil
	}
	return f(p, rel)
}

// exists reports whether a file lies there, or would after the earlier calls of
// the turn.
func (w *walk) exists(p roots.Place) bool {
	if e, ok, _ := w.over.at(p); ok {
		return e.state.exists
	}
	return p.Info != nil && p.Info.Mode().IsRegular()
}

// readable reports whether the acts of the scope cover a file. They do not cover
// a secret, unless the folder is one itself, nor a link to another folder whose
// files ask.
func (w *walk) readable(folder, p roots.Place, inside bool) bool {
	act := p.Act(roots.AccessRead)
	switch {
	case act.Verdict == policy.VerdictFree:
	case act.Verdict == policy.VerdictBlock || !inside:
		return false
	case act.ByName && !folder.FolderAct(roots.AccessRead).ByName:
		return false
	}
	return !w.denied(act)
}
