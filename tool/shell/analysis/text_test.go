package analysis

import (
	"fmt"
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// described writes parts in a form that reads well in a table:
//
//	run git status @/w      a command and its folder
//	  read /w/a             what it does, below it
//	write> /w/out           a redirection
//	unknown: why            code that cannot be read
func described(parts []Part) string {
	var lines []string
	for _, p := range parts {
		lines = append(lines, describePart(p))
	}
	return strings.Join(lines, "\n")
}

func describePart(p Part) string {
	switch p.Kind {
	case Runs:
		text := "run"
		if p.OwnCommand {
			text = "own"
		}
		for _, word := range p.Words {
			text += " " + describeWord(word)
		}
		if p.Dir == "" {
			return text + " @?"
		}
		if p.Dir != "/w" {
			return text + " @" + p.Dir
		}
		return text
	case Touches:
		verb := map[programs.Kind]string{programs.Read: "read", programs.Write: "write", programs.Delete: "delete"}[p.Access]
		if p.Redirect {
			verb += ">"
		}
		if p.Many {
			return fmt.Sprintf("%s %s %v%s", verb, p.Path, p.Matches, map[bool]string{true: " more"}[p.More])
		}
		if p.Path == "" {
			return verb + " ?"
		}
		return verb + " " + p.Path
	case Connects:
		return "connect " + p.Host + ":" + p.Port
	case Assigns:
		return "assign " + p.Variable
	}
	return "unknown: " + p.Why
}

func describeWord(w programs.Word) string {
	switch {
	case w.Known && (w.Text == "" || strings.ContainsAny(w.Text, " \n\t?*")):
		return fmt.Sprintf("%q", w.Text)
	case w.Known:
		return w.Text
	case w.Glob:
		return "*" + w.Text + "*"
	case w.Number:
		return "#" + w.Text
	case w.Many:
		return "??" + w.Text
	}
	return "?" + w.Text
}
