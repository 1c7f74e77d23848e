package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/team/admin"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/terminal"
)

// editFlags are the flags of the commands that make a bundle.
type editFlags struct {
	editors []string
	valid   time.Duration
	days    int
	yes     bool
}

// defaultValid is how long a bundle is valid.
const defaultValid = 90 * 24 * time.Hour

func (f *editFlags) register(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.editors, "editor", nil,
		"the person who wrote the policy; may be repeated (required if the team has several people)")
	f.valid = defaultValid
	c.Flags().Var((*daysValue)(&f.valid), "valid", "how long the bundle is valid, such as 30d or 12h")
	c.Flags().IntVar(&f.days, "days", 7, "try the policy on the calls of this many days; 0 tries nothing")
}

func (f *editFlags) check(c *cobra.Command) error {
	switch {
	case f.days < 0:
		return misused(c, "--days %d: use 0 or more", f.days)
	case f.valid < time.Hour:
		return misused(c, "--valid %s: use at least 1h", (*daysValue)(&f.valid))
	}
	return nil
}

// A proposal is the next bundle, with what a person should know before signing it.
type proposal struct {
	Diff  admin.Diff   `json:"diff"`
	Notes []string     `json:"notes"`
	Trial *admin.Trial `json:"trial,omitempty"`
	*publication

	next *bundle.Bundle
}

// A publication is what became of a proposal, once it is published.
type publication struct {
	Published  bool      `json:"published"`
	Serial     int64     `json:"serial"`
	ValidUntil time.Time `json:"valid_until"`
}

// A sourceOf returns the source of the next bundle; before is the newest bundle, or nil.
type sourceOf func(ctx context.Context, d *openDesk, before *bundle.Bundle) (bundle.Source, error)

// propose makes the next bundle of a source.
func (f *editFlags) propose(ctx context.Context, d *openDesk, source sourceOf) (*proposal, error) {
	before, err := admin.Newest(ctx, d, d.trust)
	if err == nil {
		err = d.remembers(before)
	}
	if err != nil {
		return nil, err
	}
	s, err := source(ctx, d, before)
	if err != nil {
		return nil, err
	}
	directory, err := d.Directory(ctx)
	if err != nil {
		return nil, err
	}
	e := admin.Edition{Source: s, Directory: directory, Before: before, Valid: f.valid}
	for _, word := range f.editors {
		e.Editors = append(e.Editors, personPrefix+strings.TrimPrefix(word, personPrefix))
	}
	p := &proposal{Notes: []string{}}
	next, notes, err := e.Next()
	if err != nil {
		return nil, err
	}
	p.next, p.Notes, p.Diff = next, append(p.Notes, notes...), admin.Compare(before, next)
	if f.days == 0 {
		return p, nil
	}
	since := directory.Now.AddDate(0, 0, -f.days)
	trial, err := admin.Try(before, next, d.Records(ctx, since), since, directory.Now)
	p.Trial = &trial
	return p, err
}

func (p *proposal) print(w io.Writer) error {
	if err := p.Diff.Print(w); err != nil {
		return err
	}
	for _, n := range p.Notes {
		fmt.Fprintln(w, shownLine("Note: "+n))
	}
	if p.Trial == nil {
		return nil
	}
	return p.Trial.Print(w)
}

// readSource reads a team.yaml.
func readSource(c *cobra.Command, file string) sourceOf {
	return func(context.Context, *openDesk, *bundle.Bundle) (bundle.Source, error) {
		in, done, err := openFileOrInput(c, file)
		if err != nil {
			return bundle.Source{}, err
		}
		defer done()
		data, err := readAll(in)
		if err != nil {
			return bundle.Source{}, err
		}
		return bundle.Parse(file, data)
	}
}

func policyDiffCmd(flags *deskFlags) *cobra.Command {
	var edit editFlags
	c := &cobra.Command{
		Use:   "diff FILE",
		Short: "Show what publishing a file would change",
		Long: "diff compares FILE, and today's people, groups, keys and machines, with the newest bundle. Then it tries the\n" +
			"new rules and deciders on the calls that machines recorded in the last days, and shows which calls would\n" +
			"have been allowed, denied or asked differently. It does not try other keys of the policy, which depend on\n" +
			"the machine. In rules, ~ is your own home folder.",
		Example: "  assent policy diff team.yaml\n" +
			"  assent policy diff team.yaml --days 30 --server https://assent.example.org --key acme.key",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := edit.check(c); err != nil {
				return err
			}
			d, err := flags.open(c)
			if err != nil {
				return err
			}
			defer d.close()
			p, err := edit.propose(c.Context(), d, readSource(c, args[0]))
			switch {
			case err != nil:
				return err
			case flags.json:
				return writeJSON(c.OutOrStdout(), p)
			}
			return p.print(c.OutOrStdout())
		},
	}
	edit.register(c)
	return c
}

func policyPublishCmd(flags *deskFlags) *cobra.Command {
	var edit editFlags
	c := &cobra.Command{
		Use:   "publish FILE",
		Short: "Sign a policy and publish it",
		Long: "publish shows what 'assent policy diff' shows, asks, signs the bundle on this computer with the team's key,\n" +
			"and sends it. It leaves out new passkeys until their waiting time is over. If somebody else has published in\n" +
			"the meantime, it changes nothing. What was published is kept beside the key, as KEY.newest: publish refuses to\n" +
			"go on from an older policy, which would bring back people and keys that were removed.",
		Example: "  assent policy publish team.yaml --server https://assent.example.org --key acme.key --editor ann\n" +
			"  assent policy publish team.yaml --config serve.yaml --key acme.key --editor ann --yes",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return edit.publish(c, flags, readSource(c, args[0]))
		},
	}
	edit.register(c)
	c.Flags().BoolVar(&edit.yes, "yes", false, "do not ask for confirmation")
	return c
}

