package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// findings checks a file and returns a line for each finding.
func findings(t *testing.T, name, text string, others ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, o := range others {
		path := filepath.Join(dir, o)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := File(t.Context(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range found {
		out = append(out, f.String())
	}
	return strings.Join(out, "\n")
}

func TestFindings(t *testing.T) {
	const free = "sandbox:\n  paths:\n    proj: {mode: rw, approval: {write: allow}}\n"
	for name, c := range map[string]struct{ text, want string }{
		"problems, all of them": {"tols: {}\nrules: [nonsense]\n", "policy.yaml:1:1: error: unknown key \"tols\" in the file; did you mean \"tools\"?\npolicy.yaml:2:9: error: "},
		"deprecated":            {"pre_approved: [shell]\n", "policy.yaml:1:15: warning: pre_approved is deprecated"},
		"hidden shell rule":     {"shell:\n  rules:\n    - {pattern: git, approval: ask}\n    - {pattern: git log, approval: allow}\n", `the rule for "git log" is never reached`},
		"hidden tool":           {"tools:\n  \"*\": {approval: ask}\n  read_file: {approval: allow}\n", "policy.yaml:3: warning: what is said about tool read_file is never used: * (policy.yaml:2) decides"},
		"tool under a deny":     {"tools:\n  read_file: {approval: allow}\n  \"read_*\": {approval: deny}\n", "policy.yaml:2: warning: what is said about tool read_file is never used: read_* (policy.yaml:3) decides"},
		"allow under a deny":    {"rules:\n  - allow shell(git push origin)\n  - deny shell(git push)\n", "policy.yaml:2: warning: allow shell(git push origin) never holds: deny shell(git push) (policy.yaml:3) denies all of it"},
		"rule said twice":       {"rules:\n  - deny shell\n  - deny shell(rm)\n", "policy.yaml:3: warning: deny shell(rm) says nothing more than deny shell"},
		"unknown root":          {"shell: {rules: [{pattern: ls, sandbox_paths: [out]}]}\n", `sandbox_paths names "out", which is no root`},
		"unknown tool":          {"rules: [deny reed_a_file]\n", `is no tool that is known here; did you mean "read_file"?`},
		"a slip":                {"rules: [deny raed_file]\n", `error: deny raed_file: there is no tool "raed_file"; did you mean "read_file"?`},
		"a slip in tools":       {"tools: {shel: {approval: deny}}\n", `error: tools: there is no tool "shel"; did you mean "shell"?`},
		"no slip":               {"rules: [deny tell]\n", `warning: deny tell: "tell" is no tool that is known here`},
		"missing folder":        {"sandbox: {paths: {gone: {}}}\n", `policy.yaml:1: warning: root "gone": stat`},
		"write then run":        {free + "shell:\n  rules:\n    - {pattern: npm test, approval: allow}\n", `policy.yaml:6: warning: "npm test" runs files of the project without asking, and root proj (policy.yaml:3) may be written without asking`},
		"write then run, rules": {"sandbox: {paths: {proj: {mode: rw}}}\nshell: {}\nrules:\n  - allow write_file(proj/**)\n  - allow shell(./run.sh)\n", `policy.yaml:5: warning: "./run.sh" runs files of the project`},
		"git without git_write": {"shell: {rules: [{pattern: git commit, approval: allow}]}\n", `"git commit" writes to .git`},
		"expect":                {free + "expect:\n  write_file(proj/a.md): deny\n", "policy.yaml:5: warning: write_file(proj/a.md) should be deny, and is allow"},
		"expect of a delete":    {free + "expect: [allow delete_file(proj/a.md)]\n", "delete_file(proj/a.md) should be allow, and is ask"},
		"expect of a command":   {free + "shell: {}\nexpect: [allow shell(make)]\n", "shell(make) should be allow, and is ask"},
		"no command":            {"custom_tools: {slack: {approval: ask}}\n", "custom tool slack has no command, and there is no executable tools/slack"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := findings(t, "policy.yaml", c.text); !strings.Contains(got, c.want) {
				t.Errorf("got\n%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestNothingIsFoundInWhatIsFine(t *testing.T) {
	for name, text := range map[string]string{
		"empty":              "",
		"asked writes":       "sandbox: {paths: {proj: {mode: rw}}}\nshell: {rules: [{pattern: npm test, approval: allow}]}\n",
		"sandboxed":          "sandbox: {require_os_sandbox: true, paths: {proj: {mode: rw, approval: {write: allow}}}}\nshell: {rules: [{pattern: npm test, approval: allow}]}\n",
		"expect":             "sandbox: {paths: {proj: {mode: rw, approval: {read: allow, write: ask, delete: deny}}}}\nshell: {rules: [{pattern: rm, approval: deny}]}\nexpect:\n  read_file(proj/a.md): allow\n  write_file(proj/a.md): ask\n  delete_file(proj/a.md): deny\n  shell(rm x): deny\n  shell(ls): ask\n",
		"tools override":     "sandbox: {paths: {proj: {mode: rw}}}\ntools: {write_file: {approval: allow}}\nexpect: {write_file(proj/a.md): allow}\n",
		"JSON arguments":     "sandbox: {paths: {proj: {mode: rw}}}\nexpect: ['ask write_file {\"path\": \"proj/x\", \"content\": \"y\"}']\n",
		"git with git_write": "sandbox: {git_write: true}\nshell: {rules: [{pattern: git commit, approval: allow}]}\n",
		"executable":         "custom_tools: {notify: {}}\n",
		"exception":          "rules: [deny read_file(**/.env)]\nexcept: [read_file(a/.env)]\n",
	} {
		if got := findings(t, "policy.yaml", text, "tools/notify.sh"); got != "" {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestWorkers(t *testing.T) {
	got := findings(t, "a.worker", "---\nmanual: [rad_file, x:y]\n---\n")
	for _, want := range []string{"the worker has no instructions", `manual: there is no tool "rad_file"; did you mean "read_file"?`} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %s", got, want)
		}
	}
}

func TestLookingLeavesNothingBehind(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(file, []byte("sandbox: {paths: {new: {mode: rw}}}\nexpect: {write_file(new/a): ask}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := File(t.Context(), file, ""); err != nil || len(found) != 0 {
		t.Fatal(found, err)
	}
	for _, d := range []string{dir, os.Getenv("TMPDIR")} {
		entries, err := os.ReadDir(d)
		if err != nil || len(entries) > 1 {
			t.Errorf("%s: %v, %v", d, entries, err)
		}
	}
}
