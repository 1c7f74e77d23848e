package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
)

// demoFiles are the policy and the script of the demonstration.
//
//go:embed demo/policy.yaml demo/script.yaml
var demoFiles embed.FS

// demoNotes is what the agent finds.
var demoNotes = map[string]string{
	demoMark:                 "made by assent demo\n",
	"notes/today.md":         "# Today\n\n- invoice due friday!!\n- call plumber\n\nLunch with Ann at noon.\n",
	"notes/ideas.md":         "# Ideas\n\n- a shelf for the hallway\n",
	"notes/old.md":           "# Old\n\nNotes from last spring. Still useful.\n",
	"notes/private/diary.md": "# Diary\n\nNobody's business.\n",
	"archive/2025.md":        "# 2025\n\nWhat happened.\n",
}

// demoFolders are there from the beginning, empty or not.
var demoFolders = []string{"notes/private", "drafts", "archive"}

type demoFlags struct {
	askFlags
	dir string
}

func demoCmd() *cobra.Command {
	var flags demoFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "See in a minute what assent does",
		Long: "demo lets a scripted agent tidy up some notes in a folder of its own, and asks you what\n" +
			"it may do. It needs no model, no network and no set-up. Without a terminal it plays a\n" +
			"recorded operator and says so.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := flags.check(c); err != nil {
				return err
			}
			return runDemo(c.Context(), newPrinter(c.OutOrStdout()), flags)
		},
	}
	flags.register(c)
	flags.registerOnDeny(c)
	c.Flags().StringVar(&flags.dir, "dir", "", "use this folder, new or of an earlier demo, instead of a temporary one")
	return c
}

// runDemo plays the story.
func runDemo(ctx context.Context, say printer, flags demoFlags) error {
	dir, err := demoFolder(flags.dir)
	if err != nil {
		return err
	}
	conf, script, err := demoStory(dir)
	if err != nil {
		return err
	}
	say.line("assent asks you before an agent's tools act.\n")
	say.line("A scripted agent tidies up notes in %s.", present.SafeLine(dir))
	say.prose("", "", "policy.yaml in that folder says what is free, what is asked and what is never allowed.")
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	state := filepath.Join(dir, "state")
	if err := staysInside(dir, conf); err != nil {
		return err
	}
	s, err := namedPolicy(ctx, conf, state)
	if err != nil {
		return err
	}
	desk, err := openDesk(ctx, s, open.Order{Use: open.Run, Mode: flags.mode()}, flags.askTimeout,
		func(d *desk) approval.Approver { return demoApprover(d, say, flags, stop) })
	if err != nil {
		return err
	}
	desk.saySandbox(os.Stderr)
	undo := open.UndoFolder(state, conf)
	err = playDemo(ctx, say, desk, demoTold{script, flags.onDeny == "stop"})
	if err == nil {
		err = playSandbox(ctx, say, desk, dir)
	}
	err = errors.Join(err, desk.close())
	demoNext(context.WithoutCancel(ctx), say, dir, undo)
	return err
}

// demoTold is what the story is told with.
type demoTold struct {
	script     *model.Script
	stopOnDeny bool
}

// playDemo runs the agent and lists what was decided.
func playDemo(ctx context.Context, say printer, d *desk, told demoTold) error {
	box, err := d.Box(d.Configuration, open.Tools{})
	if err != nil {
		return err
	}
	defer box.Close()
	warn(box.Warnings)
	chain := []string{"tidy"}
	gate, err := d.gate(chain, d.Rules, box.Tools)
	if err != nil {
		return err
	}
	run := &worker.Run{Talker: thinking{told.script, d.status}, Gate: gate, Watcher: say, Workers: chain, StopOnDeny: told.stopOnDeny}
	round, err := run.Say(tool.WithProgress(ctx, d.shown), worker.Message{Text: "Tidy up my notes."})
	events, logErr := sessionMemory{d.Store}.history(context.WithoutCancel(ctx), d.Session)
	say.summary(inOrder(events, round.Steps))
	return errors.Join(err, logErr)
}

// warn prints what is accepted and should be written otherwise.
func warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(os.Stderr, "assent: warning:", present.SafeLine(w))
	}
}

