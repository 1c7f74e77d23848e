package toolbox_test

import (
	"os"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

// Two names for one folder in a sandbox: the file tools work by each, and the stricter mode
// is what the kernel holds commands to.
func TestTwoNamesInTheSandbox(t *testing.T) {
	w := newWorld(t, "sandbox: {paths: {.: {root: ./proj, mode: rw}, p: {root: ./proj/, mode: rw}}}\nshell: {default: {approval: allow}}\n")
	for name, text := range map[string]string{"a.txt": "one", "p/b.txt": "two"} {
		if r := w.call(policy.ModeAsk, yes(""), "write_file", map[string]any{"path": name, "content": text}); r.Err != nil {
			t.Errorf("%s: %v", name, r.Err)
		}
	}
	if r := w.call(policy.ModeAsk, yes(""), "move_file", map[string]any{"source": "p/a.txt", "destination": "c.txt"}); r.Err != nil {
		t.Error(r.Err)
	}
	if r := w.call(policy.ModeStrict, nil, "list_files", map[string]any{"path": "/", "pattern": "**"}); !strings.Contains(r.Text, `["p/b.txt","p/c.txt"]`) {
		t.Errorf("%s %v", r.Text, r.Err)
	}
	if r := w.shell("cat b.txt c.txt"); !strings.Contains(r.Text, "twoone") {
		t.Errorf("%s %v", r.Text, r.Err)
	}

	fixed := newWorld(t, "sandbox: {paths: {w: {root: ./proj, mode: rw, approval: allow}, r: {root: ./proj}}}\nshell: {default: {approval: allow}}\n")
	fixed.write("proj/Makefile", "all:\n\techo x > made\n")
	r := fixed.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": "make"})
	if _, err := os.Stat(fixed.top + "/proj/made"); err == nil || !strings.Contains(r.Text, "Read-only file system") {
		t.Errorf("a command where one name is read-only: %s %v", r.Text, r.Err)
	}
}

func TestAFolderIsSearchedOnce(t *testing.T) {
	w := newWorld(t, "sandbox: {paths: {a: {root: ./proj}, b: {root: ./proj}}}\n")
	w.write("proj/.env", "SECRET")
	w.write("proj/diary", "DENIED")
	set, err := roots.New(roots.Options{}, w.box.Policy.Roots...)
	must(t, err)
	defer set.Close()
	rule, err := policy.ParseRule("deny read_file(b/diary)")
	must(t, err)
	found, err := toolbox.Search(set, []policy.Rule{rule}, true)
	if err != nil || len(found.Masked) != 1 || len(found.Secrets) != 1 {
		t.Errorf("%+v, %v", found, err)
	}
}
