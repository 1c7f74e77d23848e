//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An agent says how one is set up for a model at a URL, and started with a prompt.
type agent struct {
	name  string
	setUp func(p *place, url string)
	line  []string // the program and its arguments
}

var agents = []agent{
	{"claude-code", setUpClaude, []string{"claude", "-p", "Go."}},
	// Nobody is there to trust the hook; the flag is for those who wrote it themselves.
	{"codex", setUpCodex, []string{"codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--sandbox", "danger-full-access", "Go."}},
	{"gemini", setUpGemini, []string{"gemini", "--model", "gemini-2.5-flash", "--approval-mode", "yolo", "--prompt", "Go."}},
}

func agentNamed(name string) agent {
	return agents[slices.IndexFunc(agents, func(a agent) bool { return a.name == name })]
}

func (a agent) start(p *place) string {
	p.t.Helper()
	return p.agent(a.line[0], a.line[1:]...)
}

func setUpClaude(p *place, url string) {
	p.env = append(p.env, "ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=none", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1")
}

func setUpCodex(p *place, url string) {
	p.write(".codex/config.toml", `model = "m"
model_provider = "loopback"
[model_providers.loopback]
name = "loopback"
base_url = "`+url+`/v1"
wire_api = "responses"
[analytics]
enabled = false
`)
}

func setUpGemini(p *place, url string) {
	p.env = append(p.env, "GOOGLE_GEMINI_BASE_URL="+url, "GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true")
	p.write(".gemini/settings.json", `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false},
  "general": {"disableAutoUpdate": true}
}
`)
}

// TestADeniedCommandDoesNotRun has each agent ask for a command that a rule denies and one
// that a rule allows, in the mode in which the agent itself would run both.
func TestADeniedCommandDoesNotRun(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			p := newPlace(t)
			a.setUp(p, startModel(t, "touch denied.txt", "touch allowed.txt"))
			p.assent("install", a.name, "--yes")
			a.start(p)
			p.wantFiles("allowed.txt")
			p.wantAudit([2]string{"auto-denied", "shell(touch denied.txt)"}, [2]string{"auto-approved", "shell(touch allowed.txt)"})
		})
	}
}

// TestAHookThatFailsRunsNothing breaks the config: the hook can answer nothing.
func TestAHookThatFailsRunsNothing(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			p := newPlace(t)
			a.setUp(p, startModel(t, "touch denied.txt", "touch allowed.txt"))
			p.assent("install", a.name, "--yes")
			p.write(".config/assent/config.yaml", "rulez: [\n")
			a.start(p)
			p.wantFiles()
		})
	}
}

func TestThePermissionTool(t *testing.T) {
	p := newPlace(t)
	// Claude Code does not tell its prompt which folder of the project its shell is in.
	absolute := "touch " + filepath.Join(p.project, "allowed.txt")
	p.write(".config/assent/config.yaml", "rules:\n  - deny shell(touch denied.txt)\n  - allow shell("+absolute+")\n")
	setUpClaude(p, startModel(t, "touch denied.txt", absolute, "touch asked.txt"))
	p.agent("claude", "-p", "Go.",
		"--mcp-config", `{"mcpServers":{"assent":{"command":"assent","args":["hook","permission-tool"]}}}`,
		"--permission-prompt-tool", "mcp__assent__permission")
	p.wantFiles("allowed.txt")
	p.wantAudit([2]string{"auto-denied", "shell(touch denied.txt)"}, [2]string{"auto-approved", "shell(" + absolute + ")"}, [2]string{"denied", "shell(touch asked.txt)"})
}

// TestTheProjectHolds moves the shell into a folder of the project that has a file which is not to
// be read: by cd, or where the agent has no memory of it, as an argument of the call.
func TestTheProjectHolds(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			p := newPlace(t)
			if err := errors.Join(os.Mkdir(filepath.Join(p.project, "private"), 0o700), os.WriteFile(filepath.Join(p.project, "private", "k"), []byte("secret\n"), 0o600)); err != nil {
				t.Fatal(err)
			}
			p.write(".config/assent/config.yaml", "rules:\n  - deny read_file(private/**)\n")
			calls := map[string][]string{
				"claude-code": {"cd private", "cat k", "cd .."},
				"codex":       {`{"cmd":"cat k","workdir":"private"}`, `{"cmd":"cat k","workdir":"private/../private"}`, "pwd"},
				"gemini":      {`{"command":"cat k","dir_path":"private"}`, "cat private/k", "pwd"},
			}[a.name]
			a.setUp(p, startModel(t, calls...))
			p.assent("install", a.name, "--yes")
			a.start(p)
			log := p.assent("audit", "list")
			if strings.Contains(log, "differed") || !strings.Contains(log, "auto-denied") || strings.Count(log, "shell(cat") != strings.Count(log, "auto-denied") {
				t.Errorf("the audit log is\n%s", log)
			}
		})
	}
}

// TestAQuestionEnds has each agent, with nobody in front of it, ask for a command that no rule
// names: it does not run, and the run ends.
func TestAQuestionEnds(t *testing.T) {
	for _, a := range agents {
		t.Run(a.name, func(t *testing.T) {
			p := newPlace(t)
			a.setUp(p, startModel(t, "touch asked.txt"))
			p.assent("install", a.name, "--yes")
			a.start(p)
			p.wantFiles()
		})
	}
}

// TestADeferredRun ends where somebody must be asked, and goes on from the answer.
func TestADeferredRun(t *testing.T) {
	p := newPlace(t)
	setUpClaude(p, startModel(t, "touch asked.txt"))
	p.assent("install", "claude-code", "--defer", "--yes")
	var run struct {
		Session string `json:"session_id"`
		Reason  string `json:"terminal_reason"`
	}
	if out := p.agent("claude", "-p", "Go.", "--output-format", "json"); json.Unmarshal([]byte(out), &run) != nil || run.Reason != "tool_deferred" {
		t.Fatalf("the run was not deferred: %s", out)
	}
	p.wantFiles()
	var pending []struct {
		ID string `json:"id"`
	}
	if out := p.assent("pending", "--json"); json.Unmarshal([]byte(out), &pending) != nil || len(pending) != 1 {
		t.Fatalf("one request should wait: %s", out)
	}
	p.assent("approve", pending[0].ID)
	if out := p.agent("claude", "-p", "--resume", run.Session); !strings.Contains(out, "Done.") {
		t.Errorf("it ended with %q", out)
	}
	p.wantFiles("asked.txt")
	p.wantAudit([2]string{"approved", "shell(touch asked.txt)"})
}
