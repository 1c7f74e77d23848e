//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// unattendedClaude runs what the model asks for, where no hook says otherwise.
var unattendedClaude = []string{"claude", "-p", "Go.", "--allowedTools", "Bash(touch:*)"}

// TestVerifySaysWhereTheHookIsNotCalled has each agent run a command that a rule denies, in
// settings of which some keep it from calling the hook. Where the command ran, verify must
// have said that nothing is proven, and where it did not, that it is.
func TestVerifySaysWhereTheHookIsNotCalled(t *testing.T) {
	const claude, codex, gemini = ".claude/settings.json", ".codex/config.toml", ".gemini/settings.json"
	first := func(file, text string) func(*place) {
		return func(p *place) { p.write(file, strings.Replace(p.read(file), "{", "{"+text, 1)) }
	}
	before := func(file, text string) func(*place) { return func(p *place) { p.write(file, text+p.read(file)) } }
	repository := func(file, text string) func(*place) { return func(p *place) { p.write("../project/"+file, text) } }
	for _, c := range []struct {
		agent, name string
		change      func(*place)
	}{
		{"claude-code", "as installed", nil},
		{"claude-code", "a comment", first(claude, "// mine\n")},
		{"claude-code", "a trailing comma", func(p *place) { p.write(claude, strings.TrimSuffix(strings.TrimSpace(p.read(claude)), "}")+",}") }},
		{"claude-code", "an invalid key", first(claude, `"model": 3,`)},
		{"claude-code", "off for the user", first(claude, `"disableAllHooks": true,`)},
		{"claude-code", "off for the repository", repository(".claude/settings.json", `{"disableAllHooks": true}`)},
		{"claude-code", "off for the repository, local", repository(".claude/settings.local.json", `{"disableAllHooks": true}`)},
		{"claude-code", "another folder", func(p *place) { p.env = append(p.env, "CLAUDE_CONFIG_DIR="+filepath.Join(p.home, "else")) }},
		{"codex", "as installed", nil},
		{"codex", "a stale digest", func(p *place) { p.write(codex, strings.Replace(p.read(codex), "sha256:", "sha256:0", 1)) }},
		{"codex", "off for the user", before(codex, "features.hooks = false\n")},
		{"codex", "a comment", first(".codex/hooks.json", "// mine\n")},
		{"codex", "another folder", func(p *place) {
			p.write("else/config.toml", p.read(codex))
			p.env = append(p.env, "CODEX_HOME="+filepath.Join(p.home, "else"))
		}},
		{"gemini", "as installed", nil},
		{"gemini", "off for the user", first(gemini, `"hooksConfig": {"enabled": false},`)},
		{"gemini", "disabled for the user", first(gemini, `"hooksConfig": {"disabled": ["assent"]},`)},
		{"gemini", "off for the repository", repository(".gemini/settings.json", `{"hooksConfig": {"enabled": false}}`)},
		{"gemini", "disabled for the repository", repository(".gemini/settings.json", `{"hooksConfig": {"disabled": ["assent"]}}`)},
	} {
		t.Run(c.agent+"/"+c.name, func(t *testing.T) {
			p := newPlace(t)
			a := agentNamed(c.agent)
			switch c.agent {
			case "claude-code":
				a.line = unattendedClaude
			case "codex":
				a.line = []string{"codex", "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", "Go."}
			}
			a.setUp(p, startModel(t, "touch denied.txt"))
			p.assent("install", c.agent, "--yes")
			if c.agent == "codex" {
				p.trustInCodex()
			}
			if c.change != nil {
				c.change(p)
			}
			said, proven := p.verify(c.agent)
			out := a.start(p)
			_, err := os.Stat(filepath.Join(p.project, "denied.txt"))
			if called := err != nil; called != proven || called != (c.change == nil) {
				t.Errorf("the hook was called: %v; verify: %s\nthe agent: %s", called, said, out)
			}
		})
	}
}

// TestTheHookIsNotLedElsewhere has agents give the hook variables that name another config, in
// which assent only observes.
func TestTheHookIsNotLedElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		agent  string
		change func(p *place, folder string)
	}{
		"the user's settings": {"claude-code", func(p *place, folder string) {
			const file = ".claude/settings.json"
			p.write(file, strings.Replace(p.read(file), "{", `{"env": {"XDG_CONFIG_HOME": "`+folder+`"},`, 1))
		}},
		"a repository's variables": {"gemini", func(p *place, folder string) { p.write("../project/.env", "XDG_CONFIG_HOME="+folder+"\n") }},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			a := agentNamed(c.agent)
			if c.agent == "claude-code" {
				a.line = unattendedClaude
			}
			a.setUp(p, startModel(t, "touch denied.txt"))
			p.assent("install", c.agent, "--yes")
			p.write("../project/looks/assent/config.yaml", "hook: {observe: true}\n")
			c.change(p, filepath.Join(p.project, "looks"))
			out := a.start(p)
			if _, err := os.Stat(filepath.Join(p.project, "denied.txt")); err == nil {
				t.Errorf("a command ran that is denied: %s", out)
			}
		})
	}
}

// read reads a file in the home folder.
func (p *place) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.home, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// verify returns what 'assent verify' says, and whether it calls the agent proven.
func (p *place) verify(agent string) (said string, proven bool) {
	p.t.Helper()
	c := exec.CommandContext(p.t.Context(), filepath.Join(p.bin, "assent"), "verify", agent)
	c.Dir, c.Env = p.project, p.env
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return string(out), err == nil
}

// trustInCodex notes the digests that Codex itself gives its hooks, as its user does with /hooks.
func (p *place) trustInCodex() {
	p.t.Helper()
	c := exec.CommandContext(p.t.Context(), filepath.Join(p.agents, "node_modules", ".bin", "codex"), "app-server")
	c.Dir, c.Env = p.project, p.env
	in, out := p.startPiped(c)
	defer func() {
		_ = in.Close() // which ends it
		_, _ = io.Copy(io.Discard, out)
		_ = c.Wait()
	}()
	fmt.Fprintf(in, `{"id":0,"method":"initialize","params":{"clientInfo":{"name":"e2e","version":"1"}}}
{"method":"initialized"}
{"id":1,"method":"hooks/list","params":{"cwds":[%q]}}
`, p.project)
	var answer struct {
		ID     int
		Result struct {
			Data []struct {
				Hooks []struct{ Key, CurrentHash string }
			}
		}
	}
	for lines := bufio.NewReader(out); answer.ID != 1; {
		line, err := lines.ReadBytes('\n')
		if err != nil || json.Unmarshal(line, &answer) != nil {
			p.t.Fatalf("codex lists no hooks: %v: %s", err, line)
		}
	}
	config := p.read(".codex/config.toml")
	for _, h := range answer.Result.Data[0].Hooks {
		config += fmt.Sprintf("[hooks.state.%q]\ntrusted_hash = %q\n", h.Key, h.CurrentHash)
	}
	p.write(".codex/config.toml", config)
}
