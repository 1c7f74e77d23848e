package check

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// The blocks of YAML in the documents that the product comes from, as they stand there, and
// what each document says about calls.
var seeds = map[string]struct {
	text string
	want map[string]string // CALL: outcome
}{
	"000 filesystem sandbox": {`
sandbox:
  paths:
    notes:
      root: ./notes
      mode: rw
      suffixes: [.txt, .log]
      write_approval: true   # Writes to this path need approval
      read_approval: false   # Reads don't need approval
    cache:
      root: ./cache
      mode: rw
      write_approval: false  # Cache writes are pre-approved
`, map[string]string{
		"write_file(notes/a.txt)": "ask", "read_file(notes/a.txt)": "allow", "write_file(notes/a.exe)": "deny",
		"write_file(cache/a.json)": "allow", "read_file(cache/a.json)": "allow", "write_file(../../etc/passwd)": "deny",
	}},
	"000 shell tool": {`
shell:
  default:
    allowed: true
    approval: true  # Unknown commands need approval
  rules:
    - pattern: "git status"
      approval: false  # Safe, read-only
    - pattern: "git add"
      approval: true
      description: "Stage files for commit"
    - pattern: "git commit"
      approval: true
      description: "Create a commit"
    - pattern: "rm"
      allowed: false  # Never allow rm
    - pattern: "pytest"
      approval: false
      sandbox_paths: [output]  # Only if paths are in sandbox
`, map[string]string{
		"shell(git status)": "allow", "shell(git status --short)": "allow", "shell(git statusx)": "ask", "shell(git add .)": "ask",
		"shell(git commit -m x)": "ask", "shell(rm -rf build)": "deny", "shell(git status && rm x)": "deny", "shell(make)": "ask",
		"shell(pytest a.py)": "allow", "shell(pytest ../b/a.py)": "ask",
	}},
	"000 story 1, basic sandbox write approval": {`
sandbox:
  paths:
    notes:
      root: ./notes
      mode: rw
      write_approval: true
`, map[string]string{"write_file(notes/log.txt)": "ask", "read_file(notes/log.txt)": "allow"}},
	"000 story 2, pre-approved cache writes": {`
sandbox:
  paths:
    cache:
      root: ./cache
      mode: rw
      write_approval: false
    output:
      root: ./reports
      mode: rw
      write_approval: true
`, map[string]string{"write_file(cache/analysis.json)": "allow", "write_file(output/report.md)": "ask"}},
	"000 story 3, shell command with pattern rules": {`
shell:
  rules:
    - pattern: "git status"
      approval: false
    - pattern: "git diff"
      approval: false
    - pattern: "git log"
      approval: false
    - pattern: "git add"
      approval: true
    - pattern: "git commit"
      approval: true
    - pattern: "git push"
      approval: true
    - pattern: "git reset --hard"
      allowed: false
  default:
    approval: true
`, map[string]string{
		"shell(git status)": "allow", "shell(git diff)": "allow", "shell(git log)": "allow", "shell(git add .)": "ask", "shell(git commit -m x)": "ask",
		"shell(git reset --hard)": "deny", "shell(git reset --hard HEAD~1)": "deny", "shell(ls)": "ask",
	}},
	"000 story 7, OS sandbox as safety net": {`
sandbox:
  paths:
    data:
      root: ./data
      mode: rw
  require_os_sandbox: true
`, map[string]string{"write_file(data/a)": "ask", "write_file(../../etc/passwd)": "deny"}},
	"000 story 8, approval for attachment sharing": {`
sandbox:
  paths:
    input:
      root: ./documents
      mode: ro
      read_approval: true  # Approval needed to share files from here
`, map[string]string{"read_file(input/sensitive.pdf)": "ask", "write_file(input/sensitive.pdf)": "deny"}},
	"001 zone-aware approval": {`
# In worker file
sandbox:
  zones:
    - name: scratch
      mode: rw
      approval:
        write: preApproved    # No prompt for writes to /scratch/*
        delete: preApproved   # No prompt for deletes from /scratch/*
    - name: output
      mode: rw
      approval:
        write: ask            # Prompt before each write to /output/*
        delete: blocked       # Block all deletes from /output/*
`, map[string]string{
		"write_file(scratch/temp.txt)": "allow", "delete_file(scratch/temp.txt)": "allow",
		"write_file(output/report.md)": "ask", "delete_file(output/report.md)": "deny",
	}},
	"001 ApprovalConfig, as YAML": {`
sandbox: {paths: {a: {mode: rw}}}
tools:
  read_file: { preApproved: true }
  write_file: { preApproved: false }
  delete_file: { blocked: true, blockReason: "Disabled" }
`, map[string]string{"read_file(a/x)": "allow", "write_file(a/x)": "ask", "delete_file(a/x)": "deny"}},
	"002 consistency goal": {`
sandbox: {paths: {a: {mode: rw, approval: {write: required}}}}
shell: {rules: [{pattern: make, action: approve}, {pattern: ls, approval: required}]}
`, map[string]string{"write_file(a/x)": "ask", "shell(make)": "ask", "shell(ls)": "ask"}},
	"002 mixed: config overrides the tool": {`
sandbox: {paths: {a: {mode: rw}}}
tool_configs: {write_file: {approval: none}}
`, map[string]string{"write_file(a/x)": "allow"}},
}

