package snapshot

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assent-dev/assent/internal/gitconfig"
)

// A repo is a work tree of git, as far as it is needed to know what git has.
type repo struct {
	top, gitDir string
	n           uint8  // bytes of a hash
	index       *index // empty if it could not be read
	written     int64  // when the index was
	// converts says that a file may differ from its blob although git calls it unchanged: line
	// ends, filters. Then each content is compared once.
	converts atomic.Bool
	ignores  []*ignoreFile // of the repository and of the user
}

// repoAt returns the repository whose work tree begins in the folder; nil if none does. The
// .git file of a submodule or of a linked work tree may lead anywhere: all that is taken from
// there is what must agree with the files here.
func repoAt(dir string, cache *indexCache) *repo {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	if err != nil {
		return nil
	}
	r := &repo{top: dir, gitDir: dotGit, n: 20}
	if !info.IsDir() {
		text, ok := strings.CutPrefix(readSmall(dotGit), "gitdir: ")
		if !ok {
			return nil
		}
		if r.gitDir = strings.TrimRight(text, "\r\n"); !filepath.IsAbs(r.gitDir) {
			r.gitDir = filepath.Join(dir, r.gitDir)
		}
	}
	if readSmall(filepath.Join(r.gitDir, "HEAD")) == "" {
		return nil
	}
	common := r.gitDir
	if text := strings.TrimRight(readSmall(filepath.Join(r.gitDir, "commondir")), "\r\n"); text != "" {
		if common = text; !filepath.IsAbs(common) {
			common = filepath.Join(r.gitDir, common)
		}
	}
	r.configure(common)
	r.index, r.written = cache.load(filepath.Join(r.gitDir, "index"), r.n)
	return r
}

// configure finds out how the repository names blobs, what it ignores and whether it converts.
func (r *repo) configure(common string) {
	home, _ := os.UserHomeDir()
	settings := os.Getenv("XDG_CONFIG_HOME")
	if settings == "" {
		settings = filepath.Join(home, ".config")
	}
	global := []string{"/etc/gitconfig", filepath.Join(settings, "git/config"), filepath.Join(home, ".gitconfig")}
	own := []string{filepath.Join(common, "config"), filepath.Join(r.gitDir, "config.worktree")}
	excludes := filepath.Join(settings, "git/ignore")
	for _, file := range slices.Concat(global, own) {
		set, ok := gitconfig.Parse([]byte(readSmall(file)))
		if !ok {
			r.converts.Store(true)
		}
		for _, s := range set {
			switch {
			case s.Key == "extensions.objectformat" && s.Value == "sha256":
				r.n = 32
			case s.Key == "core.excludesfile":
				excludes = strings.Replace(s.Value, "~", home, 1)
			case s.Key == "core.autocrlf" && s.Value != "false",
				s.Key == "core.eol", s.Key == "core.attributesfile", s.IsInclude():
				r.converts.Store(true)
			}
		}
	}
	for _, file := range []string{"/etc/gitattributes", filepath.Join(settings, "git/attributes"),
		filepath.Join(common, "info/attributes")} {
		r.attributes(readSmall(file))
	}
	for _, file := range []string{excludes, filepath.Join(common, "info/exclude")} {
		if text := readSmall(file); text != "" {
			r.ignores = append(r.ignores, parseIgnore("", text))
		}
	}
}

// attributes looks for what makes git convert files.
func (r *repo) attributes(text string) {
	for _, word := range []string{"text", "eol", "crlf", "filter", "ident", "encoding"} {
		if strings.Contains(text, word) {
			r.converts.Store(true)
		}
	}
}

// state is what changes when a commit, a branch or HEAD does, which undo does not cover.
func (r *repo) state() string {
	var size int64
	if info, err := os.Lstat(filepath.Join(r.gitDir, "logs/HEAD")); err == nil {
		size = info.Size()
	}
	return fmt.Sprint(readSmall(filepath.Join(r.gitDir, "HEAD")), size)
}

// repoAbove returns the repository that a folder lies in, if it is not its top.
func repoAbove(dir string, cache *indexCache) *repo {
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		if r := repoAt(at, cache); r != nil {
			return r
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

// An indexCache has the indexes that were read, by their files. It is safe for concurrent use.
type indexCache struct {
	mu    sync.Mutex
	known map[string]cachedIndex
}

type cachedIndex struct {
	sig
	n     uint8
	index *index
}

// load reads an index, unless the file is the same as before. One that cannot be read is
// empty: git then counts as having nothing.
func (c *indexCache) load(file string, n uint8) (_ *index, written int64) {
	none := &index{dirs: map[string]bool{}}
	f, err := os.Open(file)
	if err != nil {
		return none, 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
		return none, 0
	}
	s := sigOfInfo(info)
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.known[file]; ok && old.sig == s && old.n == n {
		return old.index, s.mtime
	}
	data, err := io.ReadAll(io.LimitReader(f, maxIndex))
	if err != nil {
		return none, 0
	}
	parsed, err := parseIndex(data, n)
	if err != nil {
		return none, 0
	}
	if !s.young(time.Now()) {
		if c.known == nil {
			c.known = map[string]cachedIndex{}
		}
		c.known[file] = cachedIndex{s, n, parsed}
	}
	return parsed, s.mtime
}

// readSmall returns the text of a settings file; empty if there is none.
func readSmall(file string) string {
	f, err := os.OpenFile(file, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	data, err := io.ReadAll(io.LimitReader(f, 4<<20))
	if err != nil {
		return ""
	}
	return string(data)
}
