package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/hook"
	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/present"
)

func statusCmd() *cobra.Command {
	var k keeper
	var asJSON bool
	c := &cobra.Command{
		Use:   "status [AGENT]",
		Short: "Show what holds in this folder and which agents ask assent",
		Long: "status shows the policy that holds in this folder for other agents, whether a sandbox works, what\n" +
			"waits for an answer, and for each agent whether it asks assent: where the hook is installed, whether\n" +
			"it is proven as 'assent verify' does, and what happens to a call whose hook is killed.\n\n" +
			"Without a name it shows the agents that are there.",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: agentNames(),
		RunE: func(c *cobra.Command, args []string) error {
			named, err := (&installFlags{}).named(args)
			if err != nil {
				return asUsage(c, err)
			}
			s, err := standingHere(c.Context(), &k, named)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), s)
			}
			return s.print(c.OutOrStdout())
		},
	}
	k.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// named returns the agent that is named; nil if none is.
func (f *installFlags) named(args []string) (*agents.Agent, error) {
	if len(args) == 0 {
		return nil, nil
	}
	return agents.Named(args[0])
}

// A folderStatus is what holds in a folder for other agents.
type folderStatus struct {
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
	Agents    []agentStatus `json:"agents"`
}

// An agentStatus is whether an agent asks.
type agentStatus struct {
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

// standingHere finds out what holds in the current folder.
func standingHere(ctx context.Context, k *keeper, named *agents.Agent) (*folderStatus, error) {
	order, err := setup.OrderHere("", k.state)
	if err != nil {
		return nil, err
	}
	out := &folderStatus{Folder: order.Dir, Approvals: true}
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
	out.HookShell, out.HookPolicy = config.HookJudge, config.HookCareful
	if s.Person.Hook.Shell != "" {
		out.HookShell = s.Person.Hook.Shell
	}
	if s.Person.Hook.Policy != "" {
		out.HookPolicy = s.Person.Hook.Policy
	}
	if err := out.waiting(ctx, k); err != nil {
		return nil, err
	}
	out.Agents, err = agentsHere(ctx, named, out.HookShell)
	return out, err
}

// policyHere says which files speak, and what holds where none does.
func policyHere(s *setup.Setup) string {
	var files []string
	for _, t := range s.Tiers {
		speaks := len(t.Policy.Roots) > 0 || t.Policy.HasShell || len(t.Policy.Rules.Rules()) > 0 || len(t.Policy.Tools.Tools) > 0
		if t.Kind != config.BuiltIn && speaks {
			files = append(files, t.Policy.File)
		}
	}
	text := "careful: reads in the project are free, changes and unknown commands ask"
	if words := hook.Policy(s); words != "" {
		text = words
	}
	switch {
	case s.Untrusted:
		return fmt.Sprintf("%s, which can only forbid until 'assent trust %s'; otherwise %s", strings.Join(files, ", "), s.File.Path, text)
	case s.File != nil:
		return strings.Join(files, ", ") + " (trusted)"
	case len(files) > 0:
		return strings.Join(files, ", ") + "; otherwise " + text
	}
	return text
}

// waiting finds out who can be asked, and what waits.
func (f *folderStatus) waiting(ctx context.Context, k *keeper) error {
	s, err := k.reading(ctx)
	if errors.Is(err, open.ErrNoStore) {
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	sessions, err := s.Sessions(ctx)
	if err != nil {
		return err
	}
	f.Inbox = slices.ContainsFunc(sessions, func(s approval.Session) bool { return s.Kind == approval.SessionInbox })
	asked, err := s.Open(ctx, "")
	if err != nil {
		return err
	}
	f.Waiting = len(asked)
	off, err := approvalsOff(ctx, s)
	f.Approvals = off == ""
	return err
}

// agentsHere are the agent that is named, or those that are there.
func agentsHere(ctx context.Context, named *agents.Agent, shell string) (out []agentStatus, err error) {
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
func agentHere(ctx context.Context, t settings.Target, around settings.Surroundings) agentStatus {
	s := agentStatus{Name: t.Agent.Name, Title: t.Agent.Title}
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
		if s.Proven = e.proven(); s.Proven {
			break
		}
	}
	return s
}

// maxWhy is how many reasons are printed for one agent; 'assent verify' has them all.
const maxWhy = 6

// print prints it for a person.
func (f *folderStatus) print(w io.Writer) error {
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
		fmt.Fprintf(&b, "\nNo agent was found; 'assent install AGENT' names one of %s.\n", strings.Join(agentNames(), ", "))
	}
	home, _ := os.UserHomeDir() // only to shorten
	for _, a := range f.Agents {
		a.print(&b, home)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (a agentStatus) print(b *strings.Builder, home string) {
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
