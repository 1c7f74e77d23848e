// Command team shows a team at work on one machine and without a network. It starts PostgreSQL, two replicas of
// assent serve, a sign-in service, three machines with scripted agents and three people, tells what happens, and
// removes everything again. With --keep it stays, to be looked at in a browser.
//
//	go run ./examples/team
//
// Everything but the people is the real program, started with commands that docs/teams.md has. A person is an HTTP
// client here, and a passkey is made of software.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	keep := flag.Bool("keep", false, "leave everything running until Ctrl-C, to be looked at in a browser")
	verbose := flag.Bool("v", false, "also print each command of assent, and where the logs are")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := perform(ctx, options{keep: *keep, verbose: *verbose})
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "team: %v\n", err)
		os.Exit(1)
	}
}

type options struct{ keep, verbose bool }

// perform sets the stage, tells the story and clears everything away, however it ends.
func perform(ctx context.Context, o options) (err error) {
	s, err := newStage(ctx, o)
	if err != nil {
		return err
	}
	defer s.clear()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			} else {
				s.showLogs()
			}
		default:
			panic(r)
		}
	}()
	for _, act := range []func(*stage){setUp, onThePhone, twoOfThree, serverAway, proveIt} {
		act(s)
	}
	s.summary()
	if o.keep {
		s.stay()
	}
	return nil
}
