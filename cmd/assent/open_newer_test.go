package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	embed "github.com/assent-dev/assent"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/team/bridgetest"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/policy"
)

// A program that embeds assent holds to a newer policy of the team too, also for what a person approved before, and for
// a batch that was saved before.
func TestAnOpenAgentTakesTheTeamsNewerPolicy(t *testing.T) {
	dir := t.TempDir()
	team := bridgetest.New("ann")
	team.Bundle.Deciders = nil
	put := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	before := setup.Administrator
	t.Cleanup(func() { setup.Administrator = before })
	setup.Administrator = put("admin.yaml", team.Admin())
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	state := filepath.Join(dir, "state")
	publish := func(policy string) {
		t.Helper()
		team.Bundle.Policy = policy
		if _, err := member.SaveBundle(state, config.Team{Trust: team.Trust, Name: team.Name}, team.Sign()); err != nil {
			t.Fatal(err)
		}
	}
	publish("version: 1\n")
	put("work/a.txt", "a\n")
	a, err := embed.Open(t.Context(), embed.Options{
		Policy: put("policy.yaml", "sandbox: {paths: {w: {root: ./work, mode: rw}}}\n"), Dir: dir, State: state,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	read := policy.Call{Tool: "read_file", Arguments: []byte(`{"path":"w/a.txt"}`)}
	if r := a.Call(t.Context(), read); r.Outcome.State != policy.StateFree {
		t.Fatalf("%s: %s", r.Outcome.State, r.Text)
	}
	write := func(id string) policy.Call {
		return policy.Call{ID: id, Tool: "write_file", Arguments: []byte(`{"path":"w/` + id + `.txt","content":"x"}`)}
	}
	approved, parked := a.Review(t.Context(), write("approved")), a.Review(t.Context(), write("parked"))
	saved, err := json.Marshal(parked)
	if err != nil {
		t.Fatal(err)
	}
	if err := approved.Resolve(t.Context(), approved.Pending()[0].Approve("")); err != nil {
		t.Fatal(err)
	}

	publish("version: 1\nrules: ['deny write_file(w/**)', 'deny read_file(w/a.txt)']\n")
	if r := a.Call(t.Context(), read); r.Outcome.State != policy.StateAutoDenied || !strings.Contains(r.Text, "deny read_file(w/a.txt)") {
		t.Errorf("a read: %s: %s", r.Outcome.State, r.Text)
	}
	if r, err := a.Finish(t.Context(), approved); err != nil || r[0].Outcome.State != policy.StateAutoDenied {
		t.Errorf("what was approved before: %+v %v", r, err)
	}
	restored, err := a.Restore(t.Context(), saved)
	if err != nil || restored.Outcome(0).State != policy.StateAutoDenied {
		t.Errorf("what was saved before: %+v %v", restored.Outcome(0), err)
	}
	if files, err := filepath.Glob(filepath.Join(dir, "work", "*")); err != nil || len(files) != 1 {
		t.Errorf("%v %v", files, err)
	}

	publish("version: 1\ntools: {write_file: {approval: ask}, read_file: {approval: ask}}\n")
	if b := a.Review(t.Context(), read); len(b.Pending()) != 1 {
		t.Errorf("a new ask: %s", b.Outcome(0).State)
	}
	publish("version: 1\nrules: ['allow write_file(w/**)']\n")
	if r := a.Call(t.Context(), write("allowed")); r.Outcome.State != policy.StateAutoApproved {
		t.Errorf("a new allow: %s: %s", r.Outcome.State, r.Text)
	}
}
