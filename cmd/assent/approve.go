package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	json, all    bool
}

// deciding answers a request, with a note.
type deciding func(r *approval.Request, note string) approval.Decision

func approveCmd() *cobra.Command {
	var flags answerFlags
	c := flags.command(&cobra.Command{
		Use:   "approve ID | --all",
		Short: "Approve a pending request",
		Long: "approve lets the call that 'assent pending ID' shows run once. With --session the same acts are\n" +
			"approved for the rest of the session. With --always rules are saved for this project, and printed; with\n" +
			"--everywhere too, they hold in every project.\n" +
			"\n" +
			"With --args the call runs with other arguments. assent shows what it would do then, and asks. Without\n" +
			"a terminal, look at it first with 'assent pending ID --args JSON' and pass the fingerprint that is\n" +
			"printed there as --expect.\n" +
			"\n" +
			"With --all it shows every pending request in full and says how many it will approve before it asks you\n" +
			"once. It leaves out requests that must be answered one at a time. Without a terminal it shows them and\n" +
			"prints the --expect that approves exactly these.",
		Example: "  assent approve 4QX7MD\n" +
			"  assent approve 4QX7MD --note \"only this once\"\n" +
			"  assent approve 4QX7MD --always\n" +
			"  assent approve --all",
	}, (*approval.Request).Approve)
	c.Flags().BoolVar(&flags.all, "all", false, "approve every pending request that can be shown in full")
	c.Flags().StringVar(&flags.args, "args", "", "approve with these arguments instead, as JSON")
	c.Flags().StringVar(&flags.expect, "expect", "",
		"what was shown: the fingerprint that 'assent pending ID --args JSON' or 'assent approve --all' prints")
	c.MarkFlagsMutuallyExclusive("all", "args")
	return c
}

func denyCmd() *cobra.Command {
	var flags answerFlags
	return flags.command(&cobra.Command{
		Use:   "deny ID",
		Short: "Deny a pending request",
		Long: "deny refuses the call and passes the note to the model. With --session or --always the same acts\n" +
			"are denied from now on without a question.",
		Example: "  assent deny 4QX7MD --note \"use the staging project\"\n" +
			"  assent deny 4QX7MD --always",
	}, (*approval.Request).Deny)
}

func (f *answerFlags) command(c *cobra.Command, answer deciding) *cobra.Command {
	c.Args = cobra.MaximumNArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case f.all && len(args) == 0:
			return f.approveAll(c)
		case f.all || len(args) == 0:
			return misused(c, "missing request ID; 'assent pending' lists them")
		}
		return f.answer(c, args[0], answer)
	}
	f.register(c)
	c.Flags().BoolVar(&f.json, "json", false, "print the answer as JSON, with the id of the run that it is for")
	c.Flags().StringVar(&f.note, "note", "", "a comment that reaches the model")
	c.Flags().BoolVar(&f.kept.Session, "session", false,
		"keep the answer for the session, for the same commands, files and addresses")
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
	d, err := f.give(c, s, r, answer)
	if err != nil {
		return err
	}
	if f.json {
		return writeJSON(c.OutOrStdout(), given(r, d, run))
	}
	inbox.PrintAnswer(c.OutOrStdout(), r, d)
	if run != "" {
		fmt.Fprintf(c.OutOrStdout(), "It takes effect with: assent resume %s\n", run)
	}
	return nil
}

// give answers a request.
func (f *answerFlags) give(c *cobra.Command, s *store.Store, r *approval.Request,
	answer deciding) (approval.Decision, error) {
	d, err := f.kept.Apply(r, answer(r, f.note))
	if err != nil {
		return d, err
	}
	d.By = runs.Whoami()
	d.By.Via = policy.ViaCommand
	return d, s.Answer(c.Context(), d)
}

// A givenAnswer is what --json prints of an answer.
type givenAnswer struct {
	Request string       `json:"request"`
	Run     string       `json:"run,omitempty"` // the saved run that it takes effect in
	State   policy.State `json:"state"`
	Tool    string       `json:"tool"`
	Summary string       `json:"summary"`
	Kept    []string     `json:"kept,omitempty"` // the rules or grants that it is kept as
}

func given(r *approval.Request, d approval.Decision, run string) givenAnswer {
	return givenAnswer{r.ID, run, d.Settled().State, r.Call.Name(), r.Summary, inbox.Kept(r, d)}
}

