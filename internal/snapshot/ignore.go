package snapshot

import "strings"

// builtFolders are ignored where no repository says what is: what package managers and
// builds fill, and can fill again.
var builtFolders = map[string]bool{
	"node_modules": true, "bower_components": true, "target": true, "dist": true, ".venv": true, "venv": true,
	"__pycache__": true, ".tox": true, ".mypy_cache": true, ".pytest_cache": true, ".gradle": true, ".next": true,
}

// An ignoreFile is one file of patterns, and the folder that they are about, below the top of
// the repository.
type ignoreFile struct {
	dir      string
	patterns []ignorePattern
}

type ignorePattern struct {
	glob     string
	negated  bool
	onlyDirs bool
	anchored bool // matched against the whole path below the folder, not the last element
}

// parseIgnore reads a file of patterns as git does.
func parseIgnore(dir, text string) *ignoreFile {
	f := &ignoreFile{dir: dir}
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var p ignorePattern
		if line[0] == '!' {
			p.negated, line = true, line[1:]
		}
		if strings.HasSuffix(line, "/") {
			p.onlyDirs, line = true, strings.TrimSuffix(line, "/")
		}
		p.anchored = strings.Contains(line, "/")
		p.glob = strings.TrimPrefix(line, "/")
		if p.glob != "" {
			f.patterns = append(f.patterns, p)
		}
	}
	return f
}

// ignored reports whether the patterns ignore a path below the top of the repository: the
// last that matches decides, and a file deeper in the tree before one further up.
func ignored(files []*ignoreFile, name string, isDir bool) bool {
	for i := len(files) - 1; i >= 0; i-- {
		f := files[i]
		rel := name
		if f.dir != "" {
			rel = strings.TrimPrefix(name, f.dir+"/")
		}
		base := rel[strings.LastIndexByte(rel, '/')+1:]
		for k := len(f.patterns) - 1; k >= 0; k-- {
			p := &f.patterns[k]
			against := base
			if p.anchored {
				against = rel
			}
			if (isDir || !p.onlyDirs) && wild(p.glob, against) {
				return !p.negated
			}
		}
	}
	return false
}

// wild matches as git's wildmatch does with WM_PATHNAME: a star stops at a slash, two of them
// between slashes do not.
func wild(glob, name string) bool {
	steps := maxSteps
	return wildIn(glob, name, &steps)
}

// maxSteps bounds the work on one pattern: many stars take time exponential in their number.
const maxSteps = 20_000

func wildIn(glob, name string, steps *int) bool {
	for glob != "" {
		if *steps--; *steps < 0 {
			return false
		}
		switch c := glob[0]; c {
		case '*':
			if rest, ok := strings.CutPrefix(glob, "**/"); ok {
				// At the beginning, or behind a slash: any number of folders.
				for {
					if wildIn(rest, name, steps) {
						return true
					}
					i := strings.IndexByte(name, '/')
					if i < 0 {
						return false
					}
					name = name[i+1:]
				}
			}
			if glob == "**" {
				return true
			}
			rest := strings.TrimLeft(glob, "*")
			for i := 0; ; i++ {
				if wildIn(rest, name[i:], steps) {
					return true
				}
				if i == len(name) || name[i] == '/' {
					return false
				}
			}
		case '?':
			if name == "" || name[0] == '/' {
				return false
			}
			glob, name = glob[1:], name[1:]
		case '[':
			if name == "" || name[0] == '/' {
				return false
			}
			matched, used := class(glob, name[0])
			if used == 0 || !matched {
				return false
			}
			glob, name = glob[used:], name[1:]
		case '\\':
			if len(glob) < 2 || name == "" || glob[1] != name[0] {
				return false
			}
			glob, name = glob[2:], name[1:]
		default:
			if name == "" || name[0] != c {
				return false
			}
			glob, name = glob[1:], name[1:]
		}
	}
	return name == ""
}

// class matches a character with a set such as [a-z]; used is 0 if the set has no end.
func class(glob string, c byte) (matched bool, used int) {
	i, not := 1, false
	if i < len(glob) && (glob[i] == '!' || glob[i] == '^') {
		not = true
		i++
	}
	for first := true; i < len(glob); first = false {
		if glob[i] == ']' && !first {
			return matched != not, i + 1
		}
		if rest := glob[i:]; strings.HasPrefix(rest, "[:") {
			if end := strings.Index(rest, ":]"); end > 0 {
				matched = matched || named(rest[2:end], c)
				i += end + 2
				continue
			}
		}
		lo := glob[i]
		if lo == '\\' && i+1 < len(glob) {
			i++
			lo = glob[i]
		}
		hi := lo
		if i+2 < len(glob) && glob[i+1] == '-' && glob[i+2] != ']' {
			i += 2
			hi = glob[i]
		}
		matched = matched || lo <= c && c <= hi
		i++
	}
	return false, 0
}

func named(class string, c byte) bool {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	switch class {
	case "alpha":
		return lower || upper
	case "alnum":
		return lower || upper || digit
	case "digit":
		return digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r'
	case "punct":
		return c > ' ' && c < 0x7f && !lower && !upper && !digit
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
	}
	return false
}
