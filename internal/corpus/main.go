// Command corpus measures how the shell tool judges commands: how many that must
// not pass unasked do, how many that should are asked, and of how many everyday
// commands all that they would do is understood.
//
//	go run ./internal/corpus
package main

import (
	"context"
	"fmt"
	"os"
)

func main() {
	top, err := os.MkdirTemp("", "assent-corpus-")
	if err == nil {
		err = measure(context.Background(), top)
		_ = os.RemoveAll(top) // it is below the temporary folder
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, top string) error {
	p, err := newProject(top)
	if err != nil {
		return err
	}
	judged, err := p.judgeCases(ctx)
	if err != nil {
		return err
	}
	known, err := p.readEveryday(ctx)
	if err != nil {
		return err
	}
	judged.print()
	known.print()
	return judged.failed()
}
