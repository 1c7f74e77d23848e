package check

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/config"
)

// clean resolves paths that lead through no link.
func clean(path string) (string, error) { return filepath.Clean(path), nil }

var setting = config.Setting{Home: "/home/u", CacheFolder: "/caches", Resolve: clean}

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
	found, err := File(t.Context(), path, "", nil, setting)
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
		"unknown root":          {"shell: {rules: [{pattern: ls, sandbox_paths: [out]}]}\n", `sandbox_paths names "out", which is not a root`},
		"unknown tool":          {"rules: [deny reed_a_file]\n", `no known tool is called "reed_a_file"; did you mean "read_file"?`},
		"a slip":                {"rules: [deny raed_file]\n", `error: deny raed_file: no tool is named "raed_file"; did you mean "read_file"?`},
		"a slip in tools":       {"tools: {shel: {approval: deny}}\n", `error: tools: no tool is named "shel"; did you mean "shell"?`},
		"no slip":               {"rules: [deny tell]\n", `warning: deny tell: no known tool is called "tell"`},
		"missing folder":        {"sandbox: {paths: {gone: {}}}\n", `policy.yaml:1: warning: root "gone": stat`},
		"write then run":        {free + "shell:\n  rules:\n    - {pattern: npm test, approval: allow}\n", `policy.yaml:6: warning: "npm test" runs files of the project without asking, and root proj (policy.yaml:3) may be written without asking`},
		"write then run, rules": {"sandbox: {paths: {proj: {mode: rw}}}\nshell: {}\nrules:\n  - allow write_file(proj/**)\n  - allow shell(./run.sh)\n", `policy.yaml:5: warning: "./run.sh" runs files of the project`},
		"git without git_write": {"sandbox: {git_write: false}\nshell: {rules: [{pattern: git commit, approval: allow}]}\n", `"git commit" writes to .git, which no command may`},
		"expect":                {free + "expect:\n  write_file(proj/a.md): deny\n", "policy.yaml:5: warning: write_file(proj/a.md) should be deny, and is allow"},
		"expect of a delete":    {free + "expect: [allow delete_file(proj/a.md)]\n", "delete_file(proj/a.md) should be allow, and is ask"},
		"expect of a command":   {free + "shell: {}\nexpect: [allow shell(make)]\n", "shell(make) should be allow, and is ask"},
		"shell without a root":  {"rules: []\nshell:\n  presets: [readonly]\n", "policy.yaml:2: error: the shell has no folder to run commands in; add one under sandbox.paths"},
		"which folder":          {"sandbox: {paths: {a: {mode: rw}, b: {mode: rw}}}\nshell:\n  presets: [readonly]\n", `policy.yaml:2: error: shell.cwd is missing: there are several folders (a, b), and none is named "."; set shell.cwd to one of them`},
		"unknown cwd":           {"sandbox: {paths: {a: {mode: rw}}}\nshell:\n  presets: [readonly]\n  cwd: b\n", `policy.yaml:4: error: shell.cwd: "b" begins with no root; there is a`},
		"cwd that is not there": {"sandbox: {paths: {a: {mode: rw}}}\nshell: {cwd: a/b}\n", `policy.yaml:2: error: shell.cwd: a/b is not a folder`},
		"everything":            {"sandbox:\n  paths:\n    a: {mode: rw}\n    b: {root: /}\n", "policy.yaml:4: error: root / would hand over the whole file system"},
		"no folder and no file": {"sandbox:\n  paths:\n    a: {mode: rw}\n    b: {root: /dev/null}\n", `policy.yaml:4: error: root "b": /dev/null is neither a folder nor a file`},
		"a tool's own name":     {"custom_tools:\n  mine: {command: [a]}\n  read_file: {command: [a]}\n", `policy.yaml:3: error: custom tool read_file: `},
		"names that differ":     {"sandbox:\n  paths:\n    a: {root: ./proj, mode: rw}\n    b: {root: ./x/../proj/, mode: rw, approval: {write: allow}}\n", `policy.yaml:4: warning: root "b" is the same folder as root "a" (policy.yaml:3); where they differ the stricter holds: write: ask`},
		"expect of two names":   {"sandbox:\n  paths:\n    a: {root: ./proj, mode: rw}\n    b: {root: ./proj, mode: rw, approval: {write: allow}}\nexpect: {write_file(b/x): allow}\n", "policy.yaml:5: warning: write_file(b/x) should be allow, and is ask"},
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
		"git":                "sandbox: {paths: {proj: {mode: rw}}}\nshell: {rules: [{pattern: git commit, approval: allow}]}\n",
		"git with git_write": "sandbox: {git_write: true, paths: {proj: {mode: rw}}}\nshell: {rules: [{pattern: git commit, approval: allow}]}\n",
		"executable":         "custom_tools: {notify: {}}\n",
		"two names":          "sandbox: {paths: {.: {root: ./proj, mode: rw}, p: {root: ./proj, mode: rw}}}\nshell: {}\nexpect: {write_file(p/a): ask, write_file(a): ask}\n",
		"the only folder":    "sandbox: {paths: {p: {root: ./proj, mode: rw}, q: {root: ./proj/, mode: rw}}}\nshell: {}\n",
		"exception":          "rules: [deny read_file(**/.env)]\nexcept: [read_file(a/.env)]\n",
	} {
		if got := findings(t, "policy.yaml", text, "tools/notify.sh"); got != "" {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestWorkers(t *testing.T) {
	got := findings(t, "a.worker", "---\nmanual: [rad_file, x:y]\n---\n")
	for _, want := range []string{"the worker has no instructions", `manual: no tool is named "rad_file"; did you mean "read_file"?`} {
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
	if found, err := File(t.Context(), file, "", nil, setting); err != nil || len(found) != 0 {
		t.Fatal(found, err)
	}
	for _, d := range []string{dir, os.Getenv("TMPDIR")} {
		entries, err := os.ReadDir(d)
		if err != nil || len(entries) > 1 {
			t.Errorf("%s: %v, %v", d, entries, err)
		}
	}
}

// A folder that may be written freely by one name, and not by another, may not.
func TestWriteThenRunLooksAtAllNames(t *testing.T) {
	got := findings(t, "policy.yaml", "sandbox: {paths: {a: {root: ./proj, mode: rw, approval: {write: allow}}, b: {root: ./proj, mode: rw}}}\n"+
		"shell: {cwd: a, rules: [{pattern: npm test, approval: allow}]}\n")
	if strings.Contains(got, "may be written without asking") {
		t.Error(got)
	}
}

func TestTwoLinksToOneFolder(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{os.Mkdir(dir+"/proj", 0o700), os.Symlink("proj", dir+"/link"),
		os.WriteFile(dir+"/policy.yaml", []byte("sandbox:\n  paths:\n    a: {root: ./link, mode: rw}\n    b: {root: ./proj}\n"), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	real := setting
	real.Resolve = filepath.EvalSymlinks
	found, err := File(t.Context(), dir+"/policy.yaml", "", nil, real)
	if err != nil || len(found) != 1 || found[0].Line != 4 || !strings.Contains(found[0].Text, `the same folder as root "a" (policy.yaml:3)`) {
		t.Error(found, err)
	}
}

// Files that are there for others need no folder of their own; a project's policy is used
// by hooks, which bring one.
func TestAShellWithoutAFolder(t *testing.T) {
	const shell = "shell: {presets: [readonly], rules: [{pattern: rm, approval: deny}]}\n"
	for name, want := range map[string]string{
		"a.worker":            "a.worker:2: error: the shell has no folder",
		".assent/policy.yaml": ".assent/policy.yaml:1: warning: the shell has no folder to run commands in; add one under sandbox.paths. 'assent call'",
		"policy.yaml":         "policy.yaml:1: error: the shell has no folder",
	} {
		text := shell
		if strings.HasSuffix(name, ".worker") {
			text = "---\n" + shell + "---\nhi\n"
		}
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		found, err := File(t.Context(), file, "", nil, setting)
		if err != nil || len(found) != 1 || !strings.HasPrefix(found[0].String(), want) {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(shell+"expect: {shell(rm x): deny, shell(ls): allow}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := File(t.Context(), file, config.UserFile, nil, setting); err != nil || len(found) != 0 {
		t.Errorf("the user's: %v, %v", found, err)
	}
}

// What hooks would do with a project's policy is tried, though commands have no folder.
func TestExamplesOfAPolicyForHooks(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".assent", "policy.yaml")
	text := "shell: {rules: [{pattern: rm, approval: deny}]}\nexpect: {shell(rm x): ask, read_file(a): allow}\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	found, err := File(t.Context(), file, "", nil, setting)
	if err != nil || len(found) != 2 || !strings.Contains(found[1].Text, "shell(rm x) should be ask, and is deny") {
		t.Error(found, err)
	}
}

func TestToolFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"policy.yaml": "custom_tools: {notify: {}}\n", "tools/notify.sh": "#!/bin/sh\n", "tools/notify.yaml": "descripton: x\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := File(t.Context(), dir+"/policy.yaml", "", nil, setting)
	if err != nil || len(found) != 1 || !strings.Contains(found[0].String(), `tools/notify.yaml:1:1: warning: unknown key "descripton"`) {
		t.Error(found, err)
	}
}

// Worker files have tools that no file names.
func TestAWorkerCannotTakeTheNamesOfItsTools(t *testing.T) {
	got := findings(t, "a.worker", "---\ncustom_tools:\n  Worker_Call: {command: [a]}\n---\nhi\n")
	if !strings.Contains(got, "a.worker:3: error: custom tool Worker_Call: ") {
		t.Error(got)
	}
}

// Folders that are not there yet are one folder, and in one another, all the same.
func TestFoldersThatAreMadeLater(t *testing.T) {
	got := findings(t, "policy.yaml", `
sandbox:
  paths:
    out: {mode: rw, approval: {write: allow}}
    too: {root: ./out, mode: rw}
    fix: {root: ./out/fix}
    fixed: {root: ./out/fix/../fix, mode: rw}
    in: {root: ./out/fix/in, mode: rw}
expect:
  write_file(out/a): ask
  write_file(too/a): ask
  write_file(out/fix/a): deny
  write_file(too/fix/in/a): ask
`)
	if strings.Contains(got, "should be") {
		t.Error(got)
	}
	if strings.Contains(got, "a run would end with this") {
		t.Error(got) // one of its names lets it be made
	}
	if !strings.Contains(got, `policy.yaml:5: warning: root "too" is the same folder as root "out" (policy.yaml:4)`) {
		t.Error(got)
	}
}
