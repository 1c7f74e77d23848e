package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/keypress"
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
func personHere() bool { return keypress.Person() != nil }

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
	return misused(c, "nobody can be asked: there is no terminal; choose --approve-all, --strict, --defer or --ask inbox")
}

// openDesk opens the desk of a run, as flags and the user's config say.
func (f *workFlags) openDesk(ctx context.Context, c *cobra.Command, w *prepared, keeps bool, stop context.CancelCauseFunc) (*desk, error) {
	mode := f.mode()
	if !f.approveAll && !f.strict {
		mode = w.cfg.User.Mode
	}
	if mode == approval.ModeApproveAll {
		fmt.Fprintln(c.ErrOrStderr(), "WARNING: approve-all: what would be asked runs without a question.")
	}
	timeout := f.askTimeout
	if timeout == 0 {
		timeout = w.cfg.User.AskTimeout
	}
	d, err := openDesk(ctx, deskOrder{
		state: w.state, kind: cmp.Or(w.kind, approval.SessionRun), mode: mode, timeout: timeout, session: w.session, keeps: keeps, sandbox: w.sandbox,
		asks: func(d *desk) approval.Approver {
			switch {
			case keeps: // nobody is asked while the run lasts
				return nil
			case f.ask == "inbox":
				return approval.Queue(d.store)
			case personHere():
				return d.terminal(stop)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	if d.off != "" {
		sayApprovalsOff(c.ErrOrStderr(), d.off)
	}
	if w.rules, err = d.keptRules(ctx); err != nil {
		return nil, errors.Join(err, d.close())
	}
	w.later = laterDeny(w.rules, d.store.Rules, func(ctx context.Context) ([]approval.Grant, error) {
		set, err := d.store.Grants(ctx, d.session)
		return set.Grants(), err
	})
	return d, nil
}

// stopsOnDeny reports whether a denial ends the run.
func (f *workFlags) stopsOnDeny(w *prepared) bool {
	return f.onDeny == "stop" || w.cfg.User.StopOnDeny
}
