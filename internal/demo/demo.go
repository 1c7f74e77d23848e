// Package demo lets a scripted agent tidy up notes in a folder of its own, with a policy, a gate
// and a sandbox like any other run, and a recorded operator where nobody can be asked.
package demo

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/terminal"
	"github.com/assent-dev/assent/tool/files"
)

// demoFiles are the policy and the script of the demonstration.
//
//go:embed policy.yaml script.yaml
var demoFiles embed.FS

// Notes is what the agent finds.
var Notes = map[string]string{
	demoMark:                 "made by assent demo\n",
	"notes/today.md":         "# Today\n\n- invoice due friday!!\n- call plumber\n\nLunch with Ann at noon.\n",
	"notes/ideas.md":         "# Ideas\n\n- a shelf for the hallway\n",
	"notes/old.md":           "# Old\n\nNotes from last spring. Still useful.\n",
	"notes/private/diary.md": "# Diary\n\nNobody's business.\n",
	"archive/2025.md":        "# 2025\n\nWhat happened.\n",
}

// demoFolders are there from the beginning, empty or not.
var demoFolders = []string{"notes/private", "drafts", "archive"}

// Options say how the story is told.
type Options struct {
	Dir        string // a folder of an earlier demo, or a new one; empty for a temporary one
	Mode       *policy.Mode
	AskTimeout time.Duration
	StopOnDeny bool
	Program    string // how the person can start this program
}

// Run plays the story.
func Run(ctx context.Context, say runs.Printer, o Options) (err error) {
	dir, err := demoFolder(o.Dir)
	if err != nil {
		return err
	}
	passing := o.Dir == "" && !atTerminal() // nobody is there who would look at the folder afterwards
	if passing {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	conf, script, err := demoStory(dir)
	if err != nil {
		return err
	}
	say.Line("assent asks you before an agent's tools act.\n")
	say.Line("A scripted agent tidies up notes in %s.", present.SafeLine(dir))
	say.Prose("", "", "policy.yaml in that folder says what is free, what is asked and what is never allowed.")
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	state := filepath.Join(dir, "state")
	if err := staysInside(dir, conf); err != nil {
		return err
	}
	s, err := setup.Named(ctx, conf, state)
	if err != nil {
		return err
	}
	d, err := runs.Open(ctx, s, open.Order{Use: open.Run, Mode: o.Mode}, o.AskTimeout,
		func(d *runs.Session) approval.Approver { return approver(d, say, o.Mode, stop) })
	if err != nil {
		return err
	}
	d.SaySandbox(os.Stderr)
	undo := open.UndoFolder(state, conf)
	err = playNotes(ctx, say, d, script, o.StopOnDeny)
	if err == nil {
		err = playSandbox(ctx, say, d, dir)
	}
	err = errors.Join(err, d.Close())
	if passing {
		say.Line("\nThe demo's folder is removed. To keep one, and to undo changes in it:")
		say.Line("  %s demo --dir DIR", o.Program)
		return err
	}
	next(context.WithoutCancel(ctx), say, o.Program, dir, undo)
	if o.Dir == "" {
		say.Line("  # remove the demo's folder\n  rm -r %s", present.SafeLine(dir))
	}
	return err
}

// atTerminal reports whether a person can be asked.
func atTerminal() bool { return terminal.IsTerminal(os.Stdin) && terminal.IsTerminal(os.Stderr) }

// playNotes runs the agent and lists what was decided.
func playNotes(ctx context.Context, say runs.Printer, d *runs.Session, script *model.Script, stopOnDeny bool) error {
	box, err := d.Box(d.Configuration, open.Tools{})
	if err != nil {
		return err
	}
	defer box.Close()
	runs.Warn(box.Warnings)
	chain := []string{"tidy"}
	gate, err := d.Guard(chain, d.InForce(), box.Tools)
	if err != nil {
		return err
	}
	run := &worker.Run{Talker: d.Thinking(script), Gate: gate, Watcher: say, Workers: chain, StopOnDeny: stopOnDeny}
	round, err := run.Say(d.WithProgress(ctx), worker.Message{Text: "Tidy up my notes."})
	events, logErr := d.History(context.WithoutCancel(ctx))
	say.Summary(runs.InOrder(events, round.Steps))
	return errors.Join(err, logErr)
}

// approver has the person asked, or the recorded operator played.
func approver(d *runs.Session, say runs.Printer, mode *policy.Mode, stop context.CancelCauseFunc) approval.Approver {
	if mode != nil && *mode == policy.ModeApproveAll {
		say.Line("WARNING: --approve-all: what would be asked runs without a question.")
	}
	switch {
	case atTerminal():
		if mode == nil {
			say.Prose("", "", "Answer with a key: y is yes, n is no, s is yes for the rest of this run, ? says why. "+
				"Try s at the first question, and N with a few words where a note would be deleted.")
		}
		return d.Terminal(stop)
	case mode == nil:
		say.Line("There is no terminal, so a recorded operator answers.")
		return &operator{say: say}
	}
	return nil
}

// next names three things to try.
func next(ctx context.Context, say runs.Printer, name, dir string, undo *files.UndoFolder) {
	dir = present.SafeLine(dir)
	say.Line("\nTo try next:")
	state := filepath.Join(dir, "state")
	if entries, err := undo.List(ctx); err == nil && len(entries) > 0 {
		say.Line("  # put back the last change\n  %s undo --state %s %s", name, state, entries[0].ID)
	} else {
		say.Line("  # see what can be put back\n  %s undo --state %s", name, state)
	}
	if records, err := open.Snapshots(state, "", nil).List(ctx); err == nil && len(records) > 0 {
		say.Line("  # put back what the command changed\n  %s undo --state %s %s", name, state, records[0].ID)
	}
	say.Line("  # again, after you changed its policy.yaml: try \"write: allow\" for notes")
	say.Line("  %s demo --dir %s", name, dir)
	say.Line("  # what runs when nobody may be asked\n  %s demo --strict", name)
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
	for name, text := range Notes {
		if err := root.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, name := range []string{"policy.yaml", "script.yaml"} {
		if err := copyIfAbsent(root, name); err != nil {
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
			return fmt.Errorf("%s: root %s leads out of the demo's folder, which is all that a demo may reach",
				policyFile, r.Name)
		}
	}
	return nil
}

// copyIfAbsent leaves a file alone that the person may have changed.
func copyIfAbsent(root *os.Root, name string) error {
	data, err := demoFiles.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
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
