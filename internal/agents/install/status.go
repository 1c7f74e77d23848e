package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/hook"
	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store/sessions"
)

// A FolderStatus is what holds in a folder for other agents.
type FolderStatus struct {
	Folder string `json:"folder"`
	// Policy says in a line what holds.
	Policy string `json:"policy"`
	// HookShell and HookPolicy are what the user chose.
	HookShell  string `json:"hook_shell"`
	HookPolicy string `json:"hook_policy"`
	// Sandbox says whether one works; NoSandbox is why none does.
	Sandbox   bool   `json:"sandbox"`
	NoSandbox string `json:"no_sandbox,omitempty"`
	Inbox     bool   `json:"inbox_open"`
	Waiting   int    `json:"waiting"`
	// Approvals says that the master switch is on.
	Approvals bool          `json:"approvals"`
	Agents    []AgentStatus `json:"agents"`
}

// An AgentStatus is whether an agent asks.
type AgentStatus struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Settings is the file that has the hook; empty if none does.
	Settings string `json:"settings,omitempty"`
	Proven   bool   `json:"proven"`
	// Why are the reasons why it is not.
	Why []string `json:"why,omitempty"`
	// IfDead is what happens to a call whose hook is killed.
	IfDead string `json:"if_dead,omitempty"`
	// Notes are what else is good to know about the agent.
	Notes []string `json:"notes,omitempty"`
}

// Status finds out what holds in the current folder, for the agent that is named or those that are
// there.
func Status(ctx context.Context, state string, named *agents.Agent) (*FolderStatus, error) {
	order, err := setup.OrderHere("", state)
	if err != nil {
		return nil, err
	}
	out := &FolderStatus{Folder: order.Dir, Approvals: true}
	if out.NoSandbox, err = open.TrySandbox(ctx, order.Places); err != nil {
		out.NoSandbox = err.Error()
	}
	out.Sandbox = out.NoSandbox == ""
	order.Default, order.NoSandbox = true, func(context.Context) string { return out.NoSandbox }
	s, err := setup.Resolve(ctx, order)
	if err != nil {
		return nil, err
	}
	out.Policy = policyHere(s)
	out.HookShell = cmp.Or(s.Person.Hook.Shell, config.HookJudge)
	out.HookPolicy = cmp.Or(s.Person.Hook.Policy, config.HookCareful)
	if err := out.waiting(ctx, s); err != nil {
		return nil, err
	}
	out.Agents, err = agentsHere(ctx, named, out.HookShell)
	return out, err
}

// policyHere says which files speak, and what holds where none does.
func policyHere(s *setup.Setup) string {
	var files []string
	for _, t := range s.Tiers {
		p := t.Policy
		speaks := len(p.Roots) > 0 || p.HasShell || len(p.Rules.Rules()) > 0 || len(p.Tools.Tools) > 0
		if t.Kind != config.BuiltIn && speaks {
			files = append(files, p.File)
		}
	}
	text := "careful: reads in the project are free, changes and unknown commands ask"
	if words := hook.Policy(s); words != "" {
		text = words
	}
	switch {
	case s.Untrusted:
		return fmt.Sprintf("%s, which can only forbid until 'assent trust %s'; otherwise %s",
			strings.Join(files, ", "), s.File.Path, text)
	case s.File != nil:
		return strings.Join(files, ", ") + " (trusted)"
	case len(files) > 0:
		return strings.Join(files, ", ") + "; otherwise " + text
	}
	return text
}

// waiting finds out who can be asked, and what waits.
func (f *FolderStatus) waiting(ctx context.Context, of *setup.Setup) error {
	s, err := open.ReadStore(ctx, of.Places, of.Person)
	if errors.Is(err, open.ErrNoStore) {
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	live, err := s.Sessions(ctx)
	if err != nil {
		return err
	}
	f.Inbox = slices.ContainsFunc(live, func(s sessions.Session) bool { return s.Kind == sessions.KindInbox })
	asked, err := s.Open(ctx, "")
	if err != nil {
		return err
	}
	f.Waiting = len(asked)
	off, err := open.ApprovalsOff(ctx, of.Person, s)
	f.Approvals = off == ""
	return err
}

// agentsHere are the agent that is named, or those that are there.
func agentsHere(ctx context.Context, named *agents.Agent, shell string) (out []AgentStatus, err error) {
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
				s.Proven, s.Why = false, append(s.Why, text)
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
		for _, f := range e.findings {
			s.Why = append(s.Why, f.String())
		}
		if s.Proven = e.proven() && t.Agent.Tried(); e.proven() {
			if !s.Proven {
				s.Why = append(s.Why, "installed, not tried: nobody has run assent with "+t.Agent.Title+" itself")
			}
			break
		}
	}
	return s
}

// maxWhy is how many reasons are printed for one agent; 'assent verify' has them all.
const maxWhy = 6

// Print prints it for a person.
func (f *FolderStatus) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Folder     %s\n", present.SafeLine(f.Folder))
	fmt.Fprintf(&b, "Policy     %s\n", present.SafeLine(f.Policy))
	fmt.Fprintf(&b, "Hooks      hook.shell: %s, hook.policy: %s\n", f.HookShell, f.HookPolicy)
	if f.Sandbox {
		fmt.Fprintln(&b, "Sandbox    works")
	} else {
		fmt.Fprintf(&b, "Sandbox    none: %s; see 'assent sandbox doctor'\n", present.SafeLine(f.NoSandbox))
	}
	inbox, waits := "no inbox is open", "nothing waits"
	if f.Inbox {
		inbox = "an inbox is open"
	}
	switch {
	case f.Waiting == 1:
		waits = "1 question waits; see 'assent pending'"
	case f.Waiting > 1:
		waits = fmt.Sprintf("%d questions wait; see 'assent pending'", f.Waiting)
	}
	fmt.Fprintf(&b, "Questions  %s; %s\n", inbox, waits)
	if !f.Approvals {
		fmt.Fprintln(&b, "Approvals  OFF: what would be asked runs; 'assent approvals on' turns them on")
	}
	if len(f.Agents) == 0 {
		names := strings.Join(AgentNames(), ", ")
		fmt.Fprintf(&b, "\nNo agent was found; 'assent install AGENT' names one of %s.\n", names)
	}
	home, _ := os.UserHomeDir() // only to shorten
	for _, a := range f.Agents {
		a.print(&b, home)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (a AgentStatus) print(b *strings.Builder, home string) {
	if a.Settings == "" {
		fmt.Fprintf(b, "\n%s: does NOT ask assent; run 'assent install %s'\n", a.Title, a.Name)
		return
	}
	path := a.Settings
	if rel, err := filepath.Rel(home, path); home != "" && err == nil && filepath.IsLocal(rel) {
		path = filepath.Join("~", rel)
	}
	word := "proven"
	if !a.Proven {
		word = "NOT proven"
	}
	fmt.Fprintf(b, "\n%s: %s; the hook is in %s\n", a.Title, word, present.SafeLine(path))
	for i, why := range a.Why {
		if i == maxWhy {
			fmt.Fprintf(b, "  and %d more; see 'assent verify %s'\n", len(a.Why)-maxWhy, a.Name)
			break
		}
		fmt.Fprintf(b, "  %s\n", present.SafeLine(why))
	}
	fmt.Fprintf(b, "  If the hook is killed before it answers: %s.\n", a.IfDead)
	for _, note := range a.Notes {
		fmt.Fprintf(b, "  %s.\n", note)
	}
}
