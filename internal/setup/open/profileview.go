package open

import (
	"cmp"
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

	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/tool/hosts"
)

// A ProfileView is a profile with what follows from it at this moment.
type ProfileView struct {
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

// HeldTo says what a command would be held to.
func (b *Base) HeldTo(ctx context.Context, command string) ([]string, error) {
	e, closing, err := b.Explainer(ctx)
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
		return []string{"no sandbox for commands works here; 'assent sandbox doctor' says why"}, nil
	}
	return answer.Held, nil
}

// ProfileView derives the profile of commands for a person.
func (b *Base) ProfileView() (ProfileView, error) {
	derived, err := b.CommandProfile(false)
	if err != nil {
		return ProfileView{}, err
	}
	p := derived.Profile
	v := ProfileView{
		Hash: fmt.Sprintf("%x", p.Hash()), Require: b.OS.Require, Profile: p,
		Unfinished: derived.Denied.Unfinished, GateOnly: b.GateOnly(), Hosts: b.Hosts(),
	}
	for _, e := range derived.Denied.Secrets {
		source := e.Source + "; a command that a person allows sees it"
		v.Secrets = append(v.Secrets, sandbox.Entry{Path: e.Path, Source: source})
	}
	p.Roots = slices.DeleteFunc(slices.Clone(p.Roots), func(r sandbox.Root) bool {
		_, err := os.Lstat(r.Path) // a cache is made when it is needed
		return !r.Guarded && r.Mode == sandbox.ModeReadWrite && errors.Is(err, fs.ErrNotExist)
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

// Print writes one line for each entry: what, where, and why.
func (v ProfileView) Print(w io.Writer) error {
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
	}{
		{"masked", p.Masked}, {"masked", v.Secrets}, {"protected", p.Protected}, {"protected", v.Found},
		{"unix socket", p.Sockets}, {"gate only", v.GateOnly},
	} {
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
	row("git", git, cmp.Or(p.GitSource, "default"))
	row("network", networkWords(p.Network), cmp.Or(p.Network.Source, "default"))
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
	row("limits", fmt.Sprintf("private folders %s, a file %s, open files %d, processes %d",
		size(l.Tmp), size(l.FileSize), l.OpenFiles, l.Processes), "default")
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
		return "off for commands: without a network of their own the sandbox cannot tell hosts apart " +
			"('assent sandbox doctor' says why)"
	}
	return "off"
}

func size(n int64) string {
	if n == 0 {
		return "unlimited"
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
