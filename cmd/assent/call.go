package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/override"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/tool"
)

func callCmd() *cobra.Command {
	var flags workFlags
	c := &cobra.Command{
		Use:   "call TOOL 'JSON or command'",
		Short: "Run one tool by hand, through the gate",
		Long: "call runs a tool as an agent would, with the same questions and the same records. The policy\n" +
			"is that of -c, a worker or policy file, or else that of the project. Tools that a worker\n" +
			"marks as manual are run so.\n\n" +
			"The result goes to standard output, questions to standard error. A call that is refused ends\n" +
			"with status 3.",
		Example: "  assent call -c notes.worker read_file '{\"path\": \"notes/today.md\"}'\n" +
			"  assent call shell 'git status'\n" +
			"  assent call github:create_issue '{\"repo\": \"me/notes\", \"title\": \"Broken link\"}'",
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error { return flags.call(c, args[0], args[1]) },
	}
	flags.register(c)
	return c
}

func (f *workFlags) call(c *cobra.Command, name, args string) error {
	out := c.OutOrStdout()
	c.SetOut(c.ErrOrStderr()) // standard output is for the result
	if err := f.check(c); err != nil {
		return err
	}
	if err := f.canAsk(c, false); err != nil {
		return err
	}
	w, folder, file, err := f.callPolicy(c)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(c.Context())
	defer stop(nil)
	if err := makeRoots(w.cfg); err != nil {
		return err
	}
	d, err := f.openDesk(ctx, c, w, false, stop)
	if err != nil {
		return err
	}
	result, err := w.callTool(ctx, d, toolbox.Options{Folder: folder, File: file}, callOf(name, args).Tool, []byte(callOf(name, args).Args))
	if err = errors.Join(err, d.close()); err != nil {
		return err
	}
	if result.Err != nil {
		return callFailed(result)
	}
	fmt.Fprintln(out, shownText(result.Text))
	return nil
}

// callPolicy finds what holds for a call by hand: -c, or the policy of the project.
func (f *workFlags) callPolicy(c *cobra.Command) (w *prepared, folder, name string, err error) {
	if w, err = f.places(); err != nil {
		return nil, "", "", err
	}
	if f.config != "" {
		file, err := config.Read(f.config, "")
		if err == nil && len(f.set) > 0 {
			if file, err = override.Apply(file, f.set); err == nil {
				w.cfg, err = w.places.Operator(file)
			}
		}
		if err != nil {
			return nil, "", "", err
		}
		return w, file.Folder, file.Policy.File, f.confine(c, w)
	}
	path, err := config.FindProject(w.cwd)
	if err != nil {
		return nil, "", "", err
	}
	var file *config.File
	trusted := false
	if path != "" {
		if file, err = config.Read(path, config.PolicyFile); err != nil {
			return nil, "", "", err
		}
		if trusted, err = f.trusts(c, w, file, false); err != nil {
			return nil, "", "", err
		}
		folder, name = file.Folder, file.Policy.File
	}
	if w.cfg, err = w.configure(file, trusted); err != nil {
		return nil, "", "", err
	}
	return w, folder, name, f.confine(c, w)
}

// callTool takes one call through a gate in front of the tools of the policy.
func (w *prepared) callTool(ctx context.Context, d *desk, from toolbox.Options, name string, args []byte) (tool.Result, error) {
	opts := w.boxOptions()
	opts.Folder, opts.File, opts.Denied = from.Folder, from.File, d.denied(w.cfg.Rules)
	opts.Protected = append(opts.Protected, w.cfg.Files...)
	call := approval.Call{ID: "by-hand", Tool: name, Arguments: args}
	if connector, own, ok := strings.Cut(name, ":"); ok {
		call.Connector, call.Tool = connector, own
	}
	named := slices.DeleteFunc(slices.Clone(w.cfg.Connectors), func(c config.Connector) bool { return c.Name != call.Connector })
	foreign, err := w.connect(ctx, named, from.Folder, from.File)
	if err != nil {
		return tool.Result{}, err
	}
	defer foreign.close()
	opts.Further = foreign.tools(named)
	box, err := toolbox.Open(w.cfg.Policy, opts)
	if err != nil {
		return tool.Result{}, err
	}
	defer box.Close()
	warn(box.Warnings)
	gate, err := d.gate(nil, w.cfg.Rules, box.Tools)
	if err != nil {
		return tool.Result{}, err
	}
	result := tool.Call(tool.WithProgress(ctx, d.shown), gate, call)
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	return result, nil
}

// callFailed says how a call by hand ended that gave no result.
func callFailed(r tool.Result) error {
	switch r.Outcome.State {
	case approval.Dismissed:
		return statusError{exitInterrupted, r.Err}
	case approval.Invalid:
		return r.Err
	}
	if !r.Outcome.Runs() {
		return statusError{exitDenied, r.Err}
	}
	return r.Err
}
