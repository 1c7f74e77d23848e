package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/keypress"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
)

// answerFlags are what approve and deny take.
type answerFlags struct {
	keeper
	note            string
	session, always bool
	code, domain    bool
	args, expect    string
}

func approveCmd() *cobra.Command {
	var flags answerFlags
	c := flags.command(&cobra.Command{
		Use:   "approve ID",
		Short: "Say yes to a question that waits",
		Long: "approve lets exactly the call run that 'assent pending ID' shows, once. With --session its acts\n" +
			"pass for the rest of the session, with --always a rule is kept.\n\n" +
			"With --args it runs with other arguments. What it would do then is shown and asked about;\n" +
			"without a terminal look at it with 'assent pending ID --args JSON' and give the fingerprint\n" +
			"that is printed there as --expect.",
	}, (*approval.Request).Approve)
	c.Flags().StringVar(&flags.args, "args", "", "approve with these arguments instead, as JSON")
	c.Flags().StringVar(&flags.expect, "expect", "", "the fingerprint of the call with --args, as 'assent pending ID --args JSON' prints it")
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

func (f *answerFlags) command(c *cobra.Command, answer func(r *approval.Request, note string) approval.Decision) *cobra.Command {
	c.Args = cobra.ExactArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error { return f.answer(c, args[0], answer) }
	f.register(c)
	c.Flags().StringVar(&f.note, "note", "", "a comment that reaches the model")
	c.Flags().BoolVar(&f.session, "session", false, "keep the answer for the session, for exactly these acts")
	c.Flags().BoolVar(&f.always, "always", false, "keep the answer as a rule, for exactly these acts")
	c.Flags().BoolVar(&f.code, "project-code", false, "with --session or --always: keep it for all code of this project (tests, builds, scripts)")
	c.Flags().BoolVar(&f.domain, "domain", false, "with --session or --always: keep it for all hosts of the domain, on the same port")
	c.MarkFlagsMutuallyExclusive("session", "always")
	c.MarkFlagsMutuallyExclusive("project-code", "domain")
	return c
}

func (f *answerFlags) answer(c *cobra.Command, id string, answer func(*approval.Request, string) approval.Decision) error {
	if err := f.check(c); err != nil {
		return err
	}
	s, err := f.changing(c)
	if err != nil {
		return err
	}
	defer s.Close()
	open, err := s.Open(c.Context(), "")
	if err != nil {
		return err
	}
	r, err := findOpen(open, id)
	if err != nil {
		return lateAnswer(c, s, id, err)
	}
	runs, err := runsBySession(c.Context(), s)
	if err != nil {
		return err
	}
	run := runs[r.Call.Session]
	if f.args != "" {
		if r, answer, err = f.changed(c, s, r, run); err != nil {
			return err
		}
	}
	d := answer(r, f.note)
	d.By = whoami()
	d.By.Via = policy.ViaCommand
	switch {
	case f.session:
		d = d.ForSession(policy.ReachExact)
	case f.always:
		d = d.Always()
	}
	if f.code {
		if !slices.ContainsFunc(r.Offers, func(o policy.Offer) bool { return o.Reach == policy.ReachProject }) {
			return fmt.Errorf("%s does not run code of this project as it is; leave --project-code out", r.ID)
		}
		d.Remember.Reach = policy.ReachProject
	}
	if f.domain {
		if !slices.ContainsFunc(r.Offers, func(o policy.Offer) bool { return o.Reach == policy.ReachDomain }) {
			return fmt.Errorf("%s is not about one host of a domain alone; leave --domain out", r.ID)
		}
		d.Remember.Reach = policy.ReachDomain
	}
	if err := s.Answer(c.Context(), d); err != nil {
		return err
	}
	f.said(c, r, d, run)
	return nil
}

// check refuses flags that make no sense together.
func (f *answerFlags) check(c *cobra.Command) error {
	switch {
	case f.args != "" && !json.Valid([]byte(f.args)):
		return misused(c, "--args is no JSON")
	case f.code && !f.session && !f.always:
		return misused(c, "--project-code goes with --session or --always")
	case f.domain && !f.session && !f.always:
		return misused(c, "--domain goes with --session or --always")
	case f.expect != "" && f.args == "":
		return misused(c, "--expect goes with --args")
	}
	return nil
}

// said tells what was answered, what is kept of it, and when it takes effect.
func (f *answerFlags) said(c *cobra.Command, r *approval.Request, d approval.Decision, run string) {
	out := c.OutOrStdout()
	fmt.Fprintf(out, "%s: %s · %s\n", d.Settled().State, present.SafeLine(r.Call.Name()), present.SafeLine(r.Summary))
	for _, kept := range keptOf(r, d) {
		fmt.Fprintln(out, "kept:", present.SafeLine(kept))
	}
	for _, warning := range warningsOf(r, d) {
		fmt.Fprintln(out, present.SafeLine(warning))
	}
	if run != "" {
		fmt.Fprintf(out, "It takes effect with: assent resume %s\n", run)
	}
}

// keptOf is what an answer is remembered as.
func keptOf(r *approval.Request, d approval.Decision) []string {
	for _, o := range r.Offers {
		switch {
		case o.Reach != cmp.Or(d.Remember.Reach, policy.ReachExact) || d.Remember.Keep == approval.KeepNone:
		case d.Remember.Keep == approval.KeepSession:
			return []string{"for the session, " + strings.Join(rulesOf(o, d), ", ")}
		default:
			return rulesOf(o, d)
		}
	}
	return nil
}

// warningsOf is what to know about a yes that is remembered.
func warningsOf(r *approval.Request, d approval.Decision) []string {
	for _, o := range r.Offers {
		if o.Reach == cmp.Or(d.Remember.Reach, policy.ReachExact) && d.Remember.Keep != approval.KeepNone && d.Answer == approval.AnswerApprove {
			return o.Warn
		}
	}
	return nil
}

func rulesOf(o policy.Offer, d approval.Decision) []string {
	if d.Answer == approval.AnswerApprove {
		return o.Allow
	}
	return o.Deny
}

// changed returns the request as it is with other arguments, and how to agree to that. A yes
// is given to what somebody has seen: at the terminal, or by its fingerprint.
func (f *answerFlags) changed(c *cobra.Command, s *store.Store, r *approval.Request, run string) (*approval.Request, func(*approval.Request, string) approval.Decision, error) {
	args := json.RawMessage(f.args)
	change := func(r *approval.Request, note string) approval.Decision { return r.Change(args, note) }
	if run == "" {
		return f.askedAgain(c, r, change)
	}
	now, err := previewChanged(c, &f.keeper, s, run, r.ID, args)
	if err != nil {
		return nil, nil, err
	}
	switch expected := f.expect; {
	case expected == now.Fingerprint.String():
		return now, change, nil
	case expected != "":
		return nil, nil, fmt.Errorf("with these arguments it is not what --expect names any more; look again with 'assent pending %s --args JSON'", r.ID)
	case keypress.Person() == nil:
		return nil, nil, misused(c, "nobody has seen what it would do with --args; 'assent pending %s --args JSON' shows it and prints what to give as --expect", r.ID)
	}
	if err := showRequest(c.Context(), c.ErrOrStderr(), now); err != nil {
		return nil, nil, err
	}
	key, err := keypress.Ask(keypress.Person(), c.ErrOrStderr(), "Approve it so?", "yn")
	if err == nil && key != 'y' {
		err = statusError{exitDenied, errors.New("nothing was answered")}
	}
	return now, change, err
}

// askedAgain is for a call that a program waits for: only that can say what it would do with
// other arguments, so it asks again, and no yes is given here.
func (f *answerFlags) askedAgain(c *cobra.Command, r *approval.Request, change func(*approval.Request, string) approval.Decision) (*approval.Request, func(*approval.Request, string) approval.Decision, error) {
	if f.expect != "" || f.session || f.always {
		return nil, nil, misused(c, "the program that asks is running: it asks again with --args, and that question is the one to answer, without --expect, --session or --always here")
	}
	fmt.Fprintln(c.ErrOrStderr(), "It is asked again with these arguments, unless a rule decides; see 'assent pending'.")
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