// publish proposes, asks, signs and sends.
func (f *editFlags) publish(c *cobra.Command, flags *deskFlags, source sourceOf) error {
	if err := byPerson(c); err != nil {
		return err
	}
	if err := f.check(c); err != nil {
		return err
	}
	if flags.key == "" {
		return misused(c, "missing --key: the file with the team's key")
	}
	d, err := flags.open(c)
	if err != nil {
		return err
	}
	defer d.close()
	p, err := f.propose(c.Context(), d, source)
	if err != nil {
		return err
	}
	if err := p.print(c.ErrOrStderr()); err != nil {
		return err
	}
	if err := f.confirm(c, p); err != nil {
		return err
	}
	note, err := bundle.Sign(p.next, d.key)
	if err != nil {
		return err
	}
	if err := d.Publish(c.Context(), note); err != nil {
		return err
	}
	if err := d.remember(note); err != nil {
		fmt.Fprintln(c.ErrOrStderr(), shownText(fmt.Sprintf("Note: it was published, and the next time nothing will be noticed "+
			"if the server hides it: %v.", err)))
	}
	if flags.json {
		p.publication = &publication{true, p.next.Serial, p.next.Expires}
		return writeJSON(c.OutOrStdout(), p)
	}
	fmt.Fprintf(c.OutOrStdout(), "Published serial %d. It is valid until %s.\n", p.next.Serial, teamTime(p.next.Expires, ""))
	return nil
}

// confirm asks the person at the terminal.
func (f *editFlags) confirm(c *cobra.Command, p *proposal) error {
	if f.yes {
		return nil
	}
	if terminal.Person() == nil {
		return statusError{exitUsage, errors.New("there is nobody to ask; " +
			"run this at a terminal, or use --yes after you have read what changes")}
	}
	key, err := terminal.AskKey(terminal.Person(), c.ErrOrStderr(), fmt.Sprintf("Sign and publish serial %d?", p.next.Serial), "yn")
	if err == nil && key != 'y' {
		err = statusError{exitDenied, errors.New("nothing was published")}
	}
	return err
}

// A historyEntry is one bundle in a list.
type historyEntry struct {
	Serial    int64     `json:"serial"`
	Published time.Time `json:"published"`
	Issued    time.Time `json:"issued"`
	Expires   time.Time `json:"expires"`
	Editors   []string  `json:"editors"`
	People    int       `json:"people"`
	Machines  int       `json:"machines"`
	Deciders  int       `json:"deciders"`
}

func policyHistoryCmd(flags *deskFlags) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use:     "history",
		Short:   "List the published bundles, newest first",
		Example: "  assent policy history\n  assent policy history --limit 5 --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 0 {
				return misused(c, "--limit %d: use 0 or more", limit)
			}
			d, err := flags.open(c)
			if err != nil {
				return err
			}
			defer d.close()
			all, err := d.Bundles(c.Context(), limit)
			if err != nil {
				return err
			}
			list := []historyEntry{}
			for _, p := range all {
				b, err := bundle.Open(p.Note, d.trust)
				if err != nil {
					return fmt.Errorf("serial %d: %w", p.Serial, err)
				}
				list = append(list, historyEntry{b.Serial, p.Created, b.Issued, b.Expires, b.Editors, len(b.People), len(b.Machines), len(b.Deciders)})
			}
			shown := teamFlags{json: flags.json}
			return shown.print(c, list, func(line func(...string)) {
				if len(list) == 0 {
					line("No bundle was published yet; 'assent policy publish' publishes one.")
				}
				for _, e := range list {
					line(strconv.FormatInt(e.Serial, 10), teamTime(e.Published, ""), "until "+teamTime(e.Expires, ""),
						count(e.People, "person", "people")+", "+count(e.Machines, "machine", "machines")+", "+
							count(e.Deciders, "decider", "deciders"), "by "+strings.Join(e.Editors, ", "))
				}
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 20, "how many to print; 0 means all")
	return c
}

func policyRollbackCmd(flags *deskFlags) *cobra.Command {
	var edit editFlags
	c := &cobra.Command{
		Use:   "rollback SERIAL",
		Short: "Publish an older policy again, under a new serial",
		Long: "rollback publishes the policy, deciders, max_age, stale and keep_days of an older bundle under a new serial,\n" +
			"because machines refuse older serials. It uses today's people, groups, keys and machines, so that nobody\n" +
			"who was removed comes back.",
		Example: "  assent policy rollback 6 --key acme.key --editor ann",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			serial, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || serial < 1 {
				return misused(c, "serial %q: write a number, such as 6", args[0])
			}
			return edit.publish(c, flags, func(ctx context.Context, d *openDesk, before *bundle.Bundle) (bundle.Source, error) {
				if before != nil && before.Serial == serial {
					return bundle.Source{}, fmt.Errorf("serial %d is the newest one already; see 'assent policy history'", serial)
				}
				b, err := admin.Find(ctx, d, d.trust, serial)
				if err != nil {
					return bundle.Source{}, err
				}
				return b.Source(), nil
			})
		},
	}
	edit.register(c)
	c.Flags().BoolVar(&edit.yes, "yes", false, "do not ask for confirmation")
	return c
}
