package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell"
)

// The shell example of document 000, with its own spellings.
func TestShellOfDocument000(t *testing.T) {
	p := load(t, `
sandbox:
  paths:
    output: {mode: rw}
shell:
  default:
    allowed: true
    approval: true
  rules:
    - pattern: "git status"
      approval: false
    - pattern: "git add"
      approval: true
      description: "Stage files for commit"
    - pattern: "rm"
      allowed: false
    - pattern: "pytest"
      approval: false
      sandbox_paths: [output]
`)
	want := shell.Config{
		Source:  "policy.yaml:5",
		Default: shell.Default{Approval: tool.WordAsk, Source: "policy.yaml:7"},
		Rules: []shell.Rule{
			{Pattern: "git status", Approval: tool.WordAllow, Source: "policy.yaml:10"},
			{Pattern: "git add", Approval: tool.WordAsk, Description: "Stage files for commit", Source: "policy.yaml:12"},
			{Pattern: "rm", Approval: tool.WordDeny, Source: "policy.yaml:15"},
			{Pattern: "pytest", Approval: tool.WordAllow, Paths: []string{"output"}, Source: "policy.yaml:17"},
		},
	}
	if diff := cmp.Diff(want, p.Shell); diff != "" {
		t.Error(diff)
	}
	if len(p.Warnings) != 0 {
		t.Errorf("warnings: %v", p.Warnings)
	}
}

func TestShellKeys(t *testing.T) {
	p := load(t, "sandbox:\n  network: {allow: [docs.example.org]}\nshell:\n  presets: [readonly]\n  cwd: proj/src\n  env: [CI]\n  default: {approval: by_effect}\n")
	s := p.Shell
	if !s.Readonly || s.Cwd != "proj/src" || !cmp.Equal(s.Env, []string{"CI"}) || !s.Default.ByEffect || !cmp.Equal(s.Network.Allow, []string{"docs.example.org"}) || !p.HasShell {
		t.Errorf("%+v", s)
	}
	if load(t, "sandbox: {}\n").HasShell {
		t.Error("a file without shell gives the shell tool")
	}
}

func TestShellProblems(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"preset":       {"shell: {presets: [all]}\n", `unknown preset "all"; there are readonly, git, go`},
		"no pattern":   {"shell: {rules: [{approval: ask}]}\n", "a shell rule needs a pattern"},
		"bad pattern":  {"shell: {rules: [{pattern: 'a; b', approval: ask}]}\n", "a pattern names one command"},
		"deny paths":   {"shell: {rules: [{pattern: rm, approval: deny, sandbox_paths: [x]}]}\n", "sandbox_paths on a deny"},
		"env":          {"shell: {env: [LD_PRELOAD]}\n", `"LD_PRELOAD" cannot be passed on`},
		"two defaults": {"shell: {default: {approval: by_effect, allowed: false}}\n", "by_effect and deny; keep one"},
		"unknown key":  {"shell: {ruels: []}\n", `did you mean "rules"?`},
	} {
		_, err := Load("policy.yaml", []byte(c.text), "/x")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "policy.yaml:1:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestShellWarnings(t *testing.T) {
	p := load(t, "shell:\n  rules:\n    - {pattern: git, approval: allow}\n    - {pattern: git push, approval: ask}\n    - {pattern: ls, approval: allow, sandbox_paths: [nowhere]}\n")
	var all []string
	for _, w := range p.Warnings {
		all = append(all, w.String())
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{`policy.yaml:4:7: the rule for "git push" is never reached: the one for "git" (policy.yaml:3) comes first`, `policy.yaml:5:7: sandbox_paths names "nowhere", which is not a root`} {
		if !strings.Contains(text, want) {
			t.Errorf("no warning %q in\n%s", want, text)
		}
	}
}
