//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// An allow of a command does not answer for what an alias of the person makes of it in Claude Code's
// shell.
func TestAnAliasOfThePerson(t *testing.T) {
	for _, aliased := range []bool{false, true} {
		p := newPlace(t)
		if aliased {
			p.write(".bashrc", "alias echo='touch aliased.txt'\n")
		}
		p.write(".config/assent/config.yaml", "rules:\n  - allow shell(echo hello)\n  - allow write_file(said.txt)\n")
		p.env = append(p.env, "SHELL=/bin/bash")
		p.assent("install", "claude-code", "--yes")
		setUpClaude(p, startModel(t, "echo hello > said.txt"))
		agents[0].start(p)
		_, said := os.Stat(filepath.Join(p.project, "said.txt"))
		_, touched := os.Stat(filepath.Join(p.project, "aliased.txt"))
		if (said == nil) == aliased || touched == nil {
			t.Errorf("aliased %v: said.txt %v, aliased.txt %v", aliased, said, touched)
		}
	}
}
