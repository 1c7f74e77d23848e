package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

func verifyCmd() *cobra.Command {
	var project string
	c := &cobra.Command{
		Use:   "verify [AGENT]",
		Short: "Prove that the hooks of other agents answer as they should",
		Long: "verify starts the hook that each agent's settings name, as the agent would, and sends it three\n" +
			"calls in a folder of its own: one that must be allowed, one that must be asked, one that must be\n" +
			"denied. Nothing is executed, no model is used and nothing is recorded.\n\n" +
			"It also reads the settings that the agent would read in this folder, those of the administrator\n" +
			"and the repository included, for what keeps the agent from calling the hook: then it says what\n" +
			"to do, calls the agent not proven, and ends with status 1. What the agent is told by its own flags\n" +
			"is not seen.",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: agentNames(),
		RunE: func(c *cobra.Command, args []string) error {
			flags := installFlags{project: project}
			around, err := flags.surroundings()
			if err != nil {
				return err
			}
			found, err := flags.agentsFor(args, around)
			if err != nil {
				return asUsage(c, err)
			}
			return verifyAll(c, found, &flags, around)
		},
	}
	c.Flags().StringVar(&project, "project", "", "the settings of this project, instead of the user's")
	return c
}

// verifyAll tries every agent, and fails if one of them is not as it should be.
func verifyAll(c *cobra.Command, found []*agents.Agent, flags *installFlags, around settings.Surroundings) error {
	failed := len(found) == 0
	if failed {
		fmt.Fprintf(c.OutOrStdout(), "No agent was found in %s.\n", present.SafeLine(flags.below(around)))
	}
	for _, a := range found {
		t := settings.TargetOf(a)
		proven, err := verifyAgent(c, t, flags.path(t, around), around)
		if err != nil {
			fmt.Fprintf(c.OutOrStdout(), "%s: NOT protected: %s\n", a.Title, shownText(err.Error()))
		}
		failed = failed || err != nil || !proven
	}
	warnRepository(c, found...)
	if failed {
		return statusError{exitFailed, nil}
	}
	return nil
}

// verifyAgent sends the canaries through each hook that the settings name, and says whether
// the agent calls them.
func verifyAgent(c *cobra.Command, t settings.Target, path string, around settings.Surroundings) (proven bool, err error) {
	e, err := examine(c.Context(), t, path, around)
	if err != nil {
		return false, err
	}
	if e.proven() {
		fmt.Fprintf(c.OutOrStdout(), "%s: proven: the hook %s. Configured: %s has it run.\n", t.Agent.Title, e.answers, present.SafeLine(path))
	} else {
		fmt.Fprintf(c.OutOrStdout(), "%s: NOT proven: the hook %s, and %s does not call it, or may not:\n", t.Agent.Title, e.answers, t.Agent.Title)
		sayFindings(c.OutOrStdout(), e.findings)
	}
	fmt.Fprintf(c.OutOrStdout(), "  If the hook is killed before it answers: %s.\n", e.ifDead)
	return e.proven(), nil
}

// An examination is what the canaries and the settings say about an agent whose settings name a
// hook that answers as it should.
type examination struct {
	answers  string // what the hook does
	findings []settings.Finding
	ifDead   string // what a hook means that is killed
}

func (e examination) proven() bool { return len(e.findings) == 0 }

// examine sends the canaries through each hook that the settings name, and reads what the agent
// would read. The error says why the agent is not protected.
func examine(ctx context.Context, t settings.Target, path string, around settings.Surroundings) (e examination, err error) {
	text, _, err := settings.Read(path)
	if err != nil {
		return e, err
	}
	if text == nil {
		return e, fmt.Errorf("there is no %s; run 'assent install %s'", path, t.Agent.Name)
	}
	commands, err := t.Commands(text)
	if err != nil {
		return e, fmt.Errorf("%s: %w", path, err)
	}
	if len(commands) == 0 {
		return e, fmt.Errorf("%s has no hook of assent's; run 'assent install %s'", path, t.Agent.Name)
	}
	user, err := userConfig()
	if err != nil {
		return e, err
	}
	asks := asked(t.Agent, user)
	for _, argv := range commands {
		if err := tryHook(ctx, t.Agent, argv, asks); err != nil {
			return e, err
		}
	}
	e.answers = "allows, asks and denies as it should"
	if asks == agents.Deny {
		e.answers = "allows and denies as it should, and denies what must be asked"
	}
	e.findings, e.ifDead = t.Inspect(around, path), t.IfDead(text)
	return e, nil
}

// asked is what an agent is told where no inbox is open and somebody must be asked: Codex
// has no ask, and the user's config may leave nobody to be asked.
func asked(a *agents.Agent, user *config.User) agents.Verdict {
	if !a.CanAsk() || user.Mode == policy.ModeStrict || user.Hook.Ask == "inbox" || user.Hook.Ask == "deny" {
		return agents.Deny
	}
	return agents.Ask
}

// canaryPolicy denies one file. It is not trusted, and need not be to deny.
const canaryPolicy = "rules:\n  - deny write_file(" + agents.CanaryDenied + ")\n"

// tryHook sends the canaries to one command, in a folder and with a state of their own.
// Asks is what is answered where somebody must be asked.
func tryHook(ctx context.Context, a *agents.Agent, argv []string, asks agents.Verdict) (err error) {
	top, err := os.MkdirTemp("", "assent-verify-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(top)) }()
	dir := filepath.Join(top, "project")
	conf := filepath.Join(dir, config.ProjectFolder, "policy.yaml")
	if err := os.MkdirAll(filepath.Dir(conf), 0o700); err != nil {
		return err
	}
	for file, content := range map[string]string{conf: canaryPolicy, filepath.Join(dir, agents.CanaryFile): "canary\n"} {
		if err := os.WriteFile(file, []byte(content), fs.FileMode(0o600)); err != nil {
			return err
		}
	}
	canaries, err := a.Canaries(dir)
	if err != nil {
		return err
	}
	for _, canary := range canaries {
		reply := startHook(ctx, append(argv[:len(argv):len(argv)], "--state", filepath.Join(top, "state")), canary.Input, dir, a.Variables(dir))
		got, err := a.Understood(reply)
		if err != nil {
			return fmt.Errorf("%s: %w %s", canary.Name, err, reply.Stderr)
		}
		want := canary.Want
		if want == agents.Ask {
			want = asks
		}
		if got != want {
			return fmt.Errorf("%s: the answer is %s, and not %s: %s%s", canary.Name, verdictWord(got), verdictWord(want), reply.Stdout, reply.Stderr)
		}
	}
	return nil
}

func verdictWord(v agents.Verdict) string {
	return map[agents.Verdict]string{agents.Allow: "allow", agents.Ask: "ask", agents.Deny: "deny", agents.Nothing: "nothing"}[v]
}

// startHook starts a hook as an agent does that works in a folder.
func startHook(ctx context.Context, argv []string, input []byte, dir string, variables []string) agents.Reply {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	p := exec.CommandContext(ctx, argv[0], argv[1:]...)
	p.Dir, p.Env = dir, append(os.Environ(), variables...)
	p.Stdin, p.Stdout, p.Stderr = bytes.NewReader(input), &out, &errs
	err := p.Run()
	reply := agents.Reply{Stdout: out.Bytes(), Stderr: errs.String(), Exit: p.ProcessState.ExitCode()}
	if err != nil && reply.Stderr == "" {
		reply.Stderr = err.Error()
	}
	return reply
}
