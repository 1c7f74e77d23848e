package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/policy"
)

// A number of days that is too large for a duration does not become a short time.
func TestKeepDaysAreBounded(t *testing.T) {
	u, err := LoadUser("config.yaml", []byte("audit: {keep_days: 213504}"))
	if err != nil || time.Duration(u.Audit.KeepDays)*24*time.Hour < 100*365*24*time.Hour {
		t.Errorf("%+v, %v", u, err)
	}
}

func TestUserConfig(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	u, err := LoadUser("config.yaml", []byte(`
model: openai:gpt-5
providers:
  openai: {base_url: "http://localhost:11434/v1", key_variable: OLLAMA_KEY, max_tokens: 4000}
mode: auto_deny
approvals: false
on_deny: stop
ask_timeout: 5m
limits: {rules: 200}
view: {lines: 80, chars: 4000}
audit: {keep_arguments: none, fsync: all, keep_days: 90, keep_bytes: 1000000}
notify: [notify-send, assent]
notify_after: 20
hook: {ask: inbox, deadline: 55s, observe: true}
gateway: {elicitation: true, hold: 3m}
sandbox: {paths: {notes: {root: ~/notes}}}
rules: [deny shell(git push)]
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(u.Rules.Rules()) != 1 || u.Roots[0].Host != "/home/u/notes" {
		t.Errorf("%+v", u.Policy)
	}
	u.Policy = nil
	want := &User{
		Model: "openai:gpt-5", Providers: map[string]Provider{"openai": {BaseURL: "http://localhost:11434/v1", KeyVariable: "OLLAMA_KEY", MaxTokens: 4000}},
		Mode: policy.ModeStrict, ApprovalsOff: true, StopOnDeny: true, AskTimeout: 5 * time.Minute, MaxRules: 200, ViewLines: 80, ViewChars: 4000,
		Audit:  Audit{KeepArguments: "none", FsyncAll: true, KeepDays: 90, KeepBytes: 1_000_000},
		Notify: []string{"notify-send", "assent"}, NotifyAfter: 20 * time.Second,
		Hook: Hook{Ask: "inbox", Deadline: 55 * time.Second, Observe: true}, Gateway: Gateway{Elicitation: true, Hold: 3 * time.Minute},
	}
	if diff := cmp.Diff(want, u); diff != "" {
		t.Error(diff)
	}
}

func TestUserConfigProblems(t *testing.T) {
	for text, want := range map[string]string{
		"sandbox: {paths: {a: {root: ./a}}}":                    `"./a" is relative, and this file belongs to no folder`,
		"sandbox: {paths: {a: {mode: rw}}}":                     "path a without a root",
		"sandbox: {extra: {read: [a]}}":                         "is relative",
		"mode: never":                                           `unknown mode "never"`,
		"on_deny: go":                                           `unknown word "go"; it is continue, stop`,
		"providers: {ollama: {}}":                               `unknown key "ollama" in providers; it takes anthropic, openai`,
		"providers: {openai: {base_url: 'http://far.example'}}": "would travel unencrypted",
		"audit: {keep_arguments: some}":                         `unknown word "some"`,
		"audit: {keep_days: -1}":                                "not negative",
		"ask_timeout: soon":                                     "a time such as 30s",
		"instructions: x":                                       `unknown key "instructions"`,
		"hook: {aks: deny}":                                     `did you mean "ask"?`,
		"hook: {ask: later}":                                    `unknown word "later"; it is agent, defer, deny, inbox`,
	} {
		_, err := LoadUser("config.yaml", []byte(text+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "config.yaml:1:") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAUserConfigThatOthersCanWriteIsRefused(t *testing.T) {
	dir := t.TempDir()
	if f, err := ReadUser(dir); err != nil || f.User.Model != "" {
		t.Fatalf("no config is an empty one: %v, %v", f, err)
	}
	path := write(t, filepath.Join(dir, "config.yaml"), "model: m\n")
	if f, err := ReadUser(dir); err != nil || f.User.Model != "m" || f.Policy.File != "config.yaml" {
		t.Fatal(f, err)
	}
	if err := os.Chmod(path, 0o606); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadUser(dir); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Error(err)
	}
}

// The administrator's file is used if root alone can have written it.
func TestTheAdministratorsFileBelongsToRoot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "assent")
	if f, err := ReadAdmin(filepath.Join(dir, "policy.yaml")); f != nil || err != nil {
		t.Fatal(f, err)
	}
	path := write(t, filepath.Join(dir, "policy.yaml"), "rules: [deny shell]\n")
	f, err := ReadAdmin(path)
	if root := os.Getuid() == 0; root != (err == nil) {
		t.Fatalf("as user %d: %v", os.Getuid(), err)
	}
	if err == nil && len(f.Policy.Rules.Rules()) != 1 {
		t.Error(f.Policy)
	}
	for _, target := range []string{path, dir} {
		if err := os.Chmod(target, 0o770); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadAdmin(path); err == nil || !strings.Contains(err.Error(), "must belong to root and be writable by nobody else") {
			t.Errorf("%s: %v", target, err)
		}
		if err := os.Chmod(target, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// A folder that only root may enter refuses every call of every user: the reason says how to open it.
func TestAnAdministratorsFolderThatNobodyMayEnter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "assent")
	if err := os.Mkdir(dir, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	_, err := ReadAdmin(filepath.Join(dir, "policy.yaml"))
	if root := os.Getuid() == 0; root != (err == nil) || err != nil && !strings.Contains(err.Error(), "chmod 755 "+dir) {
		t.Error(err)
	}
}
