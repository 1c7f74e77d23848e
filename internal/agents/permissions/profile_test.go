package permissions

import (
	"os"
	"path/filepath"
	"testing"
)

// snapshot is what Claude Code 2.1 writes, shortened.
const snapshot = `# Snapshot file
unalias -a 2>/dev/null || true
shopt -s expand_aliases
# Functions
eval $'myfun () \n{ \n    touch pwned\n}' > /dev/null 2>&1
# Aliases
alias -- g-x='git status'
alias -- ls='ls --color=auto'
alias -- rm='rm -i'
alias -- cat='bat --paging=never'
# Check for rg availability
if ! hash rg 2>/dev/null; then
  function rg {
  rg () { :; }
fi
`

func TestRenamed(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, ".claude", "shell-snapshots", "snapshot-bash-1.sh")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	environ := []string{"HOME=" + home}
	if got := Renamed("myfun", environ); got != "" {
		t.Errorf("without a snapshot: %q", got)
	}
	if err := os.WriteFile(filepath.Join(home, ".bashrc"), []byte("# mine\nif true; then\n\talias up='cd ..'\n\tdeploy() { :; }\nfi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"up", "deploy"} {
		if got := Renamed("true; "+name+" x", environ); got != name {
			t.Errorf("from .bashrc: %q, want %q", got, name)
		}
	}
	if err := os.WriteFile(file, []byte(snapshot), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"ls -la": "", "rm x": "", "rg foo": "", "git status": "", "echo myfun": "", "/bin/cat x": "",
		"myfun": "myfun", "echo a && myfun b": "myfun", "cat x | head": "cat", "x=$(g-x)": "g-x", "for f in a; do cat $f; done": "cat", "'myfun' a": "myfun",
	} {
		if got := Renamed(text, environ); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if got := Renamed("myfun", []string{"HOME=/nowhere", "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude")}); got != "myfun" {
		t.Errorf("another config folder: %q", got)
	}
}
