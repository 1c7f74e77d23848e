package runner

import (
	"os/user"
	"path/filepath"
	"slices"
	"strings"
)

// An Environment is what a command may know of ours. The zero Environment is empty.
type Environment struct{ entries []string }

// always are the variables that pass without being named.
var always = []string{"PATH", "HOME", "LANG", "TERM", "TZ"}

// fixed are the variables that every command has: no program waits for a person at a
// pager or a password prompt.
var fixed = []string{"GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "PAGER=cat"}

const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// NewEnvironment picks from our own environment PATH, HOME, LANG, TERM, TZ and the
// names, leaves out those that [MayPass] does not let through, and adds what
// every command has. PATH loses folders that are not absolute, so that a project
// cannot put its own program in the place of another; a locale that is not UTF-8
// becomes C.UTF-8, as bash would read other characters than were shown.
func NewEnvironment(own, names []string) Environment {
	values := make(map[string]string)
	for _, entry := range own {
		if name, value, ok := strings.Cut(entry, "="); ok && passes(name, names) {
			values[name] = value
		}
	}
	values["PATH"] = absolutePath(values["PATH"])
	setDefault(values, "TERM", "dumb")
	if u, err := user.Current(); err == nil && values["HOME"] == "" {
		values["HOME"] = u.HomeDir
	}
	entries := slices.Clone(fixed)
	for name, value := range values {
		entries = append(entries, name+"="+readable(name, value))
	}
	slices.Sort(entries)
	return Environment{entries}
}

// Entries returns the variables as NAME=VALUE, sorted by name.
func (e Environment) Entries() []string { return slices.Clone(e.entries) }

// Names returns the names of the variables, sorted.
func (e Environment) Names() []string {
	names := make([]string, len(e.entries))
	for i, entry := range e.entries {
		names[i], _, _ = strings.Cut(entry, "=")
	}
	return names
}

// First returns a copy in which the folder comes first in PATH.
func (e Environment) First(folder string) Environment {
	entries := slices.Clone(e.entries)
	for i, entry := range entries {
		if rest, ok := strings.CutPrefix(entry, "PATH="); ok {
			entries[i] = "PATH=" + folder + ":" + rest
		}
	}
	return Environment{entries}
}

// With returns a copy in which these variables have these values.
func (e Environment) With(values map[string]string) Environment {
	entries := slices.DeleteFunc(slices.Clone(e.entries), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, set := values[name]
		return set
	})
	for name, value := range values {
		entries = append(entries, name+"="+value)
	}
	slices.Sort(entries)
	return Environment{entries}
}

func passes(name string, names []string) bool {
	return MayPass(name) && (slices.Contains(always, name) || slices.Contains(names, name))
}

func setDefault(values map[string]string, name, value string) {
	if values[name] == "" {
		values[name] = value
	}
}

func absolutePath(path string) string {
	var folders []string
	for folder := range strings.SplitSeq(path, ":") {
		if filepath.IsAbs(folder) {
			folders = append(folders, folder)
		}
	}
	if folders == nil {
		return defaultPath
	}
	return strings.Join(folders, ":")
}

// readable returns the value of a variable; that of a locale is one in which bash
// reads text as we do, byte for byte or as UTF-8.
func readable(name, value string) string {
	if name != "LANG" && name != "LC_ALL" && name != "LC_CTYPE" {
		return value
	}
	_, charset, _ := strings.Cut(value, ".")
	charset, _, _ = strings.Cut(strings.ToLower(charset), "@")
	switch {
	case value == "" || value == "C" || value == "POSIX", charset == "utf-8" || charset == "utf8":
		return value
	}
	return "C.UTF-8"
}

// forbidden are variables with which bash, the dynamic linker or an interpreter runs
// or reads something else than the command says, or that are set for every command.
var forbidden = []string{
	"BASH_ENV", "ENV", "BASHOPTS", "SHELLOPTS", "POSIXLY_CORRECT", "IFS", "CDPATH", "GLOBIGNORE", "EXECIGNORE",
	"PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "BASH_XTRACEFD", "BASH_COMPAT", "BASH_LOADABLES_PATH",
	"PAGER", "PWD", "OLDPWD", "SHLVL", "_", Marker,
}

// harmlessGit are the variables of git that name no file and no program.
var harmlessGit = []string{
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE",
	"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
}

// MayPass reports whether a variable of this name may be passed to commands at all,
// if somebody names it.
func MayPass(name string) bool {
	switch {
	case !isName(name), slices.Contains(forbidden, name):
		return false
	case strings.HasPrefix(name, "GIT_"):
		return slices.Contains(harmlessGit, name)
	}
	for _, prefix := range []string{"LD_", "DYLD_", "BASH_FUNC_", "GLIBC_", "MALLOC_"} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return true
}

func isName(name string) bool {
	for i, c := range []byte(name) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// Get returns the value of a variable; empty if it is not set.
func (e Environment) Get(name string) string {
	for _, entry := range e.entries {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}
