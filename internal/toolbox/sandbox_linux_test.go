package toolbox_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool"
)

// free is a policy under which the sandbox alone is enough.
const free = `
sandbox:
  paths:
    .: {root: TOP/proj, mode: rw, approval: allow}
shell:
  default: {approval: ask, when_sandboxed: allow}
`

func TestTheSandboxAloneIsEnough(t *testing.T) {
	w := newWorld(t, free)
	r := w.shell("python3 -c 'open(\"made\",\"w\").write(\"x\")' && cat made")
	if r.Err != nil || !strings.Contains(r.Text, `"stdout":"x"`) || r.Outcome.State != policy.StateFree {
		t.Errorf("%s %v (%s)", r.Text, r.Err, r.Outcome.State)
	}
	if _, err := os.Stat(w.top + "/proj/made"); err != nil {
		t.Error(err)
	}
	for _, e := range w.events {
		if e.Profile.IsZero() {
			t.Errorf("%s does not say what held it", e.Kind)
		}
	}
}

// Each of the conditions is needed: without it the same command asks.
func TestTheSandboxAloneIsNotEnough(t *testing.T) {
	const command = "python3 -c 'print(1)'"
	for name, conf := range map[string]string{
		"the root asks for deletes": strings.Replace(free, "approval: allow}", "approval: {write: allow}}", 1),
		"a root is read-only":       strings.Replace(free, "shell:", "    out: {root: TOP/out, approval: allow}\nshell:", 1),
		"a command is denied":       free + "rules: [deny shell(git push)]\n",
		"a write is denied":         free + "rules: [deny write_file(secret/**)]\n",
		"config denies a command":   strings.Replace(free, "shell:", "shell:\n  rules: [{pattern: git push, approval: deny}]", 1),
		"nobody wants it":           strings.Replace(free, ", when_sandboxed: allow", "", 1),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, conf)
			if r := w.shell(command); r.Outcome.Runs() {
				t.Errorf("it ran: %s", r.Text)
			}
		})
	}
	w := newWorld(t, free, func(h *toolbox.Hold) { *h = toolbox.Hold{} })
	if r := w.shell(command); r.Outcome.Runs() {
		t.Errorf("without a sandbox it ran: %s", r.Text)
	}
}

func TestSecretsAndDeniedFilesAreHidden(t *testing.T) {
	w := newWorld(t, free)
	w.write("proj/.env", "TOKEN=1")
	w.write("proj/private/a", "DIARY")
	w.write("proj/plain", "PLAIN")
	w.write("proj/Makefile", "all:\n\t-@cat .env\n\t-@cat private/a\n\t@cat plain\n")
	w.box = w.open(free+"rules: [deny read_file(private/**)]\n", nil)
	r := w.shell("make")
	if r.Err != nil || strings.Contains(r.Text, "TOKEN") || strings.Contains(r.Text, "DIARY") || !strings.Contains(r.Text, "PLAIN") {
		t.Errorf("%s %v", r.Text, r.Err)
	}
	// A person who was asked about the secret gets it.
	r = w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": "cat .env"})
	if r.Err != nil || !strings.Contains(r.Text, "TOKEN") {
		t.Errorf("%s %v", r.Text, r.Err)
	}
}

func TestAFailureIsExplainedAndRecorded(t *testing.T) {
	w := newWorld(t, free)
	w.write("out/there", "x")
	must(t, exec.Command("git", "init", "-q", w.top+"/proj").Run())
	w.box = w.open(strings.Replace(free, "shell:", "  git_write: false\nshell:", 1), nil)
	for command, want := range map[string]string{
		"cat TOP/out/there":          "sandbox (certain): TOP/out/there exists on this machine",
		"echo x > TOP/out/new":       "sandbox (certain): writing TOP/out/new was refused",
		"sh -c 'cat TOP/out/there'":  "sandbox (certain): TOP/out/there exists",
		"git commit -qm x":           "sandbox (certain): the repository cannot be changed",
		"python3 -c 'raise OSError'": "",
		"false":                      "",
	} {
		before := len(w.refusals())
		r := w.shell(strings.ReplaceAll(command, "TOP", w.top))
		want = strings.ReplaceAll(want, "TOP", w.top)
		told := w.refusals()[before:]
		if want == "" && (strings.Contains(r.Text, "sandbox (") || len(told) > 0) || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %s %v", command, r.Text, r.Err)
		}
		if want != "" && (len(told) == 0 || !strings.HasPrefix(told[0], want) || !strings.Contains(told[0], "to allow it: sandbox: {")) {
			t.Errorf("%s: recorded %q", command, told)
		}
	}
}

