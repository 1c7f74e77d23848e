package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool/roots"
)

// A scope is the folders that a list or search goes through.
type scope struct {
	name    string // for the person
	folders []roots.Place
	acts    []approval.Act // a read of each folder, and of the roots inside
	all     bool           // every root
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
	sc := scope{name: p.Name(), folders: []roots.Place{p}, acts: []approval.Act{p.FolderAct(roots.Read)}}
	for _, inner := range p.Below() {
		// A root inside that is blocked is left out, file by file.
		if act := inner.FolderAct(roots.Read); !blocked(act) {
			sc.acts = append(sc.acts, act)
		}
	}
	return sc, nil
}

func (t *toolset) everywhere() (scope, error) {
	sc := scope{name: "/", all: true}
	for _, name := range t.roots.Names() {
		p, err := t.roots.Resolve(name)
		if err != nil {
			return scope{}, err
		}
		if act := p.FolderAct(roots.Read); !blocked(act) {
			sc.folders, sc.acts = append(sc.folders, p), append(sc.acts, act)
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
	leftOut int  // files that may not be read, and secrets
	cut     bool // not everything was looked at
	seen    map[string]bool
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// each calls f for every file that may be read, with its name below the scope.
func (w *walk) each(ctx context.Context, sc scope, f func(p roots.Place, rel string) error) error {
	w.seen = map[string]bool{}
	for _, folder := range sc.folders {
		err := w.folder(ctx, folder, func(p roots.Place, rel string) error {
			if sc.all {
				rel = p.Name()
			}
			return f(p, rel)
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

func (w *walk) folder(ctx context.Context, folder roots.Place, f func(roots.Place, string) error) error {
	if folder.Info != nil && !folder.Info.IsDir() {
		return w.file(folder, folder, "", f)
	}
	root, base := folder.Handle()
	return fs.WalkDir(root.FS(), base, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if w.entries++; w.entries > w.opts.Limits.Entries {
			return errEnough
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(name, base), "/")
		if base == "." {
			rel = name
		}
		switch {
		case err != nil && name == base:
			return err
		case err != nil:
			return nil // a folder that cannot be opened holds nothing for us
		case d.IsDir() && d.Name() == ".git" && name != base:
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		child, err := folder.Child(rel)
		if err != nil {
			w.leftOut++ // a link that leads out, or a name that cannot be written
			return nil
		}
		return w.file(folder, child, rel, f)
	})
}

// file hands on a file once, if it may be read.
func (w *walk) file(folder, p roots.Place, rel string, f func(roots.Place, string) error) error {
	written, resolved := p.Within(folder)
	switch {
	case p.Info == nil || !p.Info.Mode().IsRegular() || w.seen[p.Name()]:
		return nil
	case !written:
		return nil // another root has the name of this folder
	}
	w.seen[p.Name()] = true
	if !w.readable(folder, p, resolved) {
		w.leftOut++
		return nil
	}
	return f(p, rel)
}

// readable reports whether the acts of the scope cover a file. They do not cover
// a secret, unless the folder is one itself, nor a link to another folder whose
// files ask.
func (w *walk) readable(folder, p roots.Place, inside bool) bool {
	act := p.Act(roots.Read)
	switch {
	case act.Verdict == approval.Free:
	case act.Verdict == approval.Block || !inside:
		return false
	case act.ByName && !folder.FolderAct(roots.Read).ByName:
		return false
	}
	return !w.denied(act)
}
