//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/screen"
)

var claudeModes = []string{"default", "plan", "acceptEdits", "auto", "bypassPermissions", "dontAsk"}

// TestModesWithoutAPrompt has claude -p, in each mode, ask for a command that must be asked, one that
// is denied, one that is allowed, and the same outside its sandbox.
func TestModesWithoutAPrompt(t *testing.T) {
	for _, mode := range claudeModes {
		t.Run(mode, func(t *testing.T) {
			p := newPlace(t)
			p.env = append(p.env, "IS_SANDBOX=1")
			m := newModel(t, "touch asked.txt", "touch denied.txt", `{"command":"touch allowed.txt","dangerouslyDisableSandbox":true}`, "touch allowed.txt")
			setUpClaude(p, m.url)
			p.assent("install", "claude-code", "--yes")
			p.try(filepath.Join(p.agents, "node_modules", ".bin", "claude"), "-p", "Go.", "--permission-mode", mode)
			if mode == "plan" { // nothing is changed in it, whatever is allowed
				for n := range m.commands {
					if said := m.result(n); !strings.Contains(said, "is in plan mode") {
						t.Errorf("%s: the model was told %s", m.commands[n], said)
					}
				}
				p.wantFiles()
				return
			}
			for n, want := range []string{"it needs approval", "deny shell(touch denied.txt)", "outside its own sandbox"} {
				if said := m.result(n); !strings.Contains(said, want) || n != 1 && !strings.Contains(said, "open an inbox") {
					t.Errorf("%s: the model was told %s", m.commands[n], said)
				}
			}
			p.wantFiles("allowed.txt")
		})
	}
}

// TestModesWithAPrompt has claude in a terminal: in each mode the question is shown with its reason,
// nothing runs before the answer, and the answer holds. In plan mode nothing is asked, and nothing runs.
func TestModesWithAPrompt(t *testing.T) {
	for _, mode := range claudeModes {
		t.Run(mode, func(t *testing.T) {
			p := newPlace(t)
			m := newModel(t, "touch asked.txt")
			p.interactiveClaude(m.url)
			p.assent("install", "claude-code", "--yes")
			term := p.terminal("claude", "--permission-mode", mode, "Go.")
			if mode == "plan" {
				term.until("Done.")
				if said := m.result(0); !strings.Contains(said, "is in plan mode") {
					t.Errorf("the model was told %s", said)
				}
				p.wantFiles()
				return
			}
			text := term.until("Do you want to proceed?")
			if !strings.Contains(text, "assent asks: no rule allows it") || !strings.Contains(text, "touch asked.txt") {
				t.Errorf("the prompt is\n%s", text)
			}
			p.wantFiles()
			term.send("\r")
			term.until("Done.")
			p.wantFiles("asked.txt")
		})
	}
}

// TestAskWithAChangedCommand has a hook that asks and replaces the command at once: the person sees
// what will run.
func TestAskWithAChangedCommand(t *testing.T) {
	p := newPlace(t)
	m := newModel(t, "touch denied.txt")
	p.interactiveClaude(m.url)
	answer := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"why it asks","updatedInput":{"command":"touch asked.txt # touch denied.txt"}}}`
	p.write(".claude/settings.json", `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":`+quote("echo '"+answer+"'")+`}]}]}}`)
	term := p.terminal("claude", "Go.")
	if text := term.until("Do you want to proceed?"); !strings.Contains(text, "touch asked.txt # touch denied.txt") || !strings.Contains(text, "why it asks") {
		t.Errorf("the prompt is\n%s", text)
	}
	term.send("\r")
	term.until("Done.")
	p.wantFiles("asked.txt")
}

// TestGeminiAsks has Gemini CLI in a terminal, which takes the question of a hook in place of what its
// own policy denies: we ask about the one command, and not about the one that the policy denies.
func TestGeminiAsks(t *testing.T) {
	p := newPlace(t)
	m := newModel(t, "touch denied2.txt asked.txt", "touch asked.txt")
	setUpGemini(p, m.url)
	p.env = append(p.env, "TERM=xterm-256color")
	p.write(".gemini/policies/my.toml", "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"touch denied2.txt\"\ndecision = \"deny\"\npriority = 100\n")
	p.assent("install", "gemini", "--yes")
	term := p.terminal("gemini", "--model", "gemini-2.5-flash", "-i", "Go.")
	if text := term.until("Allow once"); !strings.Contains(text, "assent asks: no rule allows it") {
		t.Errorf("the prompt is\n%s", text)
	}
	if said := m.result(0); !strings.Contains(said, "Gemini CLI denies it") {
		t.Errorf("the model was told %s", said)
	}
	p.wantFiles()
	term.send("\r")
	term.until("Done.")
	p.wantFiles("asked.txt")
}

// interactiveClaude sets Claude Code up as it is after somebody has answered its first questions.
func (p *place) interactiveClaude(url string) {
	p.t.Helper()
	setUpClaude(p, url)
	const key = "none-00000000000000000000000000"
	p.env = append(p.env, "IS_SANDBOX=1", "TERM=xterm-256color", "ANTHROPIC_API_KEY="+key)
	state, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
		"customApiKeyResponses": map[string]any{"approved": []string{key[len(key)-20:]}},
		"projects":              map[string]any{p.project: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(".claude.json", string(state))
	p.write(".claude/settings.json", `{"skipDangerousModePermissionPrompt": true, "skipAutoPermissionPrompt": true}`)
}

// A terminal has an agent in front of a person.
type terminal struct {
	t      *testing.T
	screen *screen.Screen
	output io.Reader
	input  io.Writer
}

// terminal starts an agent in one. It ends with the test.
func (p *place) terminal(name string, args ...string) *terminal {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	words := []string{filepath.Join(p.agents, "node_modules", ".bin", name)}
	for _, w := range append(words[:1:1], args...) {
		words = append(words, "'"+w+"'")
	}
	// script gives the agent a terminal; its own input and output are pipes.
	c := exec.CommandContext(ctx, "script", "-qfec", "stty rows 50 cols 150; exec "+strings.Join(words[1:], " "), os.DevNull)
	c.Dir, c.Env = p.project, append(p.env[:len(p.env):len(p.env)], "SHELL=/bin/sh")
	input, output := p.startPiped(c)
	term := &terminal{p.t, screen.New(150, 50), output, input}
	p.t.Cleanup(func() {
		defer cancel()
		if !p.t.Failed() { // it writes into its home folder until it ends
			term.send("\x03")
			term.until("again to exit")
			term.send("\x03")
			io.Copy(io.Discard, output) // until the end
		}
		cancel()
		c.Wait() // how it ended says nothing
	})
	return term
}

// until reads until the screen shows a text, and returns all that it shows.
func (term *terminal) until(text string) string {
	term.t.Helper()
	buffer := make([]byte, 4096)
	for {
		n, err := term.output.Read(buffer)
		term.screen.Draw(string(buffer[:n]))
		shown := term.screen.String()
		if strings.Contains(shown, text) {
			return shown
		}
		if err != nil {
			term.t.Fatalf("the terminal ended (%v) before it showed %q:\n%s", err, text, shown)
		}
	}
}

func (term *terminal) send(keys string) {
	term.t.Helper()
	if _, err := io.WriteString(term.input, keys); err != nil {
		term.t.Fatal(err)
	}
}
