package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/internal/runs"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/inbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/terminal"
)

// answerFlags are what approve and deny take.
type answerFlags struct {
	storeFlags
	note         string
	kept         inbox.Remembering
	args, expect string
}

// deciding answers a request, with a note.
type deciding func(r *approval.Request, note string) approval.Decision

func approveCmd() *cobra.Command {
	var flags answerFlags
	c := flags.command(&cobra.Command{
		Use:   "approve ID",
		Short: "Say yes to a question that waits",
		Long: "approve lets exactly the call run that 'assent pending ID' shows, once. With --session its acts\n" +
			"pass for the rest of the session. With --always it saves rules for this project, and prints\n" +
			"them; with --everywhere too, they hold in every project.\n\n" +
			"With --args it runs with other arguments. What it would do then is shown and asked about;\n" +
			"without a terminal look at it with 'assent pending ID --args JSON' and give the fingerprint\n" +
			"that is printed there as --expect.",
	}, (*approval.Request).Approve)
	c.Flags().StringVar(&flags.args, "args", "", "approve with these arguments instead, as JSON")
	c.Flags().StringVar(&flags.expect, "expect", "",
		"the fingerprint of the call with --args, as 'assent pending ID --args JSON' prints it")
	return c
}

func denyCmd() *cobra.Command {
	var flags answerFlags
	return flags.command(&cobra.Command{
		Use:   "deny ID",
		Short: "Say no to a question that waits",
		Long: "deny refuses the call; the note reaches the model. With --session or --always the no is kept\n" +
			"for its acts.",
	}, (*approval.Request).Deny)
}

func (f *answerFlags) command(c *cobra.Command, answer deciding) *cobra.Command {
	c.Args = cobra.ExactArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error { return f.answer(c, args[0], answer) }
	f.register(c)
	c.Flags().StringVar(&f.note, "note", "", "a comment that reaches the model")
	c.Flags().BoolVar(&f.kept.Session, "session", false, "keep the answer for the session, for the same commands, files and addresses")
	c.Flags().BoolVar(&f.kept.Always, "always", false, "save the answer as rules for the same commands, files and addresses in this project; "+
		"they also cover other contents, and what a command does by itself")
	c.Flags().BoolVar(&f.kept.Everywhere, "everywhere", false, "with --always: in every project")
	c.Flags().BoolVar(&f.kept.ProjectCode, "project-code", false,
		"with --session or --always: keep it for all code of this project (tests, builds, scripts)")
	c.Flags().BoolVar(&f.kept.Domain, "domain", false,
		"with --session or --always: keep it for all hosts of the domain, on the same port")
	c.MarkFlagsMutuallyExclusive("session", "always")
	c.MarkFlagsMutuallyExclusive("project-code", "domain")
	return c
}

func (f *answerFlags) answer(c *cobra.Command, id string, answer deciding) error {
	if err := f.check(c); err != nil {
		return err
	}
	s, err := f.changing(c)
	if err != nil {
		return err
	}
	defer s.Close()
	waiting, err := inbox.ReadWaiting(c.Context(), s)
	if err != nil {
		return err
	}
	r, err := waiting.Find(id)
	if err != nil {
		return lateAnswer(c, s, id, err)
	}
	run := waiting.Runs[r.Call.Session]
	if f.args != "" {
		if r, answer, err = f.changed(c, s, r, run); err != nil {
			return err
		}
	}
	d, err := f.kept.Apply(r, answer(r, f.note))
	if err != nil {
		return err
	}
	d.By = runs.Whoami()
	d.By.Via = policy.ViaCommand
	if err := s.Answer(c.Context(), d); err != nil {
		return err
	}
	inbox.PrintAnswer(c.OutOrStdout(), r, d)
	if run != "" {
		fmt.Fprintf(c.OutOrStdout(), "It takes effect with: assent resume %s\n", run)
	}
	return nil
}

// check refuses flags that make no sense together.
func (f *answerFlags) check(c *cobra.Command) error {
	switch {
	case f.args != "" && !json.Valid([]byte(f.args)):
		return misused(c, "--args is no JSON")
	case f.kept.ProjectCode && !f.kept.Session && !f.kept.Always:
		return misused(c, "--project-code goes with --session or --always")
	case f.kept.Domain && !f.kept.Session && !f.kept.Always:
		return misused(c, "--domain goes with --session or --always")
	case f.kept.Everywhere && !f.kept.Always:
		return misused(c, "--everywhere goes with --always")
	case f.expect != "" && f.args == "":
		return misused(c, "--expect goes with --args")
	}
	return nil
}

// changed returns the request as it is with other arguments, and how to agree to that. A yes
// is given to what somebody has seen: at the terminal, or by its fingerprint.
func (f *answerFlags) changed(c *cobra.Command, s *store.Store, r *approval.Request,
	run string) (*approval.Request, deciding, error) {
	args := json.RawMessage(f.args)
	change := func(r *approval.Request, note string) approval.Decision { return r.Change(args, note) }
	if run == "" {
		return f.askedAgain(c, r, change)
	}
	now, err := f.preview(c, s, run, r.ID, args)
	if err != nil {
		return nil, nil, err
	}
	switch expected := f.expect; {
	case expected == now.Fingerprint.String():
		return now, change, nil
	case expected != "":
		return nil, nil, fmt.Errorf("with these arguments it is not what --expect names any more; look again with "+
			"'assent pending %s --args JSON'", r.ID)
	case terminal.Person() == nil:
		return nil, nil, misused(c, "nobody has seen what it would do with --args; 'assent pending %s --args JSON' "+
			"shows it and prints what to give as --expect", r.ID)
	}
	if err := inbox.Show(c.Context(), c.ErrOrStderr(), now); err != nil {
		return nil, nil, err
	}
	key, err := terminal.AskKey(terminal.Person(), c.ErrOrStderr(), "Approve it so?", "yn")
	if err == nil && key != 'y' {
		err = statusError{exitDenied, errors.New("nothing was answered")}
	}
	return now, change, err
}

// askedAgain is for a call that a program waits for: only that can say what it would do with
// other arguments, so it asks again, and no yes is given here.
func (f *answerFlags) askedAgain(c *cobra.Command, r *approval.Request,
	change deciding) (*approval.Request, deciding, error) {
	if f.expect != "" || f.kept.Session || f.kept.Always {
		return nil, nil, misused(c, "the program that asks is running: it asks again with --args, and that question "+
			"is the one to answer, without --expect, --session or --always here")
	}
	fmt.Fprintln(c.ErrOrStderr(),
		"It is asked again with these arguments, unless a rule decides; see 'assent pending'.")
	return r, change, nil
}

// lateAnswer says who was faster, if somebody was.
func lateAnswer(c *cobra.Command, s *store.Store, id string, otherwise error) error {
	p, err := s.Posted(c.Context(), id)
	if err != nil || p.Settled == nil {
		return otherwise
	}
	return &approval.SettledError{Request: id, Settlement: *p.Settled}
}
