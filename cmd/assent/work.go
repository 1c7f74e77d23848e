package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/term"
)

// workFlags are those of every command that calls tools: who answers, and by which config.
type workFlags struct {
	askFlags
	keeper
	config string
	ask    string
	set    []string
}

func (f *workFlags) register(c *cobra.Command) {
	f.askFlags.register(c)
	f.keeper.register(c)
	c.Flags().StringVarP(&f.config, "config", "c", "", "a policy in place of your own config and what is found")
	c.Flags().StringVar(&f.ask, "ask", "terminal", "who is asked: terminal, or inbox for whoever answers in another process")
	c.Flags().StringArrayVar(&f.set, "set", nil, "another value for a key of the worker, as KEY.PATH=VALUE; may be repeated")
}

func (f *workFlags) check(c *cobra.Command) error {
	if err := f.askFlags.check(c); err != nil {
		return err
	}
	if f.ask != "terminal" && f.ask != "inbox" {
		return misused(c, "--ask %q: it is terminal or inbox", f.ask)
	}
	return nil
}

// personHere reports whether a person can be asked at this terminal.
func personHere() bool { return term.Person() != nil }

// canAsk refuses to begin where nobody could be asked.
func (f *workFlags) canAsk(c *cobra.Command, deferred bool) error {
	if err := byPerson(c); err != nil {
		return err
	}
	if personHere() || f.approveAll || f.strict || deferred || f.ask == "inbox" {
		return nil
	}
	if f.config == "" { // the user's own config may say that nobody is to be asked
		user, err := userConfig()
		if err != nil || user.Mode != approval.ModeAsk {
			return err
		}
	}
	return misused(c, "there is no terminal to ask at; choose --approve-all, --strict, --defer or --ask inbox")
}

// resolve finds what holds for a worker in a folder, or for calls by hand if there is none,
// and asks whether to trust it.
func (f *workFlags) resolve(c *cobra.Command, dir, worker string, looking bool) (*setup.Setup, error) {
	order, err := setup.OrderHere(f.config, f.state)
	if err != nil {
		return nil, err
	}
	order.Worker, order.Set, order.Dir = worker, f.set, cmp.Or(dir, order.Dir)
	order.Trust = trustingAt(c, order.Places, looking)
	return resolveFor(c, order)
}

// options are what the flags say of a run.
func (f *workFlags) options(view *runs.View) runs.Options {
	return runs.Options{
		StopOnDeny: f.onDeny == "stop", Mode: f.mode(), AskTimeout: f.askTimeout, AskInbox: f.ask == "inbox", View: view,
	}
}
