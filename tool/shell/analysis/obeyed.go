package analysis

import "strings"

// obeyed reports variables that the shell or nearly every program obeys: assigning one
// changes what later commands do.
func obeyed(name string) bool {
	switch name {
	case "PATH", "IFS", "CDPATH", "ENV", "GLOBIGNORE", "EXECIGNORE", "FIGNORE", "POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS",
		"PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "TEXTDOMAIN", "TEXTDOMAINDIR", "HOME", "PWD", "OLDPWD", "SHELL", "TMPDIR",
		"HISTFILE", "INPUTRC", "LANG", "LANGUAGE", "TMOUT", "HOSTFILE", "MAILPATH", "MAIL", "TIMEFORMAT":
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "LC_") ||
		strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "BASH_")
}

// runsCode are variables whose value the shell runs, or that decide what names mean.
var runsCode = map[string]string{
	"PATH":           "PATH is changed: names may mean other programs",
	"PS4":            "PS4 may run code",
	"PS0":            "PS0 may run code",
	"PS1":            "PS1 may run code",
	"PROMPT_COMMAND": "PROMPT_COMMAND runs code",
	"BASH_ENV":       "BASH_ENV names code that shells run",
	"ENV":            "ENV names code that shells run",
	"BASH_CMDS":      "BASH_CMDS changes what names mean",
	"BASH_ALIASES":   "BASH_ALIASES changes what names mean",
	"GLOBIGNORE":     "GLOBIGNORE changes what patterns mean",
	"SHELLOPTS":      "SHELLOPTS changes how the text is read",
	"BASHOPTS":       "BASHOPTS changes how the text is read",
	"BASH_COMPAT":    "BASH_COMPAT changes how the text is read",
	"EXECIGNORE":     "EXECIGNORE changes what names mean",
}
