package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/assent-dev/assent/internal/term"
)

// untilSignal returns a context that ends with the first signal that means the run. Then
// signals are as they were before: a second one ends the program at once.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case s := <-signals:
				if s == os.Interrupt && term.Lent() {
					continue // Ctrl-C in a pager or editor
				}
				cancel(signalled{s})
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// signalled says which signal ended a run.
type signalled struct{ signal os.Signal }

func (e signalled) Error() string { return fmt.Sprintf("%s signal received", e.signal) }

// Is makes the error match [context.Canceled].
func (signalled) Is(target error) bool { return target == context.Canceled }
