package interp

import (
	"io/fs"
	"slices"
	"strings"
)

// globbed hands on the file names that a field matches, or the field itself.
func (s *shell) globbed(field []seg, yield func(string)) {
	active := false
	var raw strings.Builder
	for _, g := range field {
		raw.WriteString(g.s)
		if g.kind != segQuoted && strings.ContainsAny(g.s, "*?[(") {
			active = true
		}
	}
	if !active || s.opt.noglob {
		yield(raw.String())
		return
	}
	pat := patternText(field)
	if !wild(pat, s.opt.extglob) {
		yield(raw.String())
		return
	}
	matches := s.glob(pat)
	switch {
	case len(matches) > 0:
		for _, m := range matches {
			yield(m)
		}
	case s.opt.failglob:
		s.fail("no match: %s", raw.String())
	case s.opt.nullglob:
	default:
		yield(raw.String())
	}
}

// glob returns the names of files that match a pattern, sorted.
func (s *shell) glob(pat string) []string {
	g := &globber{s: s, dots: s.opt.dotglob}
	var ignore []string
	if v, _ := s.find("GLOBIGNORE"); v != nil && v.set && v.str != "" {
		ignore = strings.Split(v.str, ":")
		g.dots = true
	}
	parts := splitPath(pat)
	prefix := ""
	if strings.HasPrefix(pat, "/") {
		prefix = "/"
		parts = parts[1:]
		for len(parts) > 1 && parts[0] == "" {
			prefix += "/"
			parts = parts[1:]
		}
	}
	g.walk(prefix, parts)
	out := g.out
	if ignore != nil {
		out = slices.DeleteFunc(out, func(name string) bool {
			base := name[strings.LastIndexByte(name, '/')+1:]
			return base == "." || base == ".." || slices.ContainsFunc(ignore, func(p string) bool {
				return s.compile(p, false).match(s, name)
			})
		})
	}
	slices.Sort(out)
	return out
}

type globber struct {
	s    *shell
	dots bool
	out  []string
	size int
}

// splitPath splits a pattern at its slashes; one inside [ ] is an ordinary character.
func splitPath(pat string) []string {
	var parts []string
	start := 0
	for i := 0; i < len(pat); i++ {
		switch pat[i] {
		case '\\':
			i++
			if i < len(pat) && pat[i] == '/' { // a quoted slash still separates
				parts = append(parts, pat[start:i-1])
				start = i + 1
			}
		case '/':
			parts = append(parts, pat[start:i])
			start = i + 1
		}
	}
	return append(parts, pat[start:])
}

// unescape removes the backslashes of a part without wildcards.
func unescape(part string) string {
	var sb strings.Builder
	for i := 0; i < len(part); i++ {
		if part[i] == '\\' && i+1 < len(part) {
			i++
		}
		sb.WriteByte(part[i])
	}
	return sb.String()
}

func (g *globber) found(name string) {
	g.size += len(name) + 16
	g.s.r.bound(g.s, g.size)
	g.out = append(g.out, name)
}

// walk matches the parts below a folder; prefix is the path so far, with its slash.
func (g *globber) walk(prefix string, parts []string) {
	g.s.check()
	part, last := parts[0], len(parts) == 1
	if part == "" {
		for len(parts) > 1 && !slices.ContainsFunc(parts[1:], func(p string) bool { return p != "" }) {
			parts = parts[1:] // several slashes at the end count as one
		}
		if last = len(parts) == 1; last {
			if prefix != "" && g.s.isDir(prefix) {
				g.found(prefix)
			}
			return
		}
		g.walk(prefix+"/", parts[1:])
		return
	}
	if !wild(part, g.s.opt.extglob) {
		name := prefix + unescape(part)
		if last {
			if _, err := g.s.stat(name, true); err == nil {
				g.found(name)
			}
			return
		}
		if g.s.isDir(name) {
			g.walk(name+"/", parts[1:])
		}
		return
	}
	if part == "**" && g.s.opt.globstar {
		g.deep(prefix, parts[1:], 0)
		return
	}
	m := g.s.compile(part, g.s.opt.nocaseglob)
	for _, entry := range g.entries(prefix) {
		name := entry.Name()
		if name[0] == '.' && !g.dots && part[0] != '.' && !strings.HasPrefix(part, `\.`) {
			continue
		}
		if !m.match(g.s, name) {
			continue
		}
		if last {
			g.found(prefix + name)
		} else if g.s.entryIsDir(entry, prefix+name) {
			g.walk(prefix+name+"/", parts[1:])
		}
	}
}

// deep matches ** and what follows it.
func (g *globber) deep(prefix string, rest []string, depth int) {
	if len(rest) == 0 && prefix != "" && depth == 0 {
		g.found(prefix)
	}
	if len(rest) > 0 {
		if !(len(rest) == 1 && rest[0] == "" && prefix == "") {
			g.walk(prefix, rest)
		}
	}
	for _, entry := range g.entries(prefix) {
		name := entry.Name()
		if name[0] == '.' && !g.dots {
			continue
		}
		if len(rest) == 0 {
			g.found(prefix + name)
		}
		if entry.IsDir() { // links are not followed
			g.deep(prefix+name+"/", rest, depth+1)
		}
	}
}

func (g *globber) entries(prefix string) []fs.DirEntry {
	dir := prefix
	if dir == "" {
		dir = "."
	}
	entries, err := g.s.readDir(dir)
	if err != nil {
		return nil
	}
	return entries
}

func (s *shell) entryIsDir(entry fs.DirEntry, path string) bool {
	if entry.Type()&fs.ModeSymlink != 0 {
		return s.isDir(path)
	}
	return entry.IsDir()
}

func (s *shell) isDir(path string) bool {
	info, err := s.stat(path, false)
	return err == nil && info.IsDir()
}
