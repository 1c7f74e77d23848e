package analysis

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/pattern"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// isPattern reports whether text with quoted characters escaped is a pattern: a bracket
// that is never closed is none.
func isPattern(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '[':
			if strings.IndexByte(text[i+1:], ']') >= 0 {
				return true
			}
		}
	}
	return false
}

// literalStart is what every name that a pattern stands for begins with, and the pattern
// itself too.
func literalStart(text string) string {
	if i := strings.IndexAny(text, `*?[\`); i >= 0 {
		return text[:i]
	}
	return text
}

// touchPattern adds the part for the files that a pattern stands for now.
func (w *walker) touchPattern(p Part, text, dir string, tree bool) {
	if !strings.HasPrefix(text, "/") {
		if dir == "" {
			p.Why = "the files are not known"
			w.add(p)
			return
		}
		text = escapePattern(dir) + "/" + text
	}
	if len(text) > maxPath {
		p.Why = "the path is too long"
		w.add(p)
		return
	}
	p.Many, p.tree = true, tree
	p.Matches, p.More = w.matches(text)
	if len(p.Matches) == 0 { // then the shell hands over the pattern itself
		p.Matches = []string{unescapePattern(text)}
	}
	if tree {
		p.Matches, p.More = w.trees(p.Matches, p.More, p.Access == programs.Read)
	}
	p.Path = text
	w.add(p)
}

func escapePattern(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(text)
}

func unescapePattern(text string) string {
	var out strings.Builder
	unescape(text, func(part string, _ bool) { out.WriteString(part) })
	return out.String()
}

// matches returns the paths that an absolute pattern stands for now.
func (w *walker) matches(text string) (found []string, more bool) {
	if w.entries <= 0 {
		return nil, true
	}
	found = []string{"/"}
	for _, part := range strings.Split(strings.TrimPrefix(text, "/"), "/") {
		if part == "" || part == "." {
			continue
		}
		if found, more = w.matchPart(found, part, more); len(found) == 0 {
			return nil, more
		}
	}
	return found, more
}

// matchPart goes on from paths by one part of a pattern.
func (w *walker) matchPart(from []string, part string, more bool) ([]string, bool) {
	var next []string
	if !isPattern(part) {
		name := unescapePattern(part)
		for _, at := range from {
			if there, ok := w.absolute(at+"/"+name, ""); ok {
				if _, kind := w.world.Look(there); kind != Nothing {
					next = append(next, there)
				}
			}
		}
		return next, more
	}
	w.entries -= len(part) / 16 // a long pattern takes as long as many names
	matcher, err := patternMatcher(part)
	if err != nil || w.entries <= 0 {
		return nil, true
	}
	for _, at := range from {
		entries, beyond := w.list(at)
		more = more || beyond
		for _, e := range entries {
			if strings.HasPrefix(e.Name, ".") && !strings.HasPrefix(unescapePattern(part), ".") {
				continue
			}
			if matcher.MatchString(e.Name) {
				next = append(next, path.Join(at, e.Name))
			}
		}
	}
	return next, more
}

func patternMatcher(part string) (*regexp.Regexp, error) {
	expr, err := pattern.Regexp(part, pattern.Filenames|pattern.EntireString|pattern.GlobLeadingDot|pattern.NoGlobStar)
	if err != nil {
		return nil, err
	}
	return regexp.Compile(expr)
}

// list returns the names in a folder as far as the bound allows.
func (w *walker) list(folder string) ([]Entry, bool) {
	if w.entries <= 0 {
		return nil, true
	}
	entries, more := w.world.List(folder, w.entries)
	w.entries -= len(entries)
	return entries, more
}

// tree returns what lies below a folder now. Links to folders are named, and followed only
// if asked to: some programs do so when they read.
func (w *walker) tree(folder string, follow bool) (found []string, more bool) {
	queue := []string{folder}
	var been []string
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		entries, beyond := w.list(at)
		more = more || beyond
		for _, e := range entries {
			name := path.Join(at, e.Name)
			found = append(found, name)
			real, kind := name, e.Kind
			if e.Link && follow {
				real, kind = w.world.Look(name)
			}
			if kind != Folder || e.Link && (!follow || slices.Contains(been, real)) {
				continue
			}
			if e.Link {
				been = append(been, real)
			}
			queue = append(queue, name)
		}
	}
	return found, more
}

// trees adds what lies below each of the paths.
func (w *walker) trees(paths []string, more, follow bool) ([]string, bool) {
	all := paths
	for _, name := range paths {
		if _, kind := w.world.Look(name); kind == Folder {
			below, beyond := w.tree(name, follow)
			all = append(all, below...)
			more = more || beyond
		}
	}
	return all, more
}

// A Reader is a [World] that also tells what a file says, if that is not much.
type Reader interface {
	Text(path string) (text string, ok bool)
}

// leaves is what a program leaves alone of the files below a path.
type leaves struct {
	only    []string
	visible bool
}

// leaveAlone takes out of the matches below the part's path what the program does not open.
func (w *walker) leaveAlone(p *Part) {
	if w.changed || p.Access == programs.Delete {
		return // the files that decide it may be others by then
	}
	if len(p.leaves.only) > 0 {
		p.Matches = slices.DeleteFunc(p.Matches, func(name string) bool {
			_, kind := w.world.Look(name)
			return kind == File && !matchesAny(p.leaves.only, path.Base(name))
		})
	}
	if p.Access != programs.Read {
		return
	}
	hidden := func(name string) bool { return strings.Contains(strings.TrimPrefix(name, p.Path), "/.") }
	if p.leaves.visible && slices.ContainsFunc(p.Matches, hidden) && !w.exceptions(p) {
		p.Matches = slices.DeleteFunc(p.Matches, hidden)
	}
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok || err != nil
	})
}

// exceptions reports whether rules of what to ignore may name a hidden file that is to be
// searched all the same: those in the tree, in the folders above it, and the person's own.
func (w *walker) exceptions(p *Part) bool {
	_, configured := w.world.Variable(ripgrepConfig)
	settings, ok := w.world.GitConfig(p.Path)
	if configured || !ok || slices.ContainsFunc(settings, func(s Setting) bool { return s.Key == "core.excludesfile" }) {
		return true
	}
	config, set := w.world.Variable("XDG_CONFIG_HOME")
	if !set || config == "" {
		config = path.Join(w.world.Home(), ".config")
	}
	files := []string{path.Join(config, "git/ignore")}
	for at := p.Path; ; at = path.Dir(at) {
		if _, kind := w.world.Look(path.Join(at, ".git")); kind == File {
			return true // a repository that is elsewhere
		}
		for _, name := range ignoring {
			files = append(files, path.Join(at, name))
		}
		if at == "/" {
			break
		}
	}
	for _, name := range p.Matches {
		if slices.Contains(ignoring, path.Base(name)) {
			files = append(files, name)
		}
	}
	return slices.ContainsFunc(files, w.makesException)
}

// configured reports whether the text itself may name a file of settings for rg.
func (w *walker) configured(c *command) bool {
	_, assigned := w.lookup(ripgrepConfig, c.state)
	same := func(a programs.Assignment) bool { return a.Name == ripgrepConfig }
	return assigned || slices.ContainsFunc(w.parts[c.part-1].Env, same)
}

const ripgrepConfig = "RIPGREP_CONFIG_PATH"

// ignoring are the files that say what to ignore.
var ignoring = []string{".gitignore", ".ignore", ".rgignore", ".git/info/exclude"}

// makesException reports whether such a file may take something out of what is ignored.
func (w *walker) makesException(name string) bool {
	if _, kind := w.world.Look(name); kind == Nothing {
		return false
	}
	reader, can := w.world.(Reader)
	if !can {
		return true
	}
	text, ok := reader.Text(name)
	return !ok || strings.Contains("\n"+strings.TrimPrefix(text, "\ufeff"), "\n!")
}
