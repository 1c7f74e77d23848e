// Package realpath resolves symbolic links in paths that need not exist. Policies, protected
// files and sandbox profiles all compare paths by what it returns, so there is one of it.
package realpath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLinks is how many links that lead to nothing are followed.
const maxLinks = 40

// Resolve returns the absolute path that a path leads to, through symbolic links as far as it
// exists. A link that leads to nothing is followed too: its target is what would be made.
//
// The path is returned with an error as well, resolved as far as possible: a caller that
// only protects it can go on, one that compares it with others must not.
func Resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path, err
	}
	return resolve(abs, maxLinks)
}

func resolve(abs string, links int) (string, error) {
	real, err := filepath.EvalSymlinks(abs)
	if err == nil {
		return real, nil
	}
	missing := errors.Is(err, fs.ErrNotExist)
	parent := filepath.Dir(abs)
	if parent == abs {
		return abs, err
	}
	if links == 0 {
		return abs, fmt.Errorf("%s: too many symbolic links", abs)
	}
	dir, dirErr := resolve(parent, links)
	last := filepath.Join(dir, filepath.Base(abs))
	if dirErr == nil {
		if target, err := os.Readlink(last); err == nil {
			if !filepath.IsAbs(target) {
				target = filepath.Join(dir, target)
			}
			return resolve(filepath.Clean(target), links-1)
		}
	}
	if !missing {
		return last, err
	}
	return last, dirErr
}
