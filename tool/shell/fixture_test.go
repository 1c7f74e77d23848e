package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/system"
)

// A bench is a project folder with the tool in front of it.
type bench struct {
	t    *testing.T
	tool *Tool
	set  *tool.Set
	dir  string // the project
	home string
	// rules are what the gate would know beside the config.
	rules *policy.RuleSet
	ran   []Command
}

// newBench makes a project with a git repository, a secret and some files. The
// root is named proj; reads are free, writes and deletes ask.
func newBench(t *testing.T, cfg Config, rules ...string) *bench {
	t.Helper()
	return benchOf(t, cfg, true, rules...)
}

// benchOf makes it with or without a read-only root inside the first.
func benchOf(t *testing.T, cfg Config, docs bool, rules ...string) *bench {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: filepath.Join(top, "proj"), home: filepath.Join(top, "home")}
	for name, content := range map[string]string{
		"proj/.env": "KEY=1\n", "proj/.env.example": "KEY=\n", "proj/README.md": "# readme\n",
		"proj/src/a.go": "package a\n", "proj/src/b.go": "package b\n", "proj/run.sh": "echo hi\n",
		"proj/docs/x.md": "x\n", "home/.ssh/id_rsa": "secret\n",
	} {
		b.write(filepath.Join(top, name), content)
	}
	b.git("init", "-q")
	list := []roots.Root{{
		Name: "proj", Host: b.dir, Mode: roots.ModeReadWrite,
		Approval: map[roots.Access]policy.Verdict{roots.AccessRead: policy.VerdictFree, roots.AccessWrite: policy.VerdictAsk, roots.AccessDelete: policy.VerdictAsk},
	}}
	if docs {
		list = append(list, roots.Root{Name: "docs", Host: filepath.Join(b.dir, "docs"), Mode: roots.ModeReadOnly})
	}
	set, err := roots.New(roots.Options{Home: b.home}, list...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	if cfg.Cwd == "" {
		cfg.Cwd = "proj"
	}
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + b.home, "LANG=C.UTF-8", "TERM=dumb"}
	b.tool, err = New(cfg, set, Options{
		World:  func(dir string) analysis.World { return system.New(dir, env) },
		Run:    func(_ context.Context, c Command) (Result, error) { b.ran = append(b.ran, c); return Result{}, nil },
		Denied: b.denied,
	})
	if err != nil {
		t.Fatal(err)
	}
	if b.set, err = tool.NewSet(b.tool); err != nil {
		t.Fatal(err)
	}
	b.rules = compile(t, rules)
	return b
}

func compile(t *testing.T, texts []string) *policy.RuleSet {
	t.Helper()
	var rules []policy.Rule
	for _, text := range texts {
		r, err := policy.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Source = "policy.yaml:1"
		rules = append(rules, r)
	}
	set, err := policy.CompileRules(rules)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func (b *bench) write(name, content string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) git(args ...string) {
	b.t.Helper()
	c := exec.Command("git", args...)
	c.Dir = b.dir
	if out, err := c.CombinedOutput(); err != nil {
		b.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (b *bench) denied(_ context.Context, a policy.Act) bool {
	call := policy.Call{Tool: a.Name}
	q := policy.Question{Call: &call, Acts: []policy.Act{a}}
	return policy.Policy{Fixed: b.rules}.Judge(q).State == policy.StateAutoDenied
}

// propose prepares a command.
func (b *bench) propose(command string) (approval.Proposal, error) {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		b.t.Fatal(err)
	}
	args, err = canonical.Arguments(args)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.set.Prepare(b.t.Context(), policy.Call{Tool: "shell", Arguments: args})
}

// judge says what would happen to a command: allow, ask, person or deny.
func (b *bench) judge(command string) string {
	p, err := b.propose(command)
	if err != nil {
		return "deny"
	}
	call := policy.Call{Tool: "shell"}
	j := policy.Policy{Fixed: b.rules}.Judge(p.Question(&call, time.Time{}))
	switch {
	case j.State.Runs():
		return "allow"
	case j.State == policy.StatePending && j.PersonOnly:
		return "person"
	case j.State == policy.StatePending:
		return "ask"
	}
	return "deny"
}

// acts shows the acts of a command, one a line, with their verdicts.
func (b *bench) acts(command string) string {
	b.t.Helper()
	p, err := b.propose(command)
	if err != nil {
		return "error: " + err.Error()
	}
	var lines []string
	for _, a := range p.Acts {
		lines = append(lines, fmt.Sprintf("%s %s", a.Verdict, a))
	}
	return strings.Join(lines, "\n")
}

// all checks what happens to many commands.
func (b *bench) all(want string, commands ...string) {
	b.t.Helper()
	for _, c := range commands {
		if got := b.judge(c); got != want {
			b.t.Errorf("%q: %s, want %s\n%s", c, got, want, b.acts(c))
		}
	}
}
