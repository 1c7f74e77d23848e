package analysis

import (
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
)

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
	return assigned || slices.ContainsFunc(w.parts[c.part-1].Env, func(a programs.Assignment) bool { return a.Name == ripgrepConfig })
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
