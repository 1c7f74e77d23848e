package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// What was denied for the session is left out of lists and searches, like what a rule denies.
func TestListsLeaveOutWhatWasDeniedForTheSession(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"policy.yaml":   "sandbox: {paths: {notes: {approval: {read: ask}}}}\n",
		"notes/plan.md": "the plan\n", "notes/a.md": "no plan\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	answer := func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		if r.Call.Tool == "read_file" {
			return r.Deny("").ForSession(policy.ReachExact), nil
		}
		return r.Approve(""), nil
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	places, err := setup.Here(filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := setup.Resolve(t.Context(), setup.Order{Places: places, Dir: dir, File: filepath.Join(dir, "policy.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	d, err := runs.Open(t.Context(), s, open.Order{Use: open.Run}, 0, func(*runs.Session) approval.Approver { return approval.ApproverFunc(answer) })
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	box, err := d.Box(d.Configuration, open.Tools{})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	gate, err := d.Guard(nil, d.InForce(), box.Tools)
	if err != nil {
		t.Fatal(err)
	}
	call := func(name, args string) string {
		return tool.Call(t.Context(), gate, policy.Call{Tool: name, Arguments: json.RawMessage(args)}).Text
	}
	if got := call("search_files", `{"pattern": "plan"}`); !strings.Contains(got, "plan.md") {
		t.Fatalf("before: %s", got)
	}
	call("read_file", `{"path": "notes/plan.md"}`)
	got := call("search_files", `{"pattern": "plan"}`)
	if strings.Contains(got, "plan.md") || !strings.Contains(got, "a.md") || !strings.Contains(got, `"left_out":1`) {
		t.Errorf("after: %s", got)
	}
}
