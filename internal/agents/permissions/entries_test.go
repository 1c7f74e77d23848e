package permissions

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/agents/words"
	"github.com/assent-dev/assent/policy"
)

// around makes files below a folder, and returns the surroundings of an agent in the project there.
func around(t *testing.T, files map[string]string) settings.Surroundings {
	t.Helper()
	top := t.TempDir()
	for name, text := range files {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(top, "home", "project", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	none := func(string) (string, bool) { return "", false }
	s := settings.On(filepath.Join(top, "home"), filepath.Join(top, "home", "project"), none)
	read, list := s.Read, s.List
	s.Read = func(path string) ([]byte, error) { return read(inside(top, path)) }
	s.List = func(path string) []string { return list(inside(top, path)) }
	return s
}

// inside is where a file is that the test has in place of one of the system.
func inside(top, path string) string {
	if strings.HasPrefix(path, top) {
		return path
	}
	return filepath.Join(top, "system", path)
}

// TestEntries reads the lists of each agent whole: whose they are, what each entry is in rules, and which entries make
// exceptions that rules cannot say.
func TestEntries(t *testing.T) {
	for _, c := range []struct {
		agent string
		files map[string]string
		want  string
	}{
		{"claude-code", map[string]string{
			"system/etc/claude-code/managed-settings.json": `{"permissions":{"deny":["Bash(sudo:*)"]}}`,
			"home/.claude/settings.json":                   `{"permissions":{"allow":["Bash(npm test:*)","Bash(git:*)"],"ask":["Bash(git push:*)"],"deny":["Read(.env)"]}}`,
			"home/project/.claude/settings.json":           `{"permissions":{"allow":["Edit(/src/**)"]}}`,
			"home/project/.claude/settings.local.json":     `{"permissions":{"allow":["Bash(make)"]}}`,
		}, `
managed deny Bash(sudo:*) = deny shell(sudo)
user deny Read(.env) = deny read_file(**/.env)
user allow Bash(npm test:*) = allow shell(npm test)
user allow Bash(git:*) = allow shell(git) except Bash(git push:*)
user ask Bash(git push:*) = deny shell(git push)
project allow Edit(/src/**) = allow write_file(src/**)
project allow Bash(make) = allow shell(= make)`},
		{"codex", map[string]string{
			"home/.codex/rules/default.rules":      `prefix_rule(pattern=["git",["log","show"]])` + "\n" + `prefix_rule(pattern=["rm"], decision="forbidden")`,
			"home/project/.codex/rules/team.rules": `prefix_rule(pattern=["gh","pr"], decision="allow")` + "\n" + `prefix_rule(pattern=["gh","pr","create"], decision="prompt")`,
		}, `
user deny prefix_rule "rm" = deny shell(rm)
user allow prefix_rule "git log|show" = allow shell(git log), allow shell(git show)
project allow prefix_rule "gh pr" = allow shell(gh pr) except prefix_rule "gh pr create"
project ask prefix_rule "gh pr create" = deny shell(gh pr create)`},
		{"gemini", map[string]string{
			"home/.gemini/settings.json":            `{"tools":{"allowed":["run_shell_command(git status)","write_file"],"exclude":["web_fetch"]}}`,
			"home/.gemini/policies/mine.toml":       "[[rule]]\ntoolName=\"run_shell_command\"\ncommandPrefix=[\"npm test\",\"go vet\"]\ndecision=\"allow\"\npriority=10\n[[rule]]\ntoolName=\"run_shell_command\"\ncommandRegex=\"rm.*\"\ndecision=\"deny\"\npriority=20\n",
			"home/project/.gemini/policies/it.toml": "[[rule]]\nmcpName=\"github\"\ntoolName=\"*\"\ndecision=\"allow\"\npriority=1\n",
		}, `
user deny tools.exclude: web_fetch = deny gemini:web_fetch
user deny run_shell_command(rm.*) = missing
user allow tools.allowed: run_shell_command(git status) = allow shell(git status)
user allow tools.allowed: write_file = allow write_file
user allow run_shell_command(npm test) = allow shell(npm test)
user allow run_shell_command(go vet) = allow shell(go vet)
project allow github:* = missing`},
		{"cursor", map[string]string{
			"home/.cursor/cli-config.json":   `{"version":1,"permissions":{"allow":["Shell(git)"],"deny":["Read(.env*)"]}}`,
			"home/project/.cursor/cli.json":  `{"permissions":{"allow":["Write(src/**)"]}}`,
			"home/.cursor/permissions.json":  `{"terminalAllowlist":["npm install"],"mcpAllowlist":["github:get_issue"]}`,
			"home/project/.cursor/other.txt": "",
		}, `
user deny Read(.env*) = deny read_file(**/.env*/**)
user allow Shell(git) = allow shell(git)
user allow terminalAllowlist: npm install = allow shell(= npm install)
user allow mcpAllowlist: github:get_issue = allow github:get_issue
project allow Write(src/**) = allow write_file(src/**)`},
		{"opencode", map[string]string{
			"home/.config/opencode/opencode.json": `{"permission":{"bash":{"*":"ask","git *":"allow","git push *":"ask","rm *":"deny"},"edit":{"*":"deny","docs/*":"allow"}}}`,
			"home/project/opencode.jsonc":         "{ // ours\n \"permission\": {\"webfetch\": \"deny\"}, }",
		}, `
user deny bash "rm *" = deny shell(rm)
user deny edit "*" = missing
user allow bash "git *" = allow shell(git) except bash "git push *"
user allow edit "docs/*" = allow write_file(docs/*)
user ask bash "*" = deny shell(*)
user ask bash "git push *" = deny shell(git push)
project deny webfetch "*" = deny http_request`},
	} {
		t.Run(c.agent, func(t *testing.T) {
			entries, problems := Entries(c.agent, around(t, c.files))
			if len(problems) > 0 {
				t.Error(problems)
			}
			got := ""
			for _, e := range entries {
				var rules []string
				for _, r := range e.Rules {
					rules = append(rules, r.String())
				}
				got += fmt.Sprintf("\n%s %s %s = %s", []string{"managed", "user", "project"}[e.Scope], e.Effect, e.Text, strings.Join(rules, ", "))
				if len(rules) == 0 && e.Missing != "" {
					got += "missing"
				}
				if len(e.Except) > 0 {
					got += " except " + strings.Join(e.Except, ", ")
				}
				if (e.Scope == settings.Project) != (e.Project != "") {
					t.Errorf("%s is of the project %q", e.Text, e.Project)
				}
			}
			if got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestEntriesOfAFileThatCannotBeRead has the others read all the same, and the file named.
func TestEntriesOfAFileThatCannotBeRead(t *testing.T) {
	entries, problems := Entries("claude-code", around(t, map[string]string{
		"home/.claude/settings.json":         `{"permissions":{"deny":["Read(.env)"]}}`,
		"home/project/.claude/settings.json": `{"permissions":`,
	}))
	if len(entries) != 1 || len(problems) != 1 || !strings.Contains(problems[0].Error(), "project/.claude/settings.json") {
		t.Errorf("%v, %v", entries, problems)
	}
	// The files of a repository, and one rule, must not take the user's lists along.
	entries, problems = Entries("gemini", around(t, map[string]string{
		"home/.gemini/settings.json":         `{"tools":{"exclude":["run_shell_command(rm)"]}}`,
		"home/.gemini/policies/a.toml":       "[[rule]]\ndecision=\"deny\"\npriority=1\n[[rule]]\ntoolName=\"write_file\"\ndecision=\"deny\"\npriority=1\n",
		"home/project/.gemini/settings.json": `{"tools":`,
	}))
	if len(entries) != 2 || len(problems) != 2 {
		t.Errorf("%v, %v", entries, problems)
	}
	entries, problems = Entries("codex", around(t, map[string]string{
		"home/.codex/rules/default.rules": `prefix_rule(pattern=["rm"], decision="prompt", decision="allow")`,
	}))
	if len(entries) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Error(), "decision twice") {
		t.Errorf("%v, %v", entries, problems)
	}
	if _, problems := Entries("nothing", around(t, nil)); len(problems) != 1 {
		t.Error("an agent that nobody knows has lists")
	}
}

// TestNoAllowIsWiderAndNoDenyNarrower compares what an entry for commands means here, where it is compared as Claude
// Code does, with the rules that it becomes.
func TestNoAllowIsWiderAndNoDenyNarrower(t *testing.T) {
	entries := []string{"git push:*", "git push *", "git push", "git push*", "npm run test:*", "npm run test", "npm run *",
		"npm *", "rm -rf:*", "rm -rf /", "git * main", "git push * --force", "mytool:*", "mytool", "mytool sub:*", "*", "ls:*", "ls*"}
	commands := []string{"git", "git push", "git push origin", "git push origin main", "git push --force", "git push origin --force",
		"git pushx", "git -C x push", "git checkout main", "npm run test", "npm run test unit", "npm run test:unit", "npm run tests",
		"npm run", "npm", "npm install", "rm -rf", "rm -rf /", "rm -rf /tmp/x", "rm -r -f x", "rmdir x", "mytool", "mytool sub",
		"mytool sub x", "mytool other", "ls", "ls -la", "lsof"}
	for _, text := range entries {
		for _, effect := range []policy.Effect{policy.EffectAllow, policy.EffectDeny} {
			r := words.Claude(effect, "Bash("+text+")", words.Place{})
			set, err := policy.CompileRules(r.Rules)
			if err != nil {
				t.Fatal(err)
			}
			theirs := claudePattern(text)
			for _, command := range commands {
				target := policy.CommandTarget(strings.Fields(command)...)
				target.Loose = strings.HasPrefix(command, "mytool")
				act := policy.Act{Name: policy.ActShell, Target: target, Verdict: policy.VerdictAsk, Known: true}
				j := policy.Policy{Rules: set}.Judge(policy.Question{Call: &policy.Call{Tool: "shell"}, Acts: []policy.Act{act}})
				switch {
				case effect == policy.EffectAllow && j.State == policy.StateAutoApproved && !theirs(command):
					t.Errorf("allow Bash(%s) becomes %v, which allows %s", text, r.Rules, command)
				case effect == policy.EffectDeny && j.State != policy.StateAutoDenied && theirs(command) && r.Missing == "":
					t.Errorf("deny Bash(%s) becomes %v, which does not deny %s", text, r.Rules, command)
				}
			}
		}
	}
}
