package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

func sandboxShowCmd() *cobra.Command {
	var flags policyFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "show [-c POLICY] [-- COMMAND]",
		Short: "Print what commands may reach, and the line of config behind each entry",
		Long: "show prints what the policy lets commands reach. With a command, in the words of a shell, it\n" +
			"also prints what that command would be held to: what it was read to do, and no more.",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := flags.resolve(c)
			if err != nil {
				return err
			}
			base, err := open.Open(c.Context(), s, open.Order{Use: open.Look, Held: len(args) > 0})
			if err != nil {
				return err
			}
			defer base.Close()
			if err := needPolicy(c, base.Setup); err != nil {
				return err
			}
			view, err := newProfileView(base)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if view.Held, err = heldTo(c.Context(), base, commandText(args)); err != nil {
					return err
				}
			}
			if asJSON {
				enc := json.NewEncoder(c.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(view)
			}
			return view.print(c.OutOrStdout())
		},
	}
	flags.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

// A profileView is a profile with what follows from it at this moment.
type profileView struct {
	Hash    string          `json:"hash"`
	Require bool            `json:"require_os_sandbox"`
	Profile sandbox.Profile `json:"profile"`
	// Hosts are those that are free, asked and denied.
	Hosts []hosts.Word `json:"hosts"`
	// Secrets are hidden from commands that nobody was asked about.
	Secrets []sandbox.Entry `json:"secrets,omitempty"`
	// Unfinished says why not all denied files are among the masked; empty if they are.
	Unfinished string `json:"unfinished,omitempty"`
	// Found are the protected paths that were found in the roots, or would be.
	Found []sandbox.Entry `json:"found"`
	// GateOnly are the denies that the sandbox does not hold.
	GateOnly []sandbox.Entry `json:"gate_only,omitempty"`
	// Problem is what would keep a command from being started.
	Problem string `json:"problem,omitempty"`
	// Held is what a command would be held to inside that, if one was named.
	Held []string `json:"held,omitempty"`
	// Unsearched are folders that are too deep to be searched for repositories.
	Unsearched []string `json:"unsearched,omitempty"`
}

// heldTo says what a command would be held to.
func heldTo(ctx context.Context, base *open.Base, command string) ([]string, error) {
	e, closing, err := base.Explainer(ctx)
	if err != nil {
		return nil, err
	}
	defer closing()
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return nil, err
	}
	e.Held = true
	answer := e.Explain(ctx, explain.Call{Tool: policy.ActShell, Args: args})
	switch {
	case answer.Error != "":
		return nil, errors.New(answer.Error)
	case answer.Outcome == explain.Deny:
		return []string{"it would be refused: " + answer.Why}, nil
	case len(answer.Held) == 0:
		return []string{"no sandbox holds commands here; 'assent sandbox doctor' says why"}, nil
	}
	return answer.Held, nil
}

// commandText is the command that arguments stand for: one argument is a text for a shell,
// several are its words.
func commandText(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	return analysis.QuoteWords(args)
}

func newProfileView(base *open.Base) (profileView, error) {
	derived, err := base.CommandProfile(false)
	if err != nil {
		return profileView{}, err
	}
	p := derived.Profile
	v := profileView{
		Hash: fmt.Sprintf("%x", p.Hash()), Require: base.OS.Require, Profile: p,
		Unfinished: derived.Denied.Unfinished, GateOnly: base.GateOnly(), Hosts: base.Hosts(),
	}
	for _, e := range derived.Denied.Secrets {
		v.Secrets = append(v.Secrets, sandbox.Entry{Path: e.Path, Source: e.Source + "; a command that a person allows sees it"})
	}
	p.Roots = slices.DeleteFunc(slices.Clone(p.Roots), func(r sandbox.Root) bool {
		_, err := os.Lstat(r.Path)
		return !r.Guarded && r.Mode == sandbox.ModeReadWrite && errors.Is(err, fs.ErrNotExist) // a cache, made when it is needed
	})
	scene, err := launch.Survey(p)
	if err != nil {
		v.Problem = err.Error()
		return v, nil
	}
	for _, place := range scene.Protected {
		source := place.Source
		if place.Kind.Missing() {
			source += "; it does not exist yet"
		}
		v.Found = append(v.Found, sandbox.Entry{Path: place.Path, Source: source})
	}
	v.Unsearched = scene.Unsearched
	return v, nil
}

// print writes one line for each entry: what, where, and why.
func (v profileView) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(what, value, source string) {
		fmt.Fprintf(t, "%s\t%s\t%s\n", what, present.SafeLine(value), present.SafeLine(source))
	}
	p := v.Profile
	for _, line := range v.Held {
		row("this command", line, "")
	}
	row("profile", v.Hash, "")
	for _, r := range p.Roots {
		row(map[sandbox.Mode]string{sandbox.ModeReadOnly: "read", sandbox.ModeReadWrite: "write"}[r.Mode], r.Path, r.Source)
	}
	for _, list := range []struct {
		what    string
		entries []sandbox.Entry
	}{{"masked", p.Masked}, {"masked", v.Secrets}, {"protected", p.Protected}, {"protected", v.Found}, {"unix socket", p.Sockets}, {"gate only", v.GateOnly}} {
		for _, e := range list.entries {
			row(list.what, e.Path, e.Source)
		}
	}
	git := "read-only"
	switch {
	case p.GitWrite:
		git = "writable, without hooks, config, info and modules"
	case p.GitSource == "":
		git = "read-only, but for git commands that are allowed or approved"
	}
	row("git", git, orDefault(p.GitSource))
	row("network", networkWords(p.Network), orDefault(p.Network.Source))
	for _, h := range v.Hosts {
		row("host "+h.Word, h.Hosts, h.Source)
	}
	row("environment", strings.Join(p.Env.Pass, " "), "passed on")
	for _, name := range slices.Sorted(maps.Keys(p.Env.Set)) {
		row("environment", name+"="+p.Env.Set[name], "set")
	}
	for _, f := range p.Files {
		if f.Target != "" {
			row("home", f.Path+" -> "+f.Target, f.Source)
		} else {
			row("home", f.Path, f.Source+", without secrets")
		}
	}
	l := p.Limits
	row("limits", fmt.Sprintf("private folders %s, a file %s, open files %d, processes %d", size(l.Tmp), size(l.FileSize), l.OpenFiles, l.Processes), "default")
	row("required", map[bool]string{true: "yes: without a sandbox nothing runs", false: "no"}[v.Require], "")
	for _, dir := range v.Unsearched {
		row("unsearched", dir, "too deep: repositories below it are not found")
	}
	if v.Unfinished != "" {
		row("unfinished", v.Unfinished, "")
	}
	if v.Problem != "" {
		row("problem", v.Problem, "nothing would run")
	}
	return t.Flush()
}

func networkWords(n sandbox.Network) string {
	switch {
	case n.ByName:
		return "by name: each connection of a command is judged when it is made"
	case n.On:
		return "on"
	case len(n.Domains) > 0:
		return "off for commands: without a network of their own the sandbox cannot tell hosts apart ('assent sandbox doctor' says why)"
	}
	return "off"
}

func orDefault(source string) string {
	if source == "" {
		return "default"
	}
	return source
}

func size(n int64) string {
	if n == 0 {
		return "unlimited"
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
