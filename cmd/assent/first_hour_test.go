package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/golden"
	"github.com/assent-dev/assent/internal/screen"
)

// A newcomer sits at a terminal of 80 by 24 in a fresh home, with a shell in a project.
type newcomer struct {
	*tty
	home, project string
}

// claudeSettings is what somebody who has used Claude Code for a while has: 20 entries.
const claudeSettings = `{
  "permissions": {
    "allow": [
      "Bash(npm run test:*)", "Bash(npm run build)", "Bash(git status)", "Bash(git diff:*)", "Bash(git log:*)",
      "Bash(git add:*)", "Bash(git commit:*)", "Bash(ls:*)", "Bash(rg:*)", "Edit(src/**)",
      "Edit(docs/**)", "Read(~/notes/**)", "WebFetch(domain:docs.example.org)", "mcp__github__list_issues"
    ],
    "ask": ["Bash(git push:*)"],
    "deny": ["Read(./.env)", "Read(./secrets/**)", "Bash(curl:*)", "Bash(rm -rf:*)", "WebFetch(domain:evil.example)"]
  }
}
`

func newNewcomer(t *testing.T) *newcomer {
	t.Helper()
	home := "/var/tmp/assent-first-" + rand.Text()[:10] // of one length, because lines wrap
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	n := &newcomer{home: home, project: filepath.Join(home, "shop")}
	for name, text := range map[string]string{".claude/settings.json": claudeSettings, "shop/src/a.js": "1\n", "shop/.git/HEAD": "ref: refs/heads/main\n"} {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("git", "init", "-q", "-b", "main", n.project).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	buildFor(t, home)
	shell := exec.Command("bash", "--norc", "--noprofile", "-i")
	shell.Dir = n.project
	shell.Env = []string{"HOME=" + home, "PATH=" + home + "/.local/bin:" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "PS1=$ ", "TZ=UTC",
		"HISTFILE=/dev/null", "PAGER=cat"}
	n.tty = start(t, 80, 24, shell)
	n.sees("$")
	return n
}

// runs runs a command on an empty screen, and waits for the words.
func (n *newcomer) runs(command string, words ...string) {
	n.t.Helper()
	n.prompts()
	n.screen = screen.New(80, 24)
	n.types(command + "\r")
	n.sees(words...)
}

// prompts waits until the shell takes a command.
func (n *newcomer) prompts() {
	n.t.Helper()
	n.until("the prompt of the shell", func() bool { return strings.HasSuffix(n.raw.String(), "$ ") })
}

// screenIs keeps what is on the screen as a golden file.
func (n *newcomer) screenIs(name string) {
	n.t.Helper()
	lines := strings.Split(strings.TrimRight(n.screen.String(), "\n "), "\n")
	if len(lines) > 24 {
		lines = lines[len(lines)-24:]
	}
	text := strings.ReplaceAll(strings.Join(lines, "\n"), n.home, "/home/someone/of/this/length")
	for _, mask := range []struct{ pattern, with string }{
		{`\d\d:\d\d:\d\d`, "hh:mm:ss"}, {`claude-code-[0-9a-f]{12}`, "claude-code-xxxxxxxxxxxx"},
		{`\b\d+s +`, "Ns  "}, {`\d+m left`, "Nm left"}, {`\b[A-Z0-9]{8}  on`, "XXXXXXXX  on"}, {`\d+ KB`, "N KB"}, {`since Ns +`, "since Ns "},
	} {
		text = regexp.MustCompile(mask.pattern).ReplaceAllString(text, mask.with)
	}
	var out []string
	for _, l := range strings.Split(text, "\n") {
		out = append(out, strings.TrimRight(l, " "))
	}
	golden.Check(n.t, filepath.Join("testdata", "first_hour", name+".screen"), strings.Join(out, "\n")+"\n")
}

// hook asks as Claude Code would, with the command that its settings name.
func (n *newcomer) hook(tool string, input map[string]any) *background {
	n.t.Helper()
	data, err := os.ReadFile(filepath.Join(n.home, ".claude/settings.json"))
	if err != nil {
		n.t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Args    []string
			}
		}
	}
	if err := json.Unmarshal(data, &settings); err != nil {
		n.t.Fatal(err)
	}
	before := settings.Hooks["PreToolUse"][0].Hooks[0]
	event, err := json.Marshal(map[string]any{"session_id": "5f1c2f36-7d1c-4b36-9a51-5b8f6f0f7a11", "transcript_path": n.home + "/t.jsonl",
		"cwd": n.project, "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": "toolu_01"})
	if err != nil {
		n.t.Fatal(err)
	}
	b := &background{t: n.t, cmd: exec.Command(before.Command, before.Args...), ended: make(chan struct{})}
	b.cmd.Dir, b.cmd.Stdin = n.project, bytes.NewReader(event)
	b.cmd.Env = []string{"HOME=" + n.home, "PATH=" + os.Getenv("PATH")}
	b.cmd.Stdout, b.cmd.Stderr = &b.output, &b.output
	if err := b.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	go func() {
		defer close(b.ended)
		_ = b.cmd.Wait() // the status is in the process state
	}()
	n.t.Cleanup(b.kill)
	return b
}

