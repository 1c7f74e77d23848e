package approval

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A pathPattern matches files by ** globs; a backslash escapes. A pattern that
// ends in a slash means everything below.
type pathPattern struct {
	glob string
	to   glob // who receives a shared file
}

func compilePath(target string, shared bool) (pathPattern, error) {
	p := pathPattern{glob: target, to: anyGlob}
	if file, worker, ok := cutLast(target, ", "); shared && ok {
		to, err := compileGlob(worker, true)
		if err != nil {
			return p, err
		}
		p.glob, p.to = file, to
	}
	if strings.HasSuffix(p.glob, "/") && p.glob != "/" {
		p.glob += "**"
	}
	if isAny(p.glob) {
		p.glob = "**"
	}
	p.glob = path.Clean(p.glob)
	if !doublestar.ValidatePattern(p.glob) {
		return p, errUnbalanced
	}
	return p, nil
}

var anyGlob = glob{runs: []run{{plain: true}, {plain: true}}}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func (p pathPattern) matches(spelling string) bool {
	return doublestar.MatchUnvalidated(p.glob, spelling)
}

// covers is the match of an allow: it must hold for the file as written and
// for the one it resolves to, each in any spelling.
func (p pathPattern) covers(t Target) bool {
	return !t.Unknown && p.to.match(t.To) && p.matchesAny(t.Written) && p.matchesAny(t.Resolved)
}

// meets is the match of a deny: one spelling of either is enough.
func (p pathPattern) meets(t Target) Meets {
	if !p.to.match(t.To) {
		return No
	}
	if p.matchesAny(t.Written) || p.matchesAny(t.Resolved) {
		return Yes
	}
	return possibly(t.Unknown)
}

func (p pathPattern) matchesAny(spellings []string) bool {
	return slices.ContainsFunc(spellings, p.matches)
}

// plainTexts returns texts that stand in every path that the pattern matches.
func (p pathPattern) plainTexts() []string {
	var texts []string
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			texts = append(texts, text.String())
			text.Reset()
		}
	}
	for i := 0; i < len(p.glob); i++ {
		switch c := p.glob[i]; c {
		case '*', '?', '/':
			// "/" too: a ** beside it may stand for no folder at all.
			flush()
		case '[', '{':
			// What follows may be one of several things; stop looking.
			flush()
			return texts
		case '\\':
			if i++; i < len(p.glob) {
				text.WriteByte(p.glob[i])
			}
		default:
			text.WriteByte(c)
		}
	}
	flush()
	return texts
}
