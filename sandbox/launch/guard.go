package launch

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/assent-dev/assent/internal/gitconfig"
	"github.com/assent-dev/assent/internal/realpath"
	"github.com/assent-dev/assent/sandbox"
)

// guardedNames are never written in a guarded root.
var guardedNames = []string{".git", ".assent"}

// How far guarded roots are searched for repositories. Beyond it lie vendored trees and
// caches more often than somebody's repository, and the search is part of every start.
const (
	searchDepth   = 6
	searchFolders = 20_000
)

// gitSurfaces are the parts of .git that make git run programs or look for them elsewhere.
var gitSurfaces = []string{"hooks", "config", "config.worktree", "info", "modules", "worktrees", "commondir"}

// guarded protects what makes programs run by itself in the writable, guarded roots.
func (s *survey) guarded() error {
	for i, r := range s.profile.Roots {
		place := s.layout.Roots[i]
		if !r.Guarded || place.Mode != sandbox.ModeReadWrite || place.Kind != KindFolder {
			continue
		}
		if err := s.guardNames(r); err != nil {
			return err
		}
		if err := s.search(r.Path, r, searchDepth); err != nil {
			return err
		}
		if err := s.enclosing(r.Path); err != nil {
			return err
		}
		// Whatever repository the user goes to, it need not be in a root.
		if err := s.protectAll(s.usualGit(), ""); err != nil {
			return err
		}
	}
	return nil
}

