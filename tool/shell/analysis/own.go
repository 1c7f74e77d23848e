package analysis

import (
	"path"
	"strings"
)

// ownCommands are those of assent itself that answer, or widen what is allowed. Nobody
// approves their own call.
var ownCommands = map[string]bool{
	"approve": true, "deny": true, "resume": true, "rules": true, "grants": true, "approvals": true, "trust": true,
	"inbox": true, "install": true, "uninstall": true, "call": true, "pending": true,
}

// own marks a command of assent itself.
func (w *walker) own(c *command) {
	if path.Base(c.name()) != "assent" {
		return
	}
	for i, word := range c.words[1:] {
		if !word.Known || ownCommands[word.Text] {
			w.parts[c.part-1].OwnCommand = true
			return
		}
		if i == 0 && !strings.HasPrefix(word.Text, "-") {
			return // another command of it
		}
	}
}
