package shell

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestSearchesLeaveFilesAlone: a search that does not open the secret does not ask because
// of it, and one that does names it.
func TestSearchesLeaveFilesAlone(t *testing.T) {
	b := newBench(t, Config{Readonly: true}, "deny read_file(**/.env)")
	b.all("allow", "rg TODO", "rg TODO .", "rg -n --no-ignore TODO", "grep -rn x --include='*.go' .", "grep -r x --include '*.go' --include='*.md'")
	names := func(command string) {
		t.Helper()
		p, err := b.propose(command)
		if err != nil {
			t.Fatal(err)
		}
		why := ""
		for _, act := range p.Acts {
			why += act.Why + "\n"
		}
		if b.judge(command) == "allow" || !strings.Contains(why, "proj/.env, which is denied") {
			t.Errorf("%s: %s\n%s", command, b.judge(command), why)
		}
	}
	names("grep -rn x .")
	names("grep -r x --include='.e*' .")
	names("grep -r x --include='*.go' --exclude='*.c' .")
	names("grep -r x --include='[.]env' .")
	names("rg --hidden TODO")
	names("rg -. TODO")
	names("rg -uu TODO")
	names("rg -g '.env' TODO")
	names("rg -tsh TODO")
	names("grep -r x --include='?env' .")
	names("RIPGREP_CONFIG_PATH=rc rg TODO")
	names("touch src/x; rg TODO")
	b.write(filepath.Join(b.dir, "src/.ignore"), "*.o\n!.env\n")
	names("rg TODO")
	b.write(filepath.Join(b.dir, "src/.ignore"), "*.o\n")
	b.all("allow", "rg TODO")
	b.write(filepath.Join(b.home, ".config/git/ignore"), "!.env\n")
	names("rg TODO")
}