// approveAll shows what waits in full and approves exactly that, after one yes, or where there is no terminal if
// --expect names it.
func (f *answerFlags) approveAll(c *cobra.Command) error {
	if f.kept.Session || f.kept.Always {
		return misused(c, "--all approves once; keep answers with 'assent approve ID --session' or --always")
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
	shown := c.ErrOrStderr()
	var all []*approval.Request
	var prints []string
	for _, r := range waiting.Requests {
		if r.PersonOnly {
			fmt.Fprintf(shown, "%s must be approved by its ID: %s · %s\n", r.ID, shownText(r.Call.Name()), shownText(r.Summary))
			continue
		}
		if err := inbox.Show(c.Context(), shown, r); err != nil {
			fmt.Fprintf(shown, "%s is left out: %s\n", r.ID, shownText(err.Error()))
			continue
		}
		fmt.Fprintln(shown)
		all, prints = append(all, r), append(prints, r.ID+" "+r.Fingerprint.String())
	}
	switch left := len(waiting.Requests) - len(all); {
	case len(waiting.Requests) == 0:
		fmt.Fprintln(shown, "Nothing waits for an answer.")
		return nil
	case len(all) == 0:
		return statusError{exitDenied, fmt.Errorf("nothing was approved: %d must be answered one at a time", left)}
	case left > 0:
		fmt.Fprintf(shown, "%d of %d are left out, as listed.\n", left, len(waiting.Requests))
	}
	if err := f.sawAll(c, policy.DigestOf([]byte(strings.Join(prints, "\n"))), len(all)); err != nil {
		return err
	}
	return f.giveAll(c, s, waiting, all)
}

// sawAll makes sure that a person has seen what is approved.
func (f *answerFlags) sawAll(c *cobra.Command, seen policy.Digest, n int) error {
	switch {
	case f.expect == seen.String():
		return nil
	case f.expect != "":
		return fmt.Errorf("what waits is not what --expect names any more; run 'assent approve --all' to see it")
	case terminal.Person() == nil:
		return misused(c, "nothing was approved; to approve the %d shown: assent approve --all --expect %s", n, seen)
	}
	key, err := terminal.AskKey(terminal.Person(), c.ErrOrStderr(), fmt.Sprintf("Approve these %d?", n), "yn")
	if err == nil && key != 'y' {
		err = statusError{exitDenied, errors.New("nothing was approved")}
	}
	return err
}

// giveAll approves requests. One that was answered meanwhile is named and does not stop the others.
func (f *answerFlags) giveAll(c *cobra.Command, s *store.Store, waiting *inbox.Waiting, all []*approval.Request) error {
	var errs []error
	answers := []givenAnswer{}
	resumed := map[string]bool{}
	for _, r := range all {
		d, err := f.give(c, s, r, (*approval.Request).Approve)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		run := waiting.Runs[r.Call.Session]
		answers = append(answers, given(r, d, run))
		if !f.json {
			inbox.PrintAnswer(c.OutOrStdout(), r, d)
		}
		resumed[run] = true
	}
	if f.json {
		return errors.Join(append(errs, writeJSON(c.OutOrStdout(), answers))...)
	}
	fmt.Fprintf(c.OutOrStdout(), "Approved %d of %d.\n", len(answers), len(all))
	delete(resumed, "")
	for _, run := range slices.Sorted(maps.Keys(resumed)) {
		fmt.Fprintf(c.OutOrStdout(), "It takes effect with: assent resume %s\n", run)
	}
	return errors.Join(errs...)
}

// check refuses flags that make no sense together.
func (f *answerFlags) check(c *cobra.Command) error {
	switch {
	case f.args != "" && !json.Valid([]byte(f.args)):
		return misused(c, "--args is not valid JSON")
	case f.kept.ProjectCode && !f.kept.Session && !f.kept.Always:
		return misused(c, "--project-code goes with --session or --always")
	case f.kept.Domain && !f.kept.Session && !f.kept.Always:
		return misused(c, "--domain goes with --session or --always")
	case f.kept.Everywhere && !f.kept.Always:
		return misused(c, "--everywhere goes with --always")
	case f.expect != "" && f.args == "":
		return misused(c, "--expect goes with --args or --all")
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
