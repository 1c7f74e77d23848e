package policy

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
)

// A Ground is what spellings of paths in rules depend on. The zero Ground knows nothing.
type Ground struct {
	// Home is the home folder that ~ and $HOME stand for; without one they are refused.
	Home string
	// Resolve returns an absolute path without symbolic links; nil leaves paths as they are.
	Resolve func(string) string
}

// Parse reads the text form of a rule as somebody writes it who works there: [ParseRule] and
// [Rule.Spelled].
func (on Ground) Parse(text string) (Rule, error) {
	rule, err := readRule(text).Spelled(on)
	if err == nil {
		err = rule.Validate()
	}
	if err != nil {
		return Rule{}, err
	}
	return rule, nil
}

// Spelled returns the rule as calls are matched against it: ~ and $HOME stand for the home folder,
// and an absolute path goes through no symbolic link. A spelling that would match nothing is a
// [*RuleError] that says which one works.
func (r Rule) Spelled(on Ground) (Rule, error) {
	connector, name, target, hasTarget := splitPattern(r.Pattern)
	if r.Scope != ScopeTool || !hasTarget || connector != "" || isAny(target) {
		return r, nil
	}
	glob, err := compileName(name, r.fold())
	if err != nil {
		return r, nil // Validate says so
	}
	var spelled string
	switch {
	case matchesAnyName(glob, pathNames):
		spelled, err = on.path(target)
	case glob.match(ActShell):
		spelled, err = on.words(target)
	default:
		return r, nil
	}
	if err != nil {
		return r, r.fault(ErrMalformedRule, err.Error())
	}
	r.Pattern = name + "(" + spelled + ")"
	return r, nil
}

// pathNames are the built-in acts and tools whose targets are paths.
var pathNames = []string{
	ActReadFile, ActWriteFile, ActDeleteFile, ActShareFile, ActProjectCode,
	"edit_file", "list_files", "search_files", "move_file", "copy_file", "make_dir", "file_info",
}

func matchesAnyName(g glob, names []string) bool {
	for _, name := range names {
		if g.match(name) {
			return true
		}
	}
	return false
}

var (
	homeSpelling = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(~|\$HOME|\$\{HOME\})(/|$)`) })
	otherHome    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^~[\w.+-]+(/|$)`) })
	variable     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$(\w+|\{\w+\})(/|$)`) })
	innerHome    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[{,](~|\$HOME|\$\{HOME\})[/,}]`) })
	innerName    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/\$([A-Z_][A-Z0-9_]*(/|$)|\{\w+\}|\()|^\$\(`) })
	drive        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]:\\`) })
	address      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\w+://`) })
)

// path is the target of a rule for files.
func (on Ground) path(target string) (string, error) {
	switch {
	case strings.TrimSpace(target) != target:
		return "", fmt.Errorf("white space around the path %q: take it out", target)
	case strings.IndexAny(target, "\"'`") == 0:
		return "", fmt.Errorf(`a path is written without quotes: take them out, or write \%s for a file of that name`, target)
	case strings.Contains(target, "[:"):
		return "", fmt.Errorf("there are no classes such as [:alpha:]: write the characters, such as [a-z]")
	case drive().MatchString(target):
		return "", fmt.Errorf("%q has a drive letter: write / between folders, and no drive", target)
	case homeSpelling().MatchString(target):
		if on.Home == "" {
			return "", fmt.Errorf("the home folder is not known here: write the absolute path in place of %q", target)
		}
		rest := homeSpelling().ReplaceAllString(target, "/")
		target = strings.TrimSuffix(escapeGlob(on.Home), "/") + rest
		if rest == "/" {
			target = escapeGlob(on.Home) // ~ is the folder itself
		}
	case otherHome().MatchString(target):
		return "", fmt.Errorf(`only ~ and ~/ are expanded: write the absolute path, or \%s for a file of that name`, target)
	case variable().MatchString(target):
		return "", fmt.Errorf(`only $HOME is expanded: write the absolute path, or \%s for a file of that name`, target)
	case innerName().MatchString(target):
		return "", fmt.Errorf(`only $HOME at the beginning is expanded: write the absolute path, or \$ for the character in %q`, target)
	case innerHome().MatchString(target):
		return "", fmt.Errorf("~ and $HOME are expanded only at the beginning: write one rule for each folder")
	case address().MatchString(target):
		return "", fmt.Errorf("%q is an address, not a path: use http_request or connect", target)
	}
	if clean := path.Clean(target); clean == ".." || strings.HasPrefix(clean, "../") {
		return "", fmt.Errorf("%q leads out of the folder that paths are relative to: write the absolute path", target)
	}
	return on.resolved(target), nil
}

// resolved follows the symbolic links in the folders that the target spells. What it names itself
// may be a link: then the link is meant.
func (on Ground) resolved(target string) string {
	if on.Resolve == nil || !path.IsAbs(target) {
		return target
	}
	end := strings.IndexAny(target, `*?[{\`)
	if end < 0 {
		end = len(target)
	}
	end = strings.LastIndexByte(target[:end], '/')
	if end <= 0 {
		return target
	}
	folder := path.Clean(target[:end])
	if real := on.Resolve(folder); real != folder {
		return strings.TrimSuffix(escapeGlob(real), "/") + target[end:]
	}
	return target
}

// words is the target of a rule for commands, whose words are known with ~ and $HOME expanded. What
// stands in single quotes is text.
func (on Ground) words(target string) (string, error) {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(target); i++ {
		c := target[i]
		begins := quote == 0 && (i == 0 || target[i-1] == ' ')
		quoted := quote == '"' && target[i-1] == '"' && (i == 1 || target[i-2] == ' ')
		if n := homeWord(target[i:]); n > 0 && (begins || quoted && c == '$') {
			if on.Home == "" || strings.ContainsFunc(on.Home, needsQuotes) {
				return "", fmt.Errorf("write the absolute path in place of %q", target[i:i+n])
			}
			b.WriteString(on.Home)
			i += n - 1
			continue
		}
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(target):
			b.WriteByte(c)
			i++
			c = target[i]
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

// homeWord returns how long the spelling of the home folder is that the text begins with.
func homeWord(text string) int {
	for _, word := range []string{"~", "$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(text, word); ok && (rest == "" || strings.IndexByte("/ \"", rest[0]) >= 0) {
			return len(word)
		}
	}
	return 0
}

func needsQuotes(r rune) bool {
	return !strings.ContainsRune("/._-+@%,:", r) && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
}
