package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/assent-dev/assent/internal/agents/install"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/inbox"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/terminal"
)

// inboxFlags are those of the inbox.
type inboxFlags struct {
	storeFlags
	list, json bool
	web, open  bool
	ownName    bool
	port       int
}

func inboxCmd() *cobra.Command {
	var flags inboxFlags
	c := &cobra.Command{
		Use:   "inbox",
		Short: "Answer the questions of all your agents in one terminal",
		Long: "inbox shows the requests that wait in any of your runs, gateways and hooks, with the same prompt and\n" +
			"keys as 'assent run', and then waits for more. While an inbox is open, agents that use a hook ask\n" +
			"there. You can open several; the first answer counts.\n" +
			"\n" +
			"Ctrl-C leaves the inbox and answers nothing.",
		Example: "  assent inbox\n" +
			"  assent inbox --list",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return flags.run(c) },
	}
	flags.register(c)
	c.Flags().BoolVar(&flags.web, "web", false, "show it in a browser, on this machine only")
	c.Flags().IntVar(&flags.port, "port", 0, "with --web: the port of localhost (default: a free one)")
	c.Flags().BoolVar(&flags.ownName, "own-name", false, "with --web: a random name below localhost, which no page that another\nprogram served can have prepared; for Chrome, Edge and Firefox")
	c.Flags().BoolVar(&flags.open, "open", false, "with --web: open the browser")
	c.Flags().BoolVar(&flags.list, "list", false, "list the waiting requests, as 'assent pending' does, and exit")
	c.Flags().BoolVar(&flags.json, "json", false, "print the waiting requests as JSON, and exit")
	return c
}

func (f *inboxFlags) run(c *cobra.Command) (err error) {
	if f.list || f.json {
		return pending(c, &f.storeFlags, nil, f.json)
	}
	if err := byPerson(c); err != nil {
		return err
	}
	if !f.web && (f.port != 0 || f.open || f.ownName) {
		return misused(c, "--port, --own-name and --open go with --web")
	}
	if f.web {
	} else if !terminal.IsTerminal(os.Stdin) || !terminal.IsTerminal(os.Stderr) {
		return misused(c, "the inbox needs a terminal; 'assent inbox --list' shows what waits, 'assent approve' and "+
			"'assent deny' answer it")
	}
	s, err := f.changing(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	warnApprovals(c, s)
	install.WarnRepository(c.ErrOrStderr())
	in, err := inbox.Open(c.Context(), s, inbox.Options{Owner: store.ThisProcess()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if f.web {
		return f.serve(c, s, in)
	}
	return f.attend(c, s, in)
}

// attend asks until the person leaves.
func (f *inboxFlags) attend(c *cobra.Command, s *store.Store, in *inbox.Inbox) error {
	user, err := userConfig()
	if err != nil {
		return err
	}
	prompt := runs.PromptConfig(s, user)
	prompt.Who.Via = policy.ViaInbox
	t := terminal.NewWith(prompt)
	t.Use(in)
	err = t.Attend(c.Context(), in)
	if !leaves(err) {
		return err
	}
	if left := len(in.Pending()); left > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "%d answered; %d still waiting, see 'assent pending'.\n", in.Answered(), left)
	} else {
		fmt.Fprintf(c.ErrOrStderr(), "%d answered; nothing waits.\n", in.Answered())
	}
	return nil
}

// leaves reports whether the person left the inbox, with Ctrl-C or by closing the terminal.
func leaves(err error) bool {
	var s signalled
	return errors.Is(err, terminal.ErrInterrupted) || errors.As(err, &s) && s.signal == os.Interrupt
}
