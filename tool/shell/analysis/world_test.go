package analysis

import (
	"path"
	"sort"
	"strings"
)

// tree is a World made of a list of paths: a folder ends in a slash, a link has an arrow.
type tree struct {
	kinds    map[string]FileKind
	links    map[string]string
	env      map[string]string
	settings []Setting
	noGit    bool
	nested   bool
	reaches  []string
}

// project is the folder that most tests look at.
func project(more ...string) *tree {
	return newTree(append([]string{
		"/w/", "/w/src/", "/w/src/a.go", "/w/src/b.go", "/w/build/", "/w/build/x.o", "/w/README.md", "/w/.env", "/w/x.sh",
		"/home/u/", "/home/u/.ssh/", "/home/u/.ssh/id_rsa", "/tmp/", "/w/link -> /home/u/.ssh",
	}, more...)...)
}

func newTree(paths ...string) *tree {
	t := &tree{kinds: map[string]FileKind{"/": Folder}, links: map[string]string{}, env: map[string]string{"TERM": "dumb", "LANG": "C.UTF-8"}}
	for _, p := range paths {
		if name, to, ok := strings.Cut(p, " -> "); ok {
			t.links[name] = to
			continue
		}
		kind := File
		if strings.HasSuffix(p, "/") {
			kind = Folder
		}
		t.kinds[path.Clean(p)] = kind
	}
	return t
}

func (t *tree) Look(name string) (string, FileKind) {
	at := "/"
	for _, part := range strings.Split(strings.Trim(name, "/"), "/") {
		at = path.Join(at, part)
		if to, ok := t.links[at]; ok {
			at = to
		}
	}
	return at, t.kinds[at]
}

func (t *tree) List(folder string, most int) (entries []Entry, more bool) {
	folder, _ = t.Look(folder)
	for name, kind := range t.kinds {
		if name != "/" && path.Dir(name) == folder {
			entries = append(entries, Entry{Name: path.Base(name), Kind: kind})
		}
	}
	for name, to := range t.links {
		if path.Dir(name) == folder {
			entries = append(entries, Entry{Name: path.Base(name), Kind: t.kinds[to], Link: true})
		}
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name < entries[j].Name })
	if len(entries) > most {
		return entries[:most], true
	}
	return entries, false
}

func (t *tree) GitConfig(string) ([]Setting, bool) { return t.settings, !t.noGit }
func (t *tree) GitNested(string) bool              { return t.nested }
func (t *tree) GitReaches(string) ([]string, bool) { return t.reaches, !t.noGit }

func (t *tree) GitHooks(folder string) (string, bool) {
	for at := folder; ; at = path.Dir(at) {
		switch t.kinds[path.Join(at, ".git")] {
		case Folder:
			return path.Join(at, ".git/hooks"), true
		case File: // always the same
			return "/linked/hooks", true
		}
		if at == "/" {
			return "", true
		}
	}
}

func (t *tree) Home() string               { return "/home/u" }
func (t *tree) Program(name string) string { return "/usr/bin/" + name }

func (t *tree) Variable(name string) (string, bool) {
	value, ok := t.env[name]
	return value, ok
}
