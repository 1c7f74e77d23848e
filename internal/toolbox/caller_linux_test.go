package toolbox_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell"
)

// What a caller denies is denied while a command of its worker runs, too.
func TestACallersWordWhileItRuns(t *testing.T) {
	w := newWorld(t, `
sandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: allow}}}
shell:
  default: {approval: allow}
  rules: [{pattern: touch, approval: deny}]
`)
	w.box = w.open(`
sandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: allow}}}
shell: {default: {approval: allow}, judge: running}
`, w.box)
	for _, text := range []string{"$(printf 'to%s' uch) M", "x=touch; for x in $(echo touch); do $x M; done"} {
		r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": text})
		if got, ok := r.Value.(shell.Result); !ok || !strings.Contains(got.Stopped, "denies \"touch\"") {
			t.Errorf("%q: %+v %s", text, r.Value, r.Text)
		}
		// The caller leaves the whole command to a person.
		if r := w.call(policy.ModeApproveAll, nil, "shell", map[string]any{"command": text}); r.Value != nil || !strings.Contains(r.Text, "only a person") {
			t.Errorf("approve-all: %q: %+v %s", text, r.Value, r.Text)
		}
		if _, err := os.Lstat(w.top + "/proj/M"); err == nil {
			t.Errorf("%q made M", text)
		}
	}
}

// A secret that git may print is asked about once, with the command, and not again as git starts.
func TestATrackedSecretIsAskedOnce(t *testing.T) {
	w := newWorld(t, `
sandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: allow}}}
shell: {presets: [readonly]}
`)
	w.write("proj/.env", "KEY=1\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "-f", ".env"}, {"-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "x"}} {
		c := exec.Command("git", args...)
		c.Dir = w.top + "/proj"
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	person := approvaltest.Script(approvaltest.Yes, approvaltest.No)
	r := w.call(policy.ModeAsk, person, "shell", map[string]any{"command": "git show HEAD"})
	if got, ok := r.Value.(shell.Result); !ok || !strings.Contains(got.Stdout, "+KEY=1") || len(person.Asked()) != 1 {
		t.Errorf("%+v %s, %d questions", r.Value, r.Text, len(person.Asked()))
	}
	if r := w.call(policy.ModeStrict, nil, "shell", map[string]any{"command": "git log -p"}); r.Value != nil {
		t.Errorf("printed without a question: %+v", r.Value)
	}
}

// What the caller asks about is asked once, with the command, and not again as it runs.
func TestACallersQuestionIsAskedOnce(t *testing.T) {
	w := newWorld(t, `
sandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: allow}}}
shell: {default: {approval: ask}, judge: running}
`)
	w.box = w.open(`
sandbox: {paths: {.: {root: TOP/proj, mode: rw, approval: allow}}}
shell: {default: {approval: allow}}
`, w.box)
	w.write("proj/a", "a\n")
	person := approvaltest.Script(approvaltest.Yes, approvaltest.No)
	r := w.call(policy.ModeAsk, person, "shell", map[string]any{"command": "wc -l a; x=$(cat a); sort $x"})
	if got, ok := r.Value.(shell.Result); !ok || got.Stopped != "" || got.Stdout != "1 a\na\n" || len(person.Asked()) != 1 {
		t.Errorf("%+v %s, %d questions", r.Value, r.Text, len(person.Asked()))
	}
}