// demoApprover has the person asked, or the recorded operator played.
func demoApprover(d *desk, say printer, flags demoFlags, stop context.CancelCauseFunc) approval.Approver {
	if flags.approveAll {
		say.line("WARNING: --approve-all: what would be asked runs without a question.")
	}
	switch {
	case term.IsTerminal(os.Stdin) && term.IsTerminal(os.Stderr):
		if flags.mode() == nil {
			say.prose("", "", "Answer with a key: y is yes, n is no, s is yes for the rest of this run, ? says why. "+
				"Try s at the first question, and n with a few words where a note would be deleted.")
		}
		return d.terminal(stop)
	case flags.mode() == nil:
		say.line("There is no terminal, so a recorded operator answers.")
		return &operator{say: say}
	}
	return nil
}

// demoNext names three things to try.
func demoNext(ctx context.Context, say printer, dir string, undo *files.UndoFolder) {
	name, dir := commandName(), present.SafeLine(dir)
	say.line("\nTo try next:")
	if entries, err := undo.List(ctx); err == nil && len(entries) > 0 {
		say.line("  # put back the last change\n  %s undo --state %s %s", name, filepath.Join(dir, "state"), entries[0].ID)
	} else {
		say.line("  # see what can be put back\n  %s undo --state %s", name, filepath.Join(dir, "state"))
	}
	if records, err := open.Snapshots(filepath.Join(dir, "state"), "", nil).List(ctx); err == nil && len(records) > 0 {
		say.line("  # put back what the command changed\n  %s undo --state %s %s", name, filepath.Join(dir, "state"), records[0].ID)
	}
	say.line("  # again, after you changed its policy.yaml: try \"write: allow\" for notes\n  %s demo --dir %s", name, dir)
	say.line("  # what runs when nobody may be asked\n  %s demo --strict", name)
}

// commandName is how the person can start this program.
func commandName() string {
	if _, err := exec.LookPath("assent"); err == nil {
		return "assent"
	}
	return present.SafeLine(os.Args[0])
}

// demoMark says that a folder belongs to the demonstration and may be filled anew.
const demoMark = ".assent-demo"

// demoFolder makes the folder of the story. It never takes one that holds anything else.
func demoFolder(dir string) (string, error) {
	if dir == "" {
		made, err := os.MkdirTemp("", "assent-demo-")
		if err != nil {
			return "", err
		}
		dir = made
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := ownFolder(dir); err != nil {
		return "", err
	}
	return dir, fillDemo(dir)
}

// ownFolder refuses a folder that has files and no mark of ours.
func ownFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, demoMark)); err != nil && len(entries) > 0 {
		return fmt.Errorf("%s is not a folder of the demo and is not empty; name a new one", dir)
	}
	return nil
}

// fillDemo writes the notes as they are at the beginning, and what is missing of the rest.
// It stays in the folder, wherever links in it lead.
func fillDemo(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range demoFolders {
		if err := root.MkdirAll(f, 0o700); err != nil {
			return err
		}
	}
	for name, text := range demoNotes {
		if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, name := range []string{"policy.yaml", "script.yaml"} {
		if err := copyIfAbsent(root, name, "demo/"+name); err != nil {
			return err
		}
	}
	// What an earlier run left would make the story another one.
	for _, left := range []string{"drafts/summary.md", "drafts/old.md", "notes/index.md"} {
		if err := root.Remove(left); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// staysInside refuses a policy that reaches out of the folder: the folder may come from
// somebody else.
func staysInside(dir, policyFile string) error {
	conf, err := config.Read(policyFile, config.PolicyFile)
	if err != nil {
		return err
	}
	home, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	for _, r := range conf.Policy.Roots {
		real, err := filepath.EvalSymlinks(r.Host)
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(home, real); err != nil || !filepath.IsLocal(rel) {
			return fmt.Errorf("%s: root %s leads out of the demo's folder, which is all that a demo may reach", policyFile, r.Name)
		}
	}
	return nil
}

// copyIfAbsent leaves a file alone that the person may have changed.
func copyIfAbsent(root *os.Root, path, name string) error {
	data, err := demoFiles.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// demoStory returns the policy file and the script of a folder.
func demoStory(dir string) (conf string, script *model.Script, err error) {
	file := filepath.Join(dir, "script.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		return "", nil, err
	}
	script, err = model.ParseScript(file, data)
	if err != nil {
		return "", nil, fmt.Errorf("the story: %w", err)
	}
	return filepath.Join(dir, "policy.yaml"), script, nil
}
