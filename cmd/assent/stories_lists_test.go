package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/agents/permissions"
)

// claudeLists are permission lists as people have them, 24 entries.
const claudeLists = `{"permissions": {
  "allow": ["Bash(npm run test:*)", "Bash(npm run lint)", "Bash(npm install:*)", "Bash(git add:*)", "Bash(git commit:*)",
    "Bash(git checkout:*)", "Bash(go test:*)", "Bash(go build:*)", "Bash(make test)", "Bash(gh pr view:*)",
    "Bash(cargo build:*)", "Bash(docker compose ps)", "Bash(mkdir:*)", "Edit(src/**)", "Read(~/notes/**)",
    "WebFetch(domain:docs.python.org)", "WebSearch", "mcp__github__get_issue"],
  "ask": ["Bash(git push:*)", "Bash(npm publish:*)"],
  "deny": ["Read(.env)", "Read(./secrets/**)", "Bash(rm -rf:*)", "Bash(curl:*)"]
}}`

// claudeCalls are calls of a day, and what Claude Code alone does with them under these lists: it runs what they
// allow, what only reads the project and its own tools; it denies what they deny; the rest it asks about.
var claudeCalls = []struct{ tool, input, before string }{
	{"Bash", "npm run test", "allow"},
	{"Bash", "npm run test -- --watch=false", "allow"},
	{"Bash", "npm run test 2>&1 | tail -20", "allow"},
	{"Bash", "npm run lint", "allow"},
	{"Bash", "npm install", "allow"},
	{"Bash", "npm install lodash", "allow"},
	{"Bash", "git add -A", "allow"},
	{"Bash", "git add src/a.ts", "allow"},
	{"Bash", `git commit -m "fix: the parser"`, "allow"},
	{"Bash", "git add -A && git commit -m wip", "allow"},
	{"Bash", "git checkout -b feature", "allow"},
	{"Bash", "git checkout -- src/a.ts", "allow"},
	{"Bash", "go test ./...", "allow"},
	{"Bash", "go test -run TestX ./pkg", "allow"},
	{"Bash", "go build ./...", "allow"},
	{"Bash", "make test", "allow"},
	{"Bash", "gh pr view 12", "allow"},
	{"Bash", "cargo build --release", "allow"},
	{"Bash", "docker compose ps", "allow"},
	{"Bash", "mkdir -p src/x", "allow"},
	{"Bash", "ls -la", "allow"},
	{"Bash", "cat src/a.ts", "allow"},
	{"Bash", "cd src && ls", "allow"},
	{"Bash", "git status", "allow"},
	{"Bash", "git diff HEAD~1", "allow"},
	{"Bash", "git log --oneline -5", "allow"},
	{"Bash", "grep -rn x src", "allow"},
	{"Bash", "wc -l src/a.ts", "allow"},
	{"Bash", "head -5 package.json", "allow"},
	{"Bash", "echo done", "allow"},
	{"Read", "src/a.ts", "allow"},
	{"Read", "~/notes/n.md", "allow"},
	{"Grep", "", "allow"},
	{"Glob", "", "allow"},
	{"Edit", "src/a.ts", "allow"},
	{"Write", "src/new.ts", "allow"},
	{"WebFetch", "https://docs.python.org/3/", "allow"},
	{"WebSearch", "", "allow"},
	{"TodoWrite", "", "allow"},
	{"mcp__github__get_issue", "", "allow"},
	{"Bash", "git push", "ask"},
	{"Bash", "npm publish", "ask"},
	{"Bash", "make deploy", "ask"},
	{"Bash", "pip install x", "ask"},
	{"Write", "README.md", "ask"},
	{"mcp__github__create_issue", "", "ask"},
	{"Bash", "rm -rf node_modules", "deny"},
	{"Bash", "curl https://example.org", "deny"},
	{"Bash", "cat .env", "deny"},
	{"Read", "secrets/key", "deny"},
}

// claudeInput are the arguments of a call.
func (e *edited) claudeInput(tool, text string) any {
	path := filepath.Join(e.dir, text)
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		path = filepath.Join(e.top, rest)
	}
	switch tool {
	case "Bash":
		return map[string]string{"command": text}
	case "Read":
		return map[string]string{"file_path": path}
	case "Write":
		return map[string]string{"file_path": path, "content": "x\n"}
	case "Edit":
		return map[string]string{"file_path": path, "old_string": "one", "new_string": "two"}
	case "Grep", "Glob":
		return map[string]string{"pattern": "x", "path": e.dir}
	case "WebFetch":
		return map[string]string{"url": text, "prompt": "x"}
	}
	return map[string]string{"x": "y"}
}

// newListed is a project of somebody whose Claude Code has permission lists.
func newListed(t *testing.T) *edited {
	t.Helper()
	e := newEdited(t, "")
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", "src/a.ts": "one\n", "package.json": `{"scripts":{"test":"x"}}`,
		"go.mod": "module x\n", "secrets/key": "k\n", ".env": "A=b\n", "../notes/n.md": "n\n",
		"../.claude/settings.json": claudeLists,
	} {
		e.put(name, text)
	}
	return e
}

