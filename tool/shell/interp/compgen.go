package interp

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// compgenBuiltin lists what a word could be completed to. Scripts use it to ask whether a
// pattern matches a file (-G) and which functions, variables or commands there are.
func compgenBuiltin(s *shell, args []string) int {
	var actions []string
	glob, wordlist, prefix, suffix := "", "", "", ""
	hasGlob, hasWords := false, false
	short := map[byte]string{'a': "alias", 'b': "builtin", 'c': "command", 'd': "directory", 'e': "export", 'f': "file",
		'k': "keyword", 'v': "variable"}
	bad := ""
	args, ok := s.flags(args, "abcdefgjksuvo:A:G:W:F:C:X:P:S:", func(flag byte, value string) {
		switch flag {
		case 'A':
			actions = append(actions, value)
		case 'G':
			glob, hasGlob = value, true
		case 'W':
			wordlist, hasWords = value, true
		case 'P':
			prefix = value
		case 'S':
			suffix = value
		default:
			if action := short[flag]; action != "" {
				actions = append(actions, action)
			} else {
				s.unsupported("compgen -"+string(flag), s.pos)
			}
		}
	})
	if !ok {
		return 2
	}
	word := ""
	if len(args) > 0 {
		word = args[0]
	}
	var found []string
	add := func(names []string) {
		for _, name := range names {
			if strings.HasPrefix(name, word) {
				found = append(found, name)
			}
		}
	}
	for _, action := range actions {
		switch action {
		case "alias":
			add(slices.Sorted(maps.Keys(s.aliases)))
		case "builtin":
			add(slices.Sorted(maps.Keys(builtins)))
		case "keyword":
			add(keywords)
		case "function":
			add(slices.Sorted(maps.Keys(s.funcs)))
		case "variable", "export":
			for _, name := range s.names() {
				if v := s.lookup(name); v != nil && v.set && (action == "variable" || v.attrs&attrExport != 0) {
					add([]string{name})
				}
			}
		case "file", "directory":
			found = append(found, s.completedFiles(word, action == "directory")...)
		case "command":
			add(keywords)
			add(slices.Sorted(maps.Keys(s.funcs)))
			add(slices.Sorted(maps.Keys(builtins)))
			for dir := range strings.SplitSeq(s.get("PATH"), ":") {
				entries, _ := s.readDir(cmp.Or(dir, "."))
				for _, e := range entries {
					if strings.HasPrefix(e.Name(), word) && s.access(strings.TrimSuffix(dir, "/")+"/"+e.Name(), 1) == nil {
						found = append(found, e.Name())
					}
				}
			}
		case "arrayvar", "binding", "disabled", "enabled", "group", "helptopic", "hostname", "job", "running",
			"service", "setopt", "shopt", "signal", "stopped", "user":
			s.unsupported("compgen -A "+action, s.pos)
		default:
			bad = action
		}
	}
	if bad != "" {
		s.complain("compgen", "%s: invalid action name", bad)
		return 2
	}
	if hasGlob {
		found = append(found, s.glob(glob)...)
	}
	if hasWords {
		if strings.ContainsAny(wordlist, "$`\"'\\") {
			s.unsupported("compgen -W with an expansion", s.pos)
		}
		add(strings.FieldsFunc(wordlist, func(r rune) bool { return strings.ContainsRune(s.ifs(), r) }))
	}
	for _, name := range found {
		if !s.out(prefix + name + suffix + "\n") {
			return 1
		}
	}
	if len(found) == 0 && (len(actions) > 0 || hasGlob || hasWords) {
		return 1
	}
	return 0
}

// completedFiles lists the files whose names begin with a word.
func (s *shell) completedFiles(word string, onlyFolders bool) []string {
	dir, base := "", word
	if i := strings.LastIndexByte(word, '/'); i >= 0 {
		dir, base = word[:i+1], word[i+1:]
	}
	entries, _ := s.readDir(cmp.Or(dir, "."))
	var list []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), base) {
			continue
		}
		if onlyFolders {
			if info, err := s.stat(dir+e.Name(), false); err != nil || !info.IsDir() {
				continue
			}
		}
		list = append(list, dir+e.Name())
	}
	return list
}
