package hook

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell"
)

// inMode applies the mode that the agent says it is in. Where nothing is to be changed, a hook that allows a call
// would have the agent run it all the same, so a change is refused here. Where the agent's user accepts edits, an
// edit of the project that only needs a question needs none.
func (a *answering) inMode(e agents.Event, d *evaluator, acts []policy.Act) []policy.Act {
	if !e.Plan && !e.Edits {
		return acts
	}
	out := slices.Clone(acts)
	// In a home folder, or above it, what lies there is more than a project: shells and the system run some of it.
	accepts := e.Edits && d.setup.Mode() != policy.ModeStrict && d.setup.TooWide() == ""
	for i := range out {
		act := &out[i]
		switch {
		case act.Verdict == policy.VerdictBlock:
		case e.Edits:
			if accepts && act.Name == policy.ActWriteFile && act.Cause == 0 && act.Verdict == policy.VerdictAsk &&
				!act.PersonOnly && !act.Secret && !act.ByName && inProject(d.project, act.Target) && !asksAnyway(d.project, act.Target) {
				act.Verdict, act.Why = policy.VerdictFree, a.Agent.Title+" is in the mode acceptEdits"
			}
		case changes(*act) && !a.isPlan(act.Target), act.Name == policy.ActShell && act.Verdict != policy.VerdictFree:
			act.Verdict = policy.VerdictBlock
			act.Why = a.Agent.Title + " is in plan mode, in which nothing is changed; leave plan mode to run it"
		case (act.Connector != "" || act.Name == policy.ActConnect) && act.Verdict == policy.VerdictAsk:
			// Whether a tool, or what a command sends, changes something is not known, and no rule was meant for planning.
			act.PersonOnly = true
		}
	}
	return out
}

// planning is what config says about commands and tools, without what lets one run that does more than read.
func planning(c shell.Config, tools tool.Config) (shell.Config, tool.Config) {
	c.Readonly, c.Default = true, shell.Default{Source: c.Default.Source}
	c.Rules = slices.DeleteFunc(slices.Clone(c.Rules), func(r shell.Rule) bool { return allows(r.Approval) })
	//lint:ignore SA1019 what config still reads must not allow anything here
	tools.PreApproved = nil
	tools.Tools = withoutAllows(tools.Tools)
	if now := tools.Now; now != nil {
		tools.Now = func() ([]tool.Named, error) {
			words, err := now()
			return withoutAllows(words), err
		}
	}
	return c, tools
}

func withoutAllows(words []tool.Named) []tool.Named {
	return slices.DeleteFunc(slices.Clone(words), func(n tool.Named) bool { return allows(n.Approval) })
}

func allows(w tool.Word) bool {
	word, err := tool.ParseWord(string(w))
	return err == nil && word == tool.WordAllow
}

// asksAnyway reports whether a file is one that Claude Code asks about in the mode acceptEdits too: other programs
// run what stands there. A hook that allows the edit would take that question away.
func asksAnyway(project string, t policy.Target) bool {
	return slices.ContainsFunc(slices.Concat(t.Written, t.Resolved), func(name string) bool {
		if rel, err := filepath.Rel(project, name); err == nil {
			name = rel // of the project's own folder nothing counts
		}
		return slices.ContainsFunc(strings.Split(strings.ToLower(name), "/"), func(element string) bool {
			return slices.Contains(protectedNames, element)
		})
	})
}

// protectedNames are such files and folders. Those of git and the settings of agents are asked about or blocked anyway.
var protectedNames = []string{".bash_aliases", ".bash_login", ".bash_profile", ".bashrc", ".claude.json", ".devcontainer",
	".gitconfig", ".gitmodules", ".husky", ".idea", ".profile", ".ripgreprc", ".vscode", ".zlogin", ".zprofile", ".zshenv",
	".zshrc"}

// inProject reports whether a file is in the folder of the project, whatever it is called.
func inProject(project string, t policy.Target) bool {
	within := func(name string) bool {
		rel, err := filepath.Rel(project, name)
		return filepath.IsAbs(name) && err == nil && filepath.IsLocal(rel)
	}
	return !t.Unknown && slices.ContainsFunc(t.Written, within) && slices.ContainsFunc(t.Resolved, within)
}

// isPlan reports whether a file is one of those in which Claude Code keeps its plans.
func (a *answering) isPlan(t policy.Target) bool {
	var home, config string
	for _, v := range a.Environ {
		switch name, value, _ := strings.Cut(v, "="); name {
		case "HOME":
			home = value
		case "CLAUDE_CONFIG_DIR":
			config = value
		}
	}
	folder := filepath.Join(cmp.Or(config, filepath.Join(home, ".claude")), "plans")
	return filepath.IsAbs(folder) && inProject(folder, t)
}