// decision is what the hook answers.
func (e *edited) decision(id, tool string, input any) (word, why string) {
	e.t.Helper()
	out, err := e.command("claude-code", "PreToolUse", id, tool, input).Output()
	var reply struct {
		Output struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if bad := json.Unmarshal(out, &reply); err != nil || bad != nil {
		e.t.Fatalf("%s %v: %v, %v, %s", tool, input, err, bad, out)
	}
	return reply.Output.Decision, reply.Output.Reason
}

// S45 Bring your lists. After install a person is asked no more often than before, and what was denied still is.
func TestS45_bring_your_lists(t *testing.T) {
	e := newListed(t)
	lists, err := permissions.Read("claude-code", permissions.Place{Project: e.dir, Dir: e.dir, Environ: e.env()})
	if err != nil {
		t.Fatal(err)
	}
	out := e.assent(0, "install", "claude-code", "--yes", "--careful", "--import")
	for _, part := range []string{
		"allow Bash(npm run test:*)        allow shell(npm run test)", "deny  Read(.env)                  deny read_file(**/.env)",
		"ask   Bash(git push:*)            nothing: assent asks anyway", "Added 22 rules", "What happens next:",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("install does not say %q:\n%s", part, out)
		}
	}
	if len(claudeCalls) != 50 {
		t.Fatalf("there are %d calls", len(claudeCalls))
	}
	before, after := 0, 0
	for _, c := range claudeCalls {
		if c.tool == "Bash" {
			v, why := lists.Judge(c.input, e.dir)
			if (v == permissions.Deny) != (c.before == "deny") || v == permissions.Ask && c.before != "ask" {
				t.Errorf("%s: the lists say %v (%s), and this test %s", c.input, v, why, c.before)
			}
		}
		got, why := e.decision("", c.tool, e.claudeInput(c.tool, c.input))
		if c.before == "ask" {
			before++
		}
		if got == "ask" {
			after++
		}
		if got != c.before {
			t.Errorf("%s %s: before %s, now %s (%s)", c.tool, c.input, c.before, got, why)
		}
	}
	if after > before {
		t.Errorf("a person is asked %d times, and was asked %d times", after, before)
	}
	// Again it adds nothing, and the lists are as they were.
	if out := e.assent(0, "import", "claude", "--yes"); !strings.Contains(out, "No rules were added.") {
		t.Errorf("the second import says %s", out)
	}
	e.assent(0, "uninstall", "claude-code", "--yes")
	if text, err := os.ReadFile(filepath.Join(e.top, ".claude", "settings.json")); err != nil || string(text) != claudeLists {
		t.Errorf("the lists are %s (%v)", text, err)
	}
}

// S48 What will it say? explain answers exactly as the hook would.
func TestS48_what_will_it_say(t *testing.T) {
	e := newListed(t)
	e.assent(0, "install", "claude-code", "--yes", "--careful", "--import")
	n := 0
	for _, c := range claudeCalls {
		if c.tool != "Bash" {
			continue
		}
		n++
		var said struct {
			Outcome string `json:"outcome"`
		}
		status := map[string]int{"allow": 0, "ask": 0, "deny": 0}[c.before]
		out := e.assent(status, "explain", "--for", "claude-code", "--json", c.input)
		if err := json.Unmarshal([]byte(out), &said); err != nil {
			t.Fatalf("%s: %v in %s", c.input, err, out)
		}
		if got, why := e.decision("", "Bash", e.claudeInput("Bash", c.input)); got != said.Outcome {
			t.Errorf("%s: explain says %s, and the hook %s (%s)", c.input, said.Outcome, got, why)
		}
	}
	if n < 20 {
		t.Errorf("only %d commands were tried", n)
	}
}

// At a terminal install shows the lists, asks once, and says what happens next.
func TestInstallOffersTheLists(t *testing.T) {
	for key, want := range map[string]int{"y": 2, "w": 3, "n": 0} {
		c := assent(t, nil, "install", "claude-code", "--careful")
		file := filepath.Join(c.Dir, ".claude", "settings.json")
		const lists = `{"permissions":{"allow":["Bash(make test)","Bash(*)"],"deny":["Bash(rm -rf:*)"]}}`
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(lists), 0o600); err != nil {
			t.Fatal(err)
		}
		x := start(t, 110, 60, c)
		x.sees("Write it? [y/n]")
		x.types("y")
		x.sees("allow shell(= make test)", "LEFT OUT: it allows every command", "Add 2 rules (y), or the wide ones too (w)? [y/w/n]")
		x.types(key)
		x.sees("What happens next:", "assent uninstall claude-code")
		x.ends(0)
		list := assent(t, nil, "rules", "list", "--json")
		list.Dir, list.Env = c.Dir, c.Env
		out, err := list.Output()
		var kept struct{ Rules []any }
		if bad := json.Unmarshal(out, &kept); err != nil || bad != nil || len(kept.Rules) != want {
			t.Errorf("%s: %v %v, %s, want %d rules", key, err, bad, out, want)
		}
	}
}
