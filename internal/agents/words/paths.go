package words

import (
	"path"
	"strings"

	"github.com/assent-dev/assent/policy"
)

// files reads a path of Claude Code, which is a pattern as in a .gitignore: //x is absolute, ~/x is in the home
// folder, /x is in the folder of the settings, x/y and ./x are in the working folder, and x alone is that name
// at any depth. A folder stands for everything below it.
func files(effect policy.Effect, acts []string, text string, at Place) Reading {
	if text == "*" || text == "**" {
		return rules(effect, acts...)
	}
	deny := effect == policy.EffectDeny
	switch {
	case strings.TrimSpace(text) == "", strings.HasPrefix(text, "!"), strings.ContainsAny(text, "\x00\n\r"):
		return missing("it is not a path")
	case strings.Contains("/"+text+"/", "/../"):
		return missing("it has .. in it; write the path that it means")
	case strings.Contains(text, "[:"):
		return missing("a rule has no classes such as [:alpha:]; write the characters, such as [a-z]")
	case (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1:
		return missing(`it ends in a \, so that it matches nothing there; write / between folders`)
	case !deny && !at.Typed && (text[0] == '$' || text[0] == '#'):
		return missing(`Claude Code expands no variable and skips what begins with #, so this allows nothing there; write ~/x or //x`)
	}
	var bases []string // "" is the project, and **/ any depth in it
	rest := text
	switch {
	case strings.HasPrefix(text, "//"):
		bases, rest = []string{"/"}, text[2:]
	case text == "~", strings.HasPrefix(text, "~/"):
		if at.Home == "" {
			return missing("the home folder is not known; write an absolute path")
		}
		bases, rest = []string{at.Home + "/"}, strings.TrimPrefix(text[1:], "/")
	case strings.HasPrefix(text, "/") && at.Project:
		bases, rest = []string{""}, text[1:]
		if deny {
			bases = append(bases, "/") // some mean this
		}
	case strings.HasPrefix(text, "/"):
		if !deny {
			return missing("in settings for all projects it is not certain which folder /x is in; write //x for an absolute path")
		}
		bases, rest = []string{"", "/"}, text[1:]
		if at.Home != "" {
			bases = append(bases, at.Home+"/")
		}
	default:
		rest = here(text)
		bases = []string{""}
		if !strings.Contains(strings.Trim(rest, "/"), "/") && (deny || rest == text) && rest != "**" {
			bases = []string{"**/"}
		}
	}
	return paths(effect, acts, bases, below(strings.TrimSuffix(rest, "/"), deny))
}

// here is a path without what stands for the folder itself. What is left must not begin like an absolute path.
func here(text string) string {
	if rest, ok := strings.CutPrefix(text, "./"); ok {
		return strings.TrimLeft(rest, "/")
	}
	return text
}

// below adds what is below a folder. A deny of a plain name has that in it already, and an allow for a name that looks
// like a file is for the file.
func below(rest string, deny bool) string {
	rest = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(rest)
	switch last := path.Base(rest); {
	case rest == "":
		return "**"
	case rest == "**", strings.HasSuffix(rest, "/**"):
		return rest
	case !deny && strings.ContainsAny(last, ".*"), deny && !strings.ContainsAny(last, `*?[]\`):
		return rest
	}
	return rest + "/**"
}

func paths(effect policy.Effect, acts, bases []string, rest string) Reading {
	var patterns []string
	for _, act := range acts {
		for _, b := range bases {
			patterns = append(patterns, act+"("+b+rest+")")
		}
	}
	return rules(effect, patterns...)
}

// globs reads a path of Cursor: a pattern below the workspace, or an absolute one.
func globs(effect policy.Effect, acts []string, text string, at Place) Reading {
	switch {
	case strings.ContainsAny(text, "{}"):
		return missing("what {} mean there is not documented; write an entry for each path")
	case path.IsAbs(text):
		return files(effect, acts, "/"+text, at)
	case effect == policy.EffectAllow && !strings.Contains(text, "/") && !strings.HasPrefix(text, "~"):
		return files(effect, acts, "./"+text, at) // whether it is meant at any depth is not said
	}
	return files(effect, acts, text, at)
}

// spanning reads a path of opencode, where * is any text and does not stop at a slash.
func spanning(effect policy.Effect, acts []string, text string, at Place) Reading {
	if rest, ok := strings.CutPrefix(text, "$HOME/"); ok {
		text = "~/" + rest
	}
	var base string
	backslash := strings.Contains(text, `\`)
	text = strings.NewReplacer("[", `\[`, "]", `\]`).Replace(text) // they are names there, such as app/[id]
	rest := here(text)
	switch {
	case text == "*" || text == "**":
		return rules(effect, acts...)
	case strings.Contains("/"+text+"/", "/../"), backslash:
		return missing("assent does not know what this path means")
	case strings.HasPrefix(text, "~/") && at.Home != "":
		base, rest = at.Home+"/", text[2:]
	case path.IsAbs(text):
		base, rest = "/", text[1:]
	}
	if effect == policy.EffectAllow { // where * stops at a slash, that is less
		return paths(effect, acts, []string{base}, below(strings.TrimSuffix(rest, "/"), false))
	}
	parts := strings.Split(rest, "/")
	var out []string
	for i, p := range parts {
		switch {
		case p == "*" || p == "**":
			out = append(out, "**")
		case strings.Contains(strings.Trim(p, "*"), "*"), strings.HasSuffix(p, "*") && i < len(parts)-1:
			return missing("a * inside of a name stands for folders as well there, which a rule cannot say")
		case strings.HasPrefix(p, "*"):
			out = append(out, "**", p)
		default:
			out = append(out, p)
		}
	}
	return paths(effect, acts, []string{base}, below(strings.Join(out, "/"), true))
}
