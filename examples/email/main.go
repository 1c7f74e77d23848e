// Email is an agent that wants to send email, with a person asked first.
//
// The agent is a script, so that it needs no model and no network: it reads the
// contacts, which is free, wants to send two emails, which are asked, and wants
// to delete the mailbox, which is blocked. At the end it prints what was decided
// and why.
//
// Run it at a terminal and answer, or in a pipe and watch a recorded operator.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
)

// recorded is what the operator types when nobody sits at a terminal.
const recorded = "\ny\nn Friday is fine\n"

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "email:", err)
		os.Exit(1)
	}
}

// run has the operator at stdin answer if it is a terminal, else the recorded
// one.
func run(ctx context.Context, stdin *os.File, out io.Writer) error {
	if isTerminal(stdin) {
		return play(ctx, newPrompt(stdin, out, policy.ViaTerminal), out)
	}
	fmt.Fprintln(out, "Standard input is not a terminal: a recorded operator answers.")
	p := newPrompt(strings.NewReader(recorded), out, policy.ViaProgram)
	p.echo = true
	return play(ctx, p, out)
}

// isTerminal reports whether somebody may be typing. The null device looks like
// a terminal too; it ends at once, and the end of the input approves nothing.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// play runs the agent's script, turn by turn, and prints the summary.
func play(ctx context.Context, p *prompt, out io.Writer) error {
	tools, err := tools()
	if err != nil {
		return err
	}
	memory, log := approval.NewMemory(0), &journal{}
	gate, err := tool.Guard(approval.Config{Approver: p, Rules: memory, Grants: memory, Recorder: log}, tools...)
	if err != nil {
		return err
	}
	defer gate.Close()
	for _, turn := range script {
		for _, result := range tool.Calls(ctx, gate, turn...) {
			fmt.Fprintf(out, "\n%s → %s\n", result.Tool, present.Safe(result.Text))
		}
		if p.stopped {
			fmt.Fprintln(out, "\nThe agent is stopped.")
			break
		}
	}
	log.print(out)
	return nil
}
