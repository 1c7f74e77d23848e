package analysis

import (
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// A madeLink is a symbolic link that the text itself makes: what lies below it is not
// where the path says.
type madeLink struct {
	path string
	by   int // the part that makes it
	// itself says that the file behind the link was not judged either: it is a copy of
	// a link, and not one whose target the text names.
	itself bool
}

// bringLinks notes the links among what is copied or moved.
func (w *walker) bringLinks(p Part, e programs.Effect, from string) {
	flags := w.parts[p.Cause-1].Reading.Flags
	if !e.Tree && !slices.Contains(flags, "-P") && !slices.Contains(flags, "-d") {
		return // the file behind the link is copied
	}
	if w.isLink(from) {
		w.links = append(w.links, madeLink{p.Path, p.Cause, true})
		return
	}
	if _, kind := w.world.Look(from); kind != Folder {
		return
	}
	below, _ := w.tree(from, false)
	for _, name := range below {
		if w.isLink(name) {
			w.links = append(w.links, madeLink{p.Path + strings.TrimPrefix(name, from), p.Cause, true})
		}
	}
}

// isLink reports whether a symbolic link lies at the path.
func (w *walker) isLink(name string) bool {
	real, _ := w.world.Look(name)
	folder, _ := w.world.Look(path.Dir(name))
	return real != path.Join(folder, path.Base(name))
}

// maxLinks is how many links of the text itself are followed.
const maxLinks = 64

// settle looks at the parts once more when all are known, since loops, traps and jobs
// have no order: files behind links that the text makes are not known, and neither is
// code that it writes.
func (w *walker) settle() {
	if len(w.links) > maxLinks {
		w.unknown(0, nil, "makes too many links to follow")
		w.links = w.links[:maxLinks]
	}
	for _, link := range w.links {
		for i := range w.parts {
			if p := &w.parts[i]; p.Cause != link.by && i+1 != link.by {
				p.forget(link)
			}
		}
	}
	w.settleScripts()
}

// forget takes a path for unknown that leads through the link.
func (p *Part) forget(link madeLink) {
	switch {
	case p.Kind == Touches && link.leads(p.Path, p.tree):
		p.Path, p.Many, p.Matches, p.More = "", false, nil, false
		p.Why = "it may be reached through a link that the command makes"
	case p.Kind == Runs && link.leads(p.Dir, true):
		p.Dir = ""
	}
}

// leads reports whether a path, or a pattern of paths, goes through the link: below it, or
// with all that lies there.
func (l madeLink) leads(to string, tree bool) bool {
	for own := l.path; to != ""; {
		name, below, more := strings.Cut(own, "/")
		part, rest, further := strings.Cut(to, "/")
		if part != name && !mayMatch(part, name) {
			return false
		}
		switch {
		case !more && !further:
			return l.itself || tree
		case !more:
			return true
		case !further:
			return false // it ends above the link
		}
		own, to = below, rest
	}
	return false
}

// mayMatch reports whether a pattern fits a name. What is no pattern fits none but itself.
func mayMatch(pattern, name string) bool {
	if !strings.ContainsAny(pattern, `*?[\`) {
		return false
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}