// enclosing finds the repository that a root lies in, if it has none of its own: its .git
// is out of reach, but not what its settings name.
func (s *survey) enclosing(dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, ".git")
		if info, err := os.Lstat(file); err == nil {
			return s.named(file, fs.FileInfoToDirEntry(info))
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// guardNames protects the names at the top of a root, also when they do not exist yet.
func (s *survey) guardNames(r sandbox.Root) error {
	for _, name := range guardedNames {
		file := filepath.Join(r.Path, name)
		kind, err := look(file)
		if err != nil {
			return fmt.Errorf("%s cannot be protected: %w", file, err)
		}
		if kind == KindAbsent {
			s.addProtected(Place{Path: file, Kind: kind, Source: "always protected"})
		}
	}
	return nil
}

// search guards the repositories below a folder that belong to the root.
func (s *survey) search(dir string, r sandbox.Root, depth int) error {
	if s.folders++; depth == 0 || s.folders > searchFolders {
		s.layout.Unsearched = append(s.layout.Unsearched, dir)
		return nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil // nor can the command read it
	}
	if err != nil {
		return fmt.Errorf("looking for repositories: %w", err)
	}
	for _, e := range entries {
		file := filepath.Join(dir, e.Name())
		switch {
		case slices.Contains(guardedNames, e.Name()):
			err = s.guard(file, e)
			if err == nil && e.Name() == ".git" {
				err = s.named(file, e)
			}
		case e.IsDir() && e.Name() != "node_modules" && !s.otherRoot(file):
			err = s.search(file, r, depth-1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// otherRoot reports whether a folder is a root itself or masked: it is looked at by
// itself, or not at all.
func (s *survey) otherRoot(dir string) bool {
	is := func(p Place) bool { return p.Path == dir }
	return slices.ContainsFunc(s.layout.Roots, is) || slices.ContainsFunc(s.layout.Masked, is)
}

// guard protects a .git or .assent that was found.
func (s *survey) guard(file string, e fs.DirEntry) error {
	const why = "always protected"
	isGit := e.Name() == ".git"
	switch {
	case e.IsDir() && isGit:
		return s.guardRepository(file)
	case e.IsDir():
		s.addProtected(Place{Path: file, Kind: KindFolder, Source: why})
		return nil
	case e.Type()&fs.ModeSymlink != 0:
		return s.guardTarget(file)
	}
	s.addProtected(Place{Path: file, Kind: KindFile, Source: why})
	if isGit {
		return s.guardGitFile(file)
	}
	return nil
}

// guardRepository protects a folder with a repository: all of it, or what runs programs.
func (s *survey) guardRepository(dir string) error {
	if !s.profile.GitWrite {
		s.addProtected(Place{Path: dir, Kind: KindFolder, Source: "git_write is off"})
		return nil
	}
	if empty(dir) {
		// It is no repository yet: made into one, it would be unprotected.
		s.addProtected(Place{Path: dir, Kind: KindFolder, Source: "no repository yet"})
		return nil
	}
	s.layout.Open = append(s.layout.Open, Place{Path: dir, Kind: KindFolder, Source: s.profile.GitSource})
	for _, name := range gitSurfaces {
		file := filepath.Join(dir, name)
		kind, err := look(file)
		if err != nil {
			return fmt.Errorf("%s cannot be protected: %w", file, err)
		}
		s.addProtected(Place{Path: file, Kind: kind, Source: "git runs programs from it"})
	}
	return nil
}

// guardGitFile protects the repository that a .git file names, if it can be reached.
func (s *survey) guardGitFile(file string) error {
	dir := readPointer(file, "gitdir:")
	if dir == "" {
		return nil
	}
	if err := s.guardIfReached(dir); err != nil {
		return err
	}
	if common := readPointer(filepath.Join(dir, "commondir"), ""); common != "" {
		return s.guardIfReached(common)
	}
	return nil
}

// guardTarget protects what a symbolic link named .git leads to, if it can be reached. The
// link can be replaced; so can one be made anywhere below a root.
func (s *survey) guardTarget(link string) error {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return nil // it leads nowhere
	}
	return s.guardIfReached(target)
}

func (s *survey) guardIfReached(dir string) error {
	kind, err := look(dir)
	if err != nil || kind != KindFolder || s.profile.At(dir) != sandbox.ModeReadWrite {
		return nil // it is not there for the command, or cannot be written anyway
	}
	return s.guardRepository(dir)
}

// readPointer reads a one-line file that names a folder, after a word.
func readPointer(file, word string) string {
	data := ReadSmall(file, maxPointer)
	text, ok := strings.CutPrefix(strings.TrimSpace(string(data)), word)
	text = strings.TrimSpace(text)
	if !ok || text == "" {
		return ""
	}
	if !filepath.IsAbs(text) {
		text = filepath.Join(filepath.Dir(file), text)
	}
	real, err := filepath.EvalSymlinks(text)
	if err != nil {
		return ""
	}
	return real
}

// maxPointer is the size of the largest file that names a folder.
const maxPointer = 8192

// ReadSmall reads a small regular file; nil if there is none that can be read. A command may have
// put there what never ends, or a pipe that would keep us waiting.
func ReadSmall(file string, most int64) []byte {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil
	}
	return data
}

func empty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}

// inGuardedName reports whether a path leads through a guarded name.
func inGuardedName(file string) bool {
	for part := range strings.SplitSeq(file, "/") {
		if slices.Contains(guardedNames, part) {
			return true
		}
	}
	return false
}

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
		why := "git runs hooks from it: core.hooksPath in " + hook.Source
		if err := s.protectNamed(absolute(hook.Path, top), KindAbsent, why); err != nil {
			return err
		}
	}
	for _, file := range names.files {
		if err := s.protectNamed(file.Path, KindAbsentFile, "git's settings are in it: included by "+file.Source); err != nil {
			return err
		}
	}
	return nil
}

// protectNamed protects a place in a root, or one that links lead to from elsewhere. Missing
// is what it is if it does not exist yet.
func (s *survey) protectNamed(file string, missing Kind, source string) error {
	if s.profile.At(file) != sandbox.ModeReadWrite {
		file, _ = realpath.Resolve(file) // as far as it leads
	}
	within := func(p Place) bool { return sandbox.Below(p.Path, file) }
	if s.profile.At(file) != sandbox.ModeReadWrite || slices.ContainsFunc(s.layout.Protected, within) {
		return nil // it is not there for the command, or cannot be written anyway
	}
	before := len(s.layout.Protected)
	if err := s.protect(file, source); err != nil {
		return err
	}
	if added := s.layout.Protected[before:]; len(added) == 1 && added[0].Kind == KindAbsent && added[0].Path == file {
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
