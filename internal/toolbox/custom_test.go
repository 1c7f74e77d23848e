package toolbox_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/command"
)

const customPolicy = `
sandbox: {paths: {tools: {mode: rw, approval: {write: allow}}}}
custom_tools: {greet: {approval: allow}}
`

// customBox opens the tools of a policy with a program in tools/, which they may write. What
// was trusted is that script, if it is not empty.
func customBox(t *testing.T, trusted string) *tool.Gate {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir+"/tools", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"greet.sh": "#!/bin/sh\necho hello\n", "greet.yaml": "description: Greets.\n"} {
		if err := os.WriteFile(dir+"/tools/"+name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p, err := config.Load("policy.yaml", []byte(customPolicy), dir)
	if err != nil {
		t.Fatal(err)
	}
	if trusted != "" {
		p.Trusted = command.Files{
			dir + "/tools/greet.sh": policy.DigestOf([]byte(trusted)), dir + "/tools/greet.yaml": policy.DigestOf([]byte("description: Greets.\n")),
		}
	}
	all, err := config.Combine(nil, config.Tier{Kind: config.Project, Policy: p, Trusted: true})
	if err != nil {
		t.Fatal(err)
	}
	box, err := toolbox.Open(all.Policy, toolbox.Options{
		State: dir + "/state", Environ: os.Environ(), Folder: dir, File: "policy.yaml",
		Hold: func(*config.Policy) (toolbox.Hold, error) { return toolbox.Hold{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	gate, err := tool.Guard(approval.Config{Mode: policy.ModeStrict}, box.Tools...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gate.Close)
	return gate
}

func run(t *testing.T, gate *tool.Gate, name string, args map[string]string) tool.Result {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Call(t.Context(), gate, policy.Call{ID: "1", Tool: name, Arguments: data})
}

// A model that may write the program of a tool, or its definition, does not run its own text
// through the tool.
func TestACustomToolRunsWhatWasThereWhenItsBoxWasOpened(t *testing.T) {
	for file, text := range map[string]string{"tools/greet.sh": "#!/bin/sh\necho evil\n", "tools/greet.yaml": "description: Evil.\n"} {
		gate := customBox(t, "")
		if r := run(t, gate, "greet", map[string]string{}); r.Err != nil || r.Text != "hello" {
			t.Fatalf("%s: %s", r.Outcome.State, r.Text)
		}
		if r := run(t, gate, "write_file", map[string]string{"path": file, "content": text}); r.Err != nil {
			t.Fatal(r.Err)
		}
		if r := run(t, gate, "greet", map[string]string{}); r.Outcome.State != policy.StateBlocked || !strings.Contains(r.Text, file+" changed since assent started") {
			t.Errorf("%s: %s", r.Outcome.State, r.Text)
		}
	}
}

// What was trusted counts from the first call on.
func TestACustomToolRunsWhatWasTrusted(t *testing.T) {
	for trusted, want := range map[string]string{
		"#!/bin/sh\necho hello\n": "hello",
		"#!/bin/sh\necho other\n": "[BLOCKED] greet did not run. Policy forbids it and nobody can approve it: tools/greet.sh changed since policy.yaml was trusted",
	} {
		gate := customBox(t, trusted)
		if r := run(t, gate, "greet", map[string]string{}); !strings.HasPrefix(r.Text, want) {
			t.Errorf("%s: %s", r.Outcome.State, r.Text)
		}
	}
}
