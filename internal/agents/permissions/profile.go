package permissions

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Claude Code runs commands in the person's own shell, with the aliases and functions that it
// finds there when it runs the first one: they then lie in files of its config folder. Until then
// there is what the person wrote.
const (
	snapshots    = "shell-snapshots"
	ownFunctions = "# Check for " // what it adds itself begins there
	maxSnapshots = 20             // the newest ones
	maxSnapshot  = 4 << 20
)

// written are the files in the home folder in which people write aliases and functions.
var written = strings.Fields(".bashrc .bash_aliases .bash_profile .bash_login .profile .zshrc .zshenv .zprofile " +
	".zlogin .aliases .functions")

var (
	aliasLine    = pattern(`(?m)^[ \t]*alias (?:-\S* )*'?([^\s='"]+)'?=(.*)$`)
	functionLine = pattern(`(?m)^[ \t]*(?:eval \$')?(?:function )?([^\s'"()$;]+) ?\(\)`)
	harmless     = pattern(`^(?:-[A-Za-z]+|--colou?r(?:=[a-z]+)?)$`)
)

// Renamed names a command of a text that is an alias or a function of the person's own shell, so
// that it is not known what it runs; empty if there is none. An alias that only adds plain options
// to its own name is the program.
func Renamed(text string, environ []string) string {
	names := profile(environ)
	if len(names) == 0 {
		return ""
	}
	for _, c := range split(text).simple {
		if len(c.words) > 0 && c.words[0].fixed && names[c.words[0].text] {
			return c.words[0].text
		}
	}
	return ""
}

// profile are the names of the aliases and functions.
func profile(environ []string) map[string]bool {
	var home, config string
	for _, v := range environ {
		switch name, value, _ := strings.Cut(v, "="); name {
		case "HOME":
			home = value
		case "CLAUDE_CONFIG_DIR":
			config = value
		}
	}
	names := map[string]bool{}
	for _, name := range written {
		readNames(names, filepath.Join(home, name))
	}
	folder := filepath.Join(cmp.Or(config, filepath.Join(home, ".claude")), snapshots)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return names // it has found none yet
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(age(b), age(a)) })
	for _, e := range entries[:min(len(entries), maxSnapshots)] {
		readNames(names, filepath.Join(folder, e.Name()))
	}
	return names
}

// readNames adds the names that a file gives something, if it is there.
func readNames(names map[string]bool, file string) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSnapshot {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	own, _, _ := strings.Cut(string(text), "\n"+ownFunctions)
	addNames(names, own)
}

// age is when a file was changed.
func age(e os.DirEntry) int64 {
	info, err := e.Info()
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

func addNames(names map[string]bool, text string) {
	for _, m := range aliasLine().FindAllStringSubmatch(text, -1) {
		if !itself(m[1], m[2], harmless()) {
			names[m[1]] = true
		}
	}
	for _, m := range functionLine().FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
}

// itself reports whether an alias stands for the program of its name, with plain options.
func itself(name, value string, plain *regexp.Regexp) bool {
	words := strings.Fields(strings.Trim(value, `'"`))
	odd := func(w string) bool { return !plain.MatchString(w) }
	return len(words) > 0 && words[0] == name && !slices.ContainsFunc(words[1:], odd)
}
