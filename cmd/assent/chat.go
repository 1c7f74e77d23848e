package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/terminal"
)

func chatCmd() *cobra.Command {
	var flags runFlags
	c := &cobra.Command{
		Use:   "chat WORKER",
		Short: "Talk with an agent, and approve what its tools do",
		Long: "chat reads messages and passes them to a worker one after another. A chat is one session: what you\n" +
			"approve for the session holds until the chat ends. End it with Ctrl-D or /quit.",
		Example: "  assent chat notes\n" +
			"  assent chat --model anthropic:NAME notes.worker",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return flags.chat(c, args[0]) },
	}
	flags.register(c)
	return c
}

func (f *runFlags) chat(c *cobra.Command, name string) error {
	out := c.OutOrStdout()
	c.SetOut(c.ErrOrStderr())
	if err := f.check(c); err != nil {
		return err
	}
	if err := f.canAsk(c, false); err != nil {
		return err
	}
	s, err := f.resolve(c, "", name, false)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(c.InOrStdin())
	o := f.options(runs.NewView(out, c.ErrOrStderr(), false, exitStatus))
	return o.Chat(c.Context(), s, func(ctx context.Context) (string, error) {
		return nextMessage(ctx, c.ErrOrStderr(), lines)
	})
}

// nextMessage reads a message; an empty one at the end.
func nextMessage(ctx context.Context, prompts io.Writer, lines *bufio.Reader) (string, error) {
	for {
		if terminal.IsTerminal(os.Stdin) {
			fmt.Fprint(prompts, "you: ")
		}
		line, err := readUntil(ctx, lines)
		text := strings.TrimSpace(line)
		switch {
		case errors.Is(err, io.EOF) && text == "", text == "/quit":
			return "", nil
		case err != nil && !errors.Is(err, io.EOF):
			return "", err
		case text != "":
			return text, nil
		}
	}
}

// readUntil reads a line, or ends with ctx.
func readUntil(ctx context.Context, in *bufio.Reader) (string, error) {
	type reading struct {
		line string
		err  error
	}
	done := make(chan reading, 1)
	go func() {
		line, err := in.ReadString('\n')
		done <- reading{line, err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