// From "I use Claude Code" to "you must try this": install with lists of 20 entries, the first call, a question in
// the inbox, a rule, status, uninstall. Nobody has to know anything that the screen before did not say.
func TestFirstHour(t *testing.T) {
	t.Parallel()
	n := newNewcomer(t)
	begun := time.Now()

	n.runs("assent status", "Next", "assent install claude-code")
	n.prompts()
	n.screenIs("1-before")

	n.runs("assent install claude-code", "Write it? [y/n]")
	n.screenIs("2-install")
	n.types("y")
	n.sees("Quiet or careful? [q/c]")
	n.screenIs("3-policy")
	n.types("q")
	n.sees("Add 19 rules? [y/n]")
	n.screenIs("4-lists")
	n.types("y")
	n.sees("What happens next:", "puts the settings back")
	n.prompts()
	n.screenIs("5-next")

	// What the lists allowed is not asked, what they denied is refused.
	n.hook("Bash", map[string]any{"command": "git status"}).ends(0, `"allow"`)
	n.hook("Edit", map[string]any{"file_path": n.project + "/src/a.js", "old_string": "1", "new_string": "2"}).ends(0, `"allow"`)
	n.hook("Bash", map[string]any{"command": "curl https://example.org"}).ends(0, `"deny"`)
	n.hook("Read", map[string]any{"file_path": n.project + "/.env"}).ends(0, `"deny"`)

	n.runs("assent inbox", "Nothing waits")
	asked := n.hook("WebFetch", map[string]any{"url": "https://api.example.com/v1/prices", "prompt": "Which prices?"})
	n.sees("claude-code", "shop (main)", "your choice?")
	n.screenIs("6-inbox")
	n.types("\r")
	n.asked("api.example.com")
	n.screenIs("7-request")
	n.types("a")
	n.offered("allow http_request")
	n.screenIs("8-always")
	n.types("y")
	asked.ends(0, `"allow"`)
	n.sees("Nothing waits · 1 answered")
	n.types("\x03")
	n.sees("1 answered; nothing waits.")
	// The answer was remembered: the next one is not asked.
	n.hook("WebFetch", map[string]any{"url": "https://api.example.com/v1/prices", "prompt": "Again"}).ends(0, `"allow"`)

	n.runs("assent rules list | tail -3", "api.example.com")
	n.prompts()
	n.screenIs("9-rule")
	n.runs("assent status", "Claude Code protected", "Rules", "19 everywhere, 1 for this project")
	n.prompts()
	n.screenIs("10-status")

	n.runs("assent uninstall claude-code", "Write it? [y/n]")
	n.types("y")
	n.sees("no longer asks assent")
	n.prompts()
	n.screenIs("11-uninstall")
	if data, err := os.ReadFile(filepath.Join(n.home, ".claude/settings.json")); err != nil || string(data) != claudeSettings {
		t.Errorf("the settings are %s (%v), want them as they were", data, err)
	}
	if took := time.Since(begun); took > 5*time.Minute {
		t.Errorf("it took %v", took)
	}
	n.types("exit\r")
	n.until("the end", func() bool { return n.over })
}
