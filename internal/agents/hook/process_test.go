package hook

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/agents"
)

func TestAgentProcess(t *testing.T) {
	for name, c := range map[string]struct {
		agent string
		chain []string // the nearest first
		want  int
	}{
		"at once":             {"claude-code", []string{"claude --resume", "-bash", "sshd"}, 1},
		"in a shell":          {"codex", []string{"zsh -lc assent-hook", "/opt/codex-x86_64 exec"}, 2},
		"options first":       {"claude-code", []string{"bash --norc -c assent-hook", "other"}, 2},
		"in a script":         {"claude-code", []string{"/bin/sh /home/u/.claude/hooks/claude.sh", "other"}, 2},
		"with a limit":        {"claude-code", []string{"timeout 60 assent-hook claude-code", "sh -c x", "other"}, 3},
		"in another program":  {"gemini", []string{"python3 hooks.py", "bash -c x", "node --max-old-space-size=9 /bin/gemini -p x", "node /bin/gemini"}, 3},
		"of another agent":    {"codex", []string{"sh -c x", "codex exec", "bash -c x", "claude"}, 2},
		"nothing but a shell": {"claude-code", []string{"-bash"}, 0},
		"not known":           {"claude-code", nil, 0},
	} {
		a := &answering{Options: Options{Agent: named(t, c.agent), Chain: func() (out []agents.Process) {
			for i, line := range c.chain {
				out = append(out, agents.Process{Pid: i + 1, Args: strings.Fields(line)})
			}
			return out
		}}}
		if pid, _ := a.agentProcess(); pid != c.want {
			t.Errorf("%s: %d, want %d", name, pid, c.want)
		}
	}
}
