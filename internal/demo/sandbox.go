package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// demoSandboxed is a policy under which the sandbox alone is enough for commands.
const demoSandboxed = `
sandbox:
  paths:
    drafts: {root: ./drafts, mode: rw, approval: allow}
shell:
  default: {approval: ask, when_sandboxed: allow}
`

// demoCommands are what the agent runs there.
var demoCommands = []string{
	`for n in 1 2 3; do echo "line $n"; done > count.txt && wc -l < count.txt`,
	`cat ../notes/today.md 2>/dev/null || echo "notes are not there"`,
}

// playSandbox shows commands that run without a question, because the sandbox holds them.
func playSandbox(ctx context.Context, say runs.Printer, d *runs.Session, dir string) error {
	say.Line("")
	say.Prose("", "", "Where a policy gives an agent only what it may change freely, commands need no questions: "+
		"the operating system's sandbox holds them (shell.default: {approval: ask, when_sandboxed: allow}).")
	if d.Sandbox.Missing() {
		say.Prose("  ", "  ", "There is none here, so each command would be asked: "+d.Sandbox.Cause()+".")
		return nil
	}
	conf, err := config.Load("sandboxed.yaml", []byte(demoSandboxed), dir)
	if err != nil {
		return err
	}
	cfg := &config.Configuration{Effective: &config.Effective{Policy: conf}, User: d.User, Files: d.Files}
	box, err := d.Box(cfg, open.Tools{})
	if err != nil {
		return err
	}
	defer box.Close()
	gate, err := d.Guard([]string{"sandboxed"}, cfg.InForce(), box.Tools)
	if err != nil {
		return err
	}
	// What an earlier run left would make the story another one.
	if err := os.Remove(filepath.Join(dir, "drafts", "count.txt")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for i, command := range demoCommands {
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			return err
		}
		say.Line("  $ %s", command)
		call := policy.Call{ID: fmt.Sprint("sandboxed-", i+1), Tool: policy.ActShell, Arguments: args}
		say.Results([]tool.Result{tool.Call(ctx, gate, call)})
	}
	say.Prose("", "", "What a command changes is kept as well, so that you can put it back: see undo below.")
	return nil
}