func TestLeavingTheSandbox(t *testing.T) {
	w := newWorld(t, free)
	w.write("out/there", "SECRET")
	command := map[string]any{"command": "cat " + w.top + "/out/there"}
	leaving := map[string]any{"command": command["command"], "escalate": true}
	ask := func(mode policy.Mode, p approval.Approver, args map[string]any) tool.Result {
		t.Helper()
		return w.call(mode, p, "shell", args)
	}
	if r := ask(policy.ModeAsk, yes(""), leaving); r.Err == nil || !strings.Contains(r.Err.Error(), "run it without escalate first") {
		t.Errorf("before it failed: %s %v", r.Text, r.Err)
	}
	ask(policy.ModeStrict, nil, command)
	for name, refused := range map[string]tool.Result{
		"strict": ask(policy.ModeStrict, yes(""), leaving), "approve-all": ask(policy.ModeApproveAll, nil, leaving), "nobody": ask(policy.ModeAsk, nil, leaving),
	} {
		if refused.Outcome.Runs() {
			t.Errorf("%s let it out: %s", name, refused.Text)
		}
	}
	if r := ask(policy.ModeAsk, yes(""), leaving); r.Err != nil || !strings.Contains(r.Text, "SECRET") {
		t.Fatalf("a person let it out: %s %v", r.Text, r.Err)
	}
	if r := ask(policy.ModeAsk, yes(""), command); !strings.Contains(r.Text, "SECRET") {
		t.Errorf("the step does not hold for the session: %s", r.Text)
	}
	if r := ask(policy.ModeStrict, nil, command); r.Outcome.Runs() {
		t.Error("a command that was let out runs without a question")
	}
	other := map[string]any{"command": "cat  " + w.top + "/out/./there; true"}
	if r := ask(policy.ModeAsk, yes(""), other); strings.Contains(r.Text, "SECRET") {
		t.Errorf("the step holds for another command: %s", r.Text)
	}
}

func TestOnceWithoutTheSandbox(t *testing.T) {
	w := newWorld(t, free)
	args := map[string]any{"command": "echo x > " + w.top + "/out/new"}
	w.call(policy.ModeStrict, nil, "shell", args)
	args["escalate"] = true
	if r := w.call(policy.ModeAsk, yes("outside"), "shell", args); r.Err != nil || !strings.Contains(r.Text, `"exit_code":0`) {
		t.Fatalf("%s %v", r.Text, r.Err)
	}
	if _, err := os.Stat(w.top + "/out/new"); err != nil {
		t.Error(err)
	}
	if r := w.call(policy.ModeAsk, yes("outside"), "shell", args); r.Err == nil {
		t.Errorf("it left twice: %s", r.Text)
	}
}

func TestNoWayOutToProtectedPaths(t *testing.T) {
	w := newWorld(t, free)
	w.write("proj/.git/config", "[core]\n")
	args := map[string]any{"command": "python3 -c 'open(\".git/config\", \"a\")'"}
	if r := w.call(policy.ModeStrict, nil, "shell", args); !strings.Contains(r.Text, "it is protected") {
		t.Fatalf("%s %v", r.Text, r.Err)
	}
	args["escalate"] = true
	if r := w.call(policy.ModeAsk, yes(""), "shell", args); r.Err == nil || !strings.Contains(r.Err.Error(), "is always blocked") {
		t.Errorf("%s %v", r.Text, r.Err)
	}
	held := newWorld(t, free, func(h *toolbox.Hold) { h.Steps = false })
	if r := held.call(policy.ModeAsk, yes(""), "shell", args); r.Outcome.Runs() {
		t.Error("a way out is offered where there is none")
	}
}

