package launch

import (
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/gitconfig"
	"github.com/assent-dev/assent/internal/realpath"
	"github.com/assent-dev/assent/sandbox"
)

// How much of git's settings is read: more than anybody has.
const (
	maxSettings = 1 << 20
	maxIncludes = 100
)

// gitNames are the places that settings of git name and that make it run programs: folders
// with hooks, and further files of settings.
type gitNames struct {
	hooks, files []sandbox.Entry // hooks as they are written; the source is the file
	seen         map[string]bool
}

// named protects what the settings of a repository name in the roots: an agent could write
// hooks there, which the user's git would run later. Of a repository's .git, whatever it is.
func (s *survey) named(dotGit string, e fs.DirEntry) error {
	git := dotGit
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		git, _ = filepath.EvalSymlinks(dotGit)
	case !e.IsDir():
		git = readPointer(dotGit, "gitdir:")
	}
	if git == "" {
		return nil
	}
	names := &gitNames{hooks: slices.Clone(s.usualGit().hooks), files: slices.Clone(s.usualGit().files)}
	names.read(filepath.Join(git, "config"))
	names.read(filepath.Join(git, "config.worktree"))
	if common := readPointer(filepath.Join(git, "commondir"), ""); common != "" {
		names.read(filepath.Join(common, "config"))
	}
	return s.protectAll(names, filepath.Dir(dotGit))
}

// protectAll protects what settings name in the roots. Git looks for hooks from the top of
// the work tree; without one, those are left out that it would look for there.
func (s *survey) protectAll(names *gitNames, top string) error {
	for _, hook := range names.hooks {
		if top == "" && !filepath.IsAbs(hook.Path) {
			continue
		}
		if err := s.protectNamed(absolute(hook.Path, top), sandbox.KindAbsent, "git runs hooks from it: core.hooksPath in "+hook.Source); err != nil {
			return err
		}
	}
	for _, file := range names.files {
		if err := s.protectNamed(file.Path, sandbox.KindAbsentFile, "git's settings are in it: included by "+file.Source); err != nil {
			return err
		}
	}
	return nil
}

// protectNamed protects a place in a root, or one that links lead to from elsewhere. Missing
// is what it is if it does not exist yet.
func (s *survey) protectNamed(file string, missing sandbox.Kind, source string) error {
	if s.profile.At(file) != sandbox.ModeReadWrite {
		file, _ = realpath.Resolve(file) // as far as it leads
	}
	within := func(p sandbox.Place) bool { return sandbox.Below(p.Path, file) }
	if s.profile.At(file) != sandbox.ModeReadWrite || slices.ContainsFunc(s.layout.Protected, within) {
		return nil // it is not there for the command, or cannot be written anyway
	}
	before := len(s.layout.Protected)
	if err := s.protect(file, source); err != nil {
		return err
	}
	if added := s.layout.Protected[before:]; len(added) == 1 && added[0].Kind == sandbox.KindAbsent && added[0].Path == file {
		added[0].Kind = missing
	}
	return nil
}

// usualGit is what the settings of the machine and the user name, for every repository.
func (s *survey) usualGit() *gitNames {
	if s.usual == nil {
		s.usual = &gitNames{}
		s.usual.read("/etc/gitconfig")
		if dir, err := os.UserConfigDir(); err == nil {
			s.usual.read(filepath.Join(dir, "git", "config"))
		}
		if home, err := os.UserHomeDir(); err == nil {
			s.usual.read(filepath.Join(home, ".config", "git", "config"))
			s.usual.read(filepath.Join(home, ".gitconfig"))
		}
	}
	return s.usual
}

// read reads a file of settings, and those that it includes. What git would not read
// either is passed over.
func (n *gitNames) read(file string) {
	if n.seen[file] || len(n.seen) > maxIncludes {
		return
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[file] = true
	settings, _ := gitconfig.Parse(ReadSmall(file, maxSettings))
	for _, set := range settings {
		path := expanded(set.Value)
		switch {
		case path == "":
		case set.IsInclude():
			path = absolute(path, filepath.Dir(file))
			n.files = append(n.files, sandbox.Entry{Path: path, Source: file})
			n.read(path)
		case set.Key == "core.hookspath":
			n.hooks = append(n.hooks, sandbox.Entry{Path: path, Source: file})
		}
	}
}

// expanded puts a home in place of ~ or ~name, as git does.
func expanded(path string) string {
	name, rest, _ := strings.Cut(path, "/")
	name, ok := strings.CutPrefix(name, "~")
	if !ok {
		return path
	}
	home, err := os.UserHomeDir()
	if name != "" {
		var u *user.User
		if u, err = user.Lookup(name); err == nil {
			home = u.HomeDir
		}
	}
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}

func absolute(path, dir string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
