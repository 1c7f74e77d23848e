package policy

import (
	"errors"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// foldsCase says that README and readme are one file, as on most file systems of macOS: then a deny
// of one is a deny of the other. Tests change it.
var foldsCase = runtime.GOOS == "darwin"

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
	return p, checkPathGlob(p.glob)
}

// reachBelow has the pattern of a deny match everything below the folder that it names: a deny of
// ~/.ssh is meant for what lies there. A pattern that ends in a wildcard matches as it is written.
func (p *pathPattern) reachBelow() {
	if p.glob != "." && p.glob != "/" && !strings.ContainsAny(path.Base(p.glob), "*?[") {
		p.glob += "/**"
	}
}

var errAlternatives = errors.New("too many {} alternatives: write several rules")

// checkPathGlob refuses what is malformed, and braces that would be tried in
// more ways than anybody can wait for.
func checkPathGlob(glob string) error {
	const maxGroups, maxCommas = 4, 64
	if !doublestar.ValidatePattern(glob) {
		return errUnbalanced
	}
	groups, commas := 0, 0
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '{':
			groups++
		case ',':
			commas++
		}
	}
	if groups > maxGroups || groups > 0 && commas > maxCommas {
		return errAlternatives
	}
	return nil
}

var anyGlob = glob{runs: []run{{plain: true}, {plain: true}}}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// matches also tries a pattern for a folder and all below it on the folder alone: where a wildcard
// stands before the last /** and has nothing to match, as in secret*/**, doublestar does not.
func (p pathPattern) matches(spelling string) bool {
	if doublestar.MatchUnvalidated(p.glob, spelling) {
		return true
	}
	folder, below := strings.CutSuffix(p.glob, "/**")
	return below && folder != "" && doublestar.MatchUnvalidated(folder, spelling)
}

// covers is the match of an allow: it must hold for the file as written and
// for the one it resolves to, each in any spelling. A path outside the roots,
// which has only an absolute spelling, is not reached by **/x. If both have one name in a root, it
// is the root itself that was written through a link, and the resolved file decides.
func (p pathPattern) covers(t *Target) bool {
	return p.to.match(t.To) && p.namesAny(t.Resolved) && (p.namesAny(t.Written) || t.keepsName())
}

// keepsName reports whether no link in a root leads from the file as written to another.
func (t *Target) keepsName() bool {
	for _, s := range t.Written {
		if !path.IsAbs(s) && slices.Contains(t.Resolved, s) {
			return true
		}
	}
	return false
}

// meets is the match of a deny: one spelling of either is enough.
func (p pathPattern) meets(t *Target) Match {
	if p.to.match(t.To) && (p.matchesAny(t.Written) || p.matchesAny(t.Resolved) || p.matchesAny(t.Also)) {
		return MatchYes
	}
	return MatchNo
}

// matchesAny is for denies, which fold case where files do.
func (p pathPattern) matchesAny(spellings []string) bool {
	if slices.ContainsFunc(spellings, p.matches) {
		return true
	}
	if !foldsCase {
		return false
	}
	folded := pathPattern{glob: foldWide(p.glob)}
	return slices.ContainsFunc(spellings, func(s string) bool { return folded.matches(foldWide(s)) })
}

func (p pathPattern) namesAny(spellings []string) bool {
	for _, s := range spellings {
		if (!path.IsAbs(s) || p.namesAbsolute()) && p.matches(s) {
			return true
		}
	}
	return false
}

// namesFile reports whether the last element of the pattern is more than a
// wildcard: notes/** stands for a folder, **/.env for files of a name.
func (p pathPattern) namesFile() bool {
	return strings.Trim(path.Base(p.glob), "*?") != ""
}

// namesAbsolute reports whether the pattern, or one of its alternatives, is an
// absolute path.
func (p pathPattern) namesAbsolute() bool {
	return path.IsAbs(p.glob) || strings.HasPrefix(p.glob, "{") &&
		(strings.Contains(p.glob, "{/") || strings.Contains(p.glob, ",/"))
}

// plainTexts appends texts that stand in every path that the pattern matches. A
// slash ends a text: a ** beside it may stand for no folder at all. After [ or {
// the path may be one of several things. U+FFFD matches any byte that is not UTF-8.
func (p pathPattern) plainTexts(texts []string) []string {
	glob, _, _ := strings.Cut(p.glob, "\uFFFD")
	for {
		i := strings.IndexAny(glob, `*?/\[{`)
		if i < 0 {
			return append(texts, glob)
		}
		texts = append(texts, glob[:i])
		if glob[i] == '[' || glob[i] == '{' {
			return texts
		}
		glob = glob[i+1:]
	}
}