// A mistake in judging a path meets the kernel: the copy inside has a narrower profile here
// than the roots of the tools.
func TestTheFileToolsMeetTheKernel(t *testing.T) {
	w := newWorld(t, free, func(h *toolbox.Hold) {
		h.Profile.Masked = append(h.Profile.Masked, sandbox.Entry{Path: h.Profile.Roots[0].Path + "/hidden"})
		h.Profile.Protected = append(h.Profile.Protected, sandbox.Entry{Path: h.Profile.Roots[0].Path + "/fixed"})
	})
	w.write("proj/hidden/a", "HIDDEN")
	w.write("proj/fixed/a", "FIXED")
	w.write("proj/open/a", "OPEN")
	if r := w.call(policy.ModeStrict, nil, "read_file", map[string]any{"path": "hidden/a"}); strings.Contains(r.Text, "HIDDEN") {
		t.Errorf("%s %v", r.Text, r.Err)
	}
	for path, want := range map[string]string{"fixed/a": "FIXED", "open/a": "changed"} {
		w.call(policy.ModeStrict, nil, "write_file", map[string]any{"path": path, "content": "changed"})
		got, err := os.ReadFile(w.top + "/proj/" + path)
		must(t, err)
		if string(got) != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	for _, left := range []string{".git", ".assent"} {
		if _, err := os.Lstat(w.top + "/proj/" + left); err == nil {
			t.Errorf("%s is left", left)
		}
	}
}

func TestFileToolsInside(t *testing.T) {
	w := newWorld(t, free)
	w.write("proj/a.md", "one\n")
	do := func(name string, args map[string]any, want string) {
		t.Helper()
		if r := w.call(policy.ModeStrict, nil, name, args); !strings.Contains(r.Text, want) {
			t.Errorf("%s: %s %v, want %s", name, r.Text, r.Err, want)
		}
	}
	do("read_file", map[string]any{"path": "a.md"}, "one")
	do("edit_file", map[string]any{"path": "a.md", "old_text": "one", "new_text": "two"}, "Done")
	do("move_file", map[string]any{"source": "a.md", "destination": "sub/b.md"}, "Done")
	do("list_files", map[string]any{"path": "."}, "sub/b.md")
	do("search_files", map[string]any{"pattern": "tw."}, "two")
	do("copy_file", map[string]any{"source": "sub/b.md", "destination": "c.md"}, "Done")
	do("delete_file", map[string]any{"path": "c.md"}, "Done")
	do("make_dir", map[string]any{"path": "x/y"}, "Done")
	do("read_file", map[string]any{"path": "c.md"}, "does not exist")
	do("write_file", map[string]any{"path": "x/y", "content": "x"}, "it is a folder")
}

// A worker that was called is held to its caller's profile too.
func TestAChildIsHeldToItsParent(t *testing.T) {
	w := newWorld(t, `
sandbox:
  paths:
    .: {root: TOP/proj, mode: rw, approval: allow}
  git_write: false
shell: {default: {approval: allow}}
`)
	child := w.open(`
sandbox:
  paths:
    .: {root: TOP/proj, mode: rw, approval: allow}
  git_write: true
  network: true
shell: {default: {approval: allow}}
`, w.box)
	if p := child.Hold.Profile; p.Network.On || p.GitWrite {
		t.Errorf("the child reaches more than its parent: %+v", p)
	}
}

// Hooks outside of .git are protected, and a command that would write there is told so.
func TestHooksElsewhereAreExplained(t *testing.T) {
	for _, git := range []string{"", "  git_write: true\n"} {
		w := newWorld(t, free)
		must(t, exec.Command("git", "init", "-q", w.top+"/proj").Run())
		must(t, exec.Command("git", "-C", w.top+"/proj", "config", "core.hooksPath", ".husky").Run())
		w.box = w.open(strings.Replace(free, "shell:", git+"shell:", 1), nil)
		for command, says := range map[string]string{
			"mkdir -p .husky && echo x > .husky/pre-commit":       "(git runs hooks from it: core.hooksPath in " + w.top + "/proj/.git/config)",
			"python3 -c 'open(\".git/hooks/pre-commit\", \"w\")'": "writing " + w.top + "/proj/.git/hooks/pre-commit was refused: it is protected",
		} {
			r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": command})
			if !strings.Contains(r.Text, says) {
				t.Errorf("%s: %s %v", command, r.Text, r.Err)
			}
		}
		if _, err := os.Lstat(w.top + "/proj/.husky"); err == nil {
			t.Error("something is left behind")
		}
	}
}
