package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
)

// answerFlags are what approve and deny take.
type answerFlags struct {
	keeper
	note            string
	session, always bool
}

func approveCmd() *cobra.Command {
	return answerCmd(&cobra.Command{
		Use:   "approve ID",
		Short: "Say yes to a question that waits",
		Long: "approve lets exactly the call run that 'assent pending ID' shows, once. With --session its acts\n" +
			"pass for the rest of the session, with --always a rule is kept.",
	}, (*approval.Request).Approve)
}

func denyCmd() *cobra.Command {
	return answerCmd(&cobra.Command{
		Use:   "deny ID",
		Short: "Say no to a question that waits",
		Long: "deny refuses the call; the note reaches the model. With --session or --always the no is kept\n" +
			"for its acts.",
	}, (*approval.Request).Deny)
}

func answerCmd(c *cobra.Command, answer func(r *approval.Request, note string) approval.Decision) *cobra.Command {
	var flags answerFlags
	c.Args = cobra.ExactArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error { return flags.answer(c, args[0], answer) }
	flags.register(c)
	c.Flags().StringVar(&flags.note, "note", "", "a comment that reaches the model")
	c.Flags().BoolVar(&flags.session, "session", false, "keep the answer for the session, for exactly these acts")
	c.Flags().BoolVar(&flags.always, "always", false, "keep the answer as a rule, for exactly these acts")
	c.MarkFlagsMutuallyExclusive("session", "always")
	return c
}

func (f *answerFlags) answer(c *cobra.Command, id string, answer func(*approval.Request, string) approval.Decision) error {
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
	d := answer(r, f.note)
	d.By = whoami()
	d.By.Via = approval.ViaCommand
	switch {
	case f.session:
		d = d.ForSession(approval.Exact)
	case f.always:
		d = d.Always()
	}
	if err := s.Answer(c.Context(), d); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %s · %s\n", d.Settled().State, present.SafeLine(r.Call.Name()), present.SafeLine(r.Summary))
	runs, err := runsBySession(c.Context(), s)
	if run := runs[r.Call.Session]; run != "" {
		fmt.Fprintf(c.OutOrStdout(), "It takes effect with: assent resume %s\n", run)
	}
	return err
}

// lateAnswer says who was faster, if somebody was.
func lateAnswer(c *cobra.Command, s *store.Store, id string, otherwise error) error {
	p, err := s.Posted(c.Context(), id)
	if err != nil || p.Settled == nil {
		return otherwise
	}
	return &approval.SettledError{Request: id, Settlement: *p.Settled}
}
