package install

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/config"
)

// An AgentStatus is whether an agent asks.
type AgentStatus struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Settings is the file that has the hook; empty if none does.
	Settings string `json:"settings,omitempty"`
	Proven   bool   `json:"proven"`
	// Checked is when the hook answered as it should; zero if it did not.
	Checked time.Time `json:"checked,omitzero"`
	// Untried says that the hook answers, but that nobody has run assent with the agent itself.
	Untried bool `json:"untried,omitempty"`
	// Why are the reasons why it is not.
	Why []string `json:"why,omitempty"`
	// IfDead is what happens to a call whose hook is killed.
	IfDead string `json:"if_dead,omitempty"`
	// Notes are what else is good to know about the agent.
	Notes []string `json:"notes,omitempty"`
}

// AgentsHere are the agent that is named, or those that are installed. Shell is what the user chose for
// commands: hook.shell.
func AgentsHere(ctx context.Context, named *agents.Agent, shell string) (out []AgentStatus, err error) {
	around, err := settings.Here(".")
	if err != nil {
		return nil, err
	}
	off := settings.RepositoryOff(around)
	for _, a := range agents.All() {
		t := settings.TargetOf(a)
		_, err := os.Stat(t.UserFolder(around))
		s := agentHere(ctx, t, around)
		if named != nil && named.Name != a.Name || named == nil && err != nil && s.Settings == "" {
			continue
		}
		for _, f := range off {
			if text := f.String(); f.Agent == a.Name && !slices.Contains(s.Why, text) {
				s.Proven, s.Untried, s.Why = false, false, append(s.Why, text)
			}
		}
		if a.Name == "codex" && s.Settings != "" {
			s.Notes = append(s.Notes, stdinNote(shell))
		}
		out = append(out, s)
	}
	return out, nil
}

// stdinNote is what Codex calls no hook for.
func stdinNote(shell string) string {
	text := "Codex calls no hook for text that it types into an open session (write_stdin)"
	if shell == config.HookStage {
		return text + "; a session that was started on the stage takes none"
	}
	return text + "; hook.shell: stage closes that"
}

// agentHere examines the settings that name our hook: the project's, or the user's.
func agentHere(ctx context.Context, t settings.Target, around settings.Surroundings) AgentStatus {
	s := AgentStatus{Name: t.Agent.Name, Title: t.Agent.Title}
	for _, path := range []string{t.UserPath(around), t.Path(around.Folder)} {
		text, _, err := settings.Read(path)
		if err != nil || text == nil {
			continue
		}
		if commands, err := t.Commands(text); err != nil || len(commands) == 0 {
			continue
		}
		s.Settings, s.IfDead, s.Why = path, t.IfDead(text), nil
		e, err := examine(ctx, t, path, around)
		if err != nil {
			s.Why = append(s.Why, err.Error())
			continue
		}
		s.Checked = time.Now().UTC()
		for _, f := range e.findings {
			s.Why = append(s.Why, f.String())
		}
		if s.Proven = e.proven() && t.Agent.Tried(); e.proven() {
			s.Untried = !s.Proven
			break
		}
	}
	return s
}
