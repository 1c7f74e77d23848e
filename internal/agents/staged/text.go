package staged

import (
	"strings"

	"github.com/assent-dev/assent/present"
)

// maxComment is how much of a command is repeated in the text that stands for it.
const maxComment = 200

// Text is what an agent runs in place of a command: program is the command line of the one that
// answers hooks, state a state folder that is not assent's own. If the command may go to another
// folder, and the agent's shell remembers its own, that is made to follow. The command itself
// stands behind it as a comment.
func Text(program []string, state, token, command string, moves bool) string {
	call := func(word string) string {
		words := append(append([]string{}, program...), word)
		if state != "" {
			words = append(words, "--state", state)
		}
		words = append(words, token)
		for i, w := range words {
			words[i] = quoted(w)
		}
		return strings.Join(words, " ")
	}
	text := call("exec")
	if moves {
		text += `; set -- $?; cd -- "$(` + call("folder") + `)"; (exit $1)`
	}
	return text + " # " + comment(command)
}

func quoted(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=:@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// comment is a command in a line that no shell takes for anything else, and that an agent which
// looks for substitutions (Gemini CLI refuses them, even in comments) finds none in.
func comment(command string) string {
	line := present.SafeLine(command)
	if runes := []rune(line); len(runes) > maxComment {
		line = string(runes[:maxComment]) + "…"
	}
	return strings.NewReplacer("`", "'", "$(", "$ (", "<(", "< (", ">(", "> (", "${", "$ {").Replace(line)
}
