package permissions

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A pathPattern is the text of an entry for files, as in a .gitignore.
type pathPattern struct{ re *regexp.Regexp }

// newPathPattern reads the pattern. //x is an absolute path, ~/x one of the home folder. /x is one
// of the folders: the project, the one that the agent is in, and the one that the settings are for.
// So are x/y and ./x/y. Which of them the agent means is not always the same. x alone is a name anywhere.
func newPathPattern(text, home string, folders ...string) (pathPattern, error) {
	if strings.HasPrefix(text, "!") || strings.ContainsAny(text, "\x00\n") || strings.TrimSpace(text) == "" {
		return pathPattern{}, errors.New("assent does not know what it means")
	}
	var bases []string
	rest := text
	switch {
	case strings.HasPrefix(text, "//"):
		bases, rest = []string{""}, text[2:]
	case text == "~", strings.HasPrefix(text, "~/"):
		bases, rest = []string{home}, strings.TrimPrefix(text[1:], "/")
	case strings.HasPrefix(text, "/"):
		bases, rest = append(folders, ""), text[1:]
	default:
		rest = strings.TrimPrefix(text, "./")
		if strings.Contains(strings.TrimSuffix(rest, "/"), "/") {
			bases = folders
		}
	}
	rest = strings.TrimSuffix(rest, "/")
	// What is below a folder is the folder, too.
	glob := globRegexp(strings.TrimSuffix(rest, "/**"))
	if rest == "**" || rest == "" {
		glob = ""
	}
	var starts []string
	for _, b := range bases {
		starts = append(starts, regexp.QuoteMeta(strings.TrimSuffix(strings.ToLower(b), "/")))
	}
	start := "(?:" + strings.Join(starts, "|") + ")"
	switch {
	case bases == nil && glob == "":
		start = "" // anything
	case bases == nil:
		start = "(?:|.*)/"
	case glob != "":
		start += "/"
	}
	re, err := regexp.Compile("(?s)^" + start + glob + "(?:/.*)?$")
	return pathPattern{re}, err
}

// globRegexp is a pattern as a regular expression. Case is no difference, as on some disks.
func globRegexp(glob string) string {
	var b strings.Builder
	glob = strings.ToLower(glob)
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case strings.HasPrefix(glob[i:], "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(".*")
			i++
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?', c == '[', c == ']':
			// A set of characters is taken for any of them: that matches more.
			if c == '[' {
				if end := strings.IndexByte(glob[i:], ']'); end > 0 {
					i += end
				}
			}
			b.WriteString("[^/]")
		case c == '\\' && i+1 < len(glob):
			i++
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	return b.String()
}

func (p pathPattern) matches(path string) bool { return p.re.MatchString(strings.ToLower(path)) }

// maxTried is how many files a command may name before a person must look at it.
const maxTried = 5000

var (
	errMany  = errors.New("it names too many files")
	wildPart = pattern(`[^/]*[*?[][^/]*`)
)

// most is how many meanings of a word, files of a pattern, or folders are tried.
const most = 200

// folders are those that a command may run in: the one it starts in and where cd leads.
func (c *commands) folders(at folders) []string {
	out := []string{at.dir}
	for _, s := range c.simple {
		if p := s.program(); (p == "cd" || p == "pushd") && len(s.words) > 1 {
			for _, to := range c.meanings(s.words[len(s.words)-1], at) {
				for _, from := range slices.Clone(out) {
					if dir := absolute(to, from); len(out) < most && !slices.Contains(out, dir) {
						out = append(out, dir)
					}
				}
			}
		}
	}
	return out
}

var variable = pattern(`\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))`)

// meanings are what a word may be once the shell has put values in, as far as they are known.
func (c *commands) meanings(w word, at folders) []string {
	out := []string{w.text}
	for _, m := range variable().FindAllStringSubmatch(w.text, most) {
		name := m[1] + m[2]
		values := slices.Clone(c.values[name])
		switch name {
		case "HOME":
			values = append(values, at.home)
		case "PWD", "OLDPWD":
			values = append(values, at.dir)
		}
		for _, text := range slices.Clone(out) {
			for _, v := range values {
				if len(out) < most {
					out = append(out, strings.ReplaceAll(text, m[0], v))
				}
			}
		}
	}
	for i, text := range out {
		if text == "~" || strings.HasPrefix(text, "~/") {
			out[i] = at.home + text[1:]
		}
	}
	return out
}

// paths are the files that a word may name: the word, what is behind an = or an @ in it, or behind
// the letter of an option, with patterns as the disk has them, and with and without links.
func (c *commands) paths(w word, dirs []string, at folders) (out []string) {
	if known, ok := c.files[w.text]; ok {
		return known
	}
	defer func() { c.files[w.text] = out }()
	for _, text := range c.meanings(w, at) {
		texts := []string{text}
		if i := strings.LastIndexAny(text, "=@"); i >= 0 {
			texts = append(texts, c.meanings(word{text: text[i+1:]}, at)...)
		}
		if len(text) > 2 && text[0] == '-' && text[1] != '-' {
			texts = append(texts, text[2:])
		}
		for _, t := range texts {
			if t == "" || strings.ContainsRune(t, 0) || len(t) > 4096 {
				continue
			}
			for _, dir := range dirs {
				if c.tried++; c.tried > maxTried {
					c.err = errMany
					return out
				}
				path := absolute(t, dir)
				found := []string{path}
				if strings.ContainsAny(t, "*?[") && len(wildPart().FindAllString(t, 3)) < 3 { // more of them may be the whole disk
					more, _ := filepath.Glob(path) // a pattern that is not one matches nothing
					found = append(found, more[:min(len(more), most)]...)
				}
				for _, p := range found {
					out = append(out, p)
					if real, err := filepath.EvalSymlinks(p); err == nil && real != p {
						out = append(out, real)
					}
				}
			}
		}
	}
	return out
}

func absolute(path, dir string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