// seedExplainer judges calls under the text. There is a folder for each of its roots, and
// for commands where the document names none.
func seedExplainer(t *testing.T, text string, as config.Kind) *explain.Explainer {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "file.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := config.Read(file, as)
	if err != nil {
		t.Fatalf("as a %s: %v", as, err)
	}
	if f.Policy.HasShell && len(f.Policy.Roots) == 0 {
		for _, name := range []string{"output", "other"} {
			f.Policy.Roots = append(f.Policy.Roots, roots.Root{Name: name, Host: filepath.Join(dir, name), Mode: roots.ModeReadWrite})
		}
		f.Policy.Shell.Cwd = "output"
	}
	conf, err := f.Policy.StandIns(dir)
	if err != nil {
		t.Fatal(err)
	}
	e, closing, err := (&look{file: f}).explainer(conf, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := closing(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestSeeds(t *testing.T) {
	for name, seed := range seeds {
		for _, as := range []config.Kind{config.PolicyFile, config.WorkerFile} {
			t.Run(name+", as a "+string(as), func(t *testing.T) {
				e := seedExplainer(t, seed.text, as)
				for call, want := range seed.want {
					expect, err := config.Load("f", []byte("expect: {'"+call+"': "+want+"}"), "/")
					if err != nil {
						t.Fatal(err)
					}
					x := expect.Expect[0]
					if got := e.Explain(t.Context(), explain.Call{Tool: x.Tool, Args: x.Args}); got.Outcome != want {
						t.Errorf("%s is %s, want %s: %s%s", call, got.Outcome, want, got.Why, got.Error)
					}
				}
			})
		}
	}
}

// Document 002, custom tools of an embedding program: required prompts, none does not, and
// nothing said leaves the tool its own mark.
func TestSeed002CustomTools(t *testing.T) {
	p, err := config.Load("w.yaml", []byte(`
custom_tools:
  calculate_stats:
    approval: required       # Always prompt
  send_notification:
    approval: none           # Never prompt (trusted)
  format_output: {}          # Use default (check @requires_approval)
`), "/")
	if err != nil {
		t.Fatal(err)
	}
	free := func(name string) tool.Tool {
		return tool.Func(name, "", func(context.Context, struct{}) (string, error) { return "", nil })
	}
	tools, _, err := tool.Configure(p.Tools, free("calculate_stats"), tool.RequireApproval(free("send_notification"), tool.Approval[struct{}]{}), free("format_output"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(tools...)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]policy.Verdict{"calculate_stats": policy.VerdictAsk, "send_notification": policy.VerdictFree, "format_output": policy.VerdictFree} {
		got, err := set.Prepare(t.Context(), policy.Call{Tool: name, Arguments: []byte("{}")})
		if err != nil || got.Acts[0].Verdict != want {
			t.Errorf("%s: %+v, %v", name, got.Acts, err)
		}
	}
}
