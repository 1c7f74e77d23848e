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
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/terminal"
)

func chatCmd() *cobra.Command {
	var flags runFlags
	c := &cobra.Command{
		Use:   "chat WORKER",
		Short: "Talk with an agent, and approve what its tools do",
		Long: "chat sends your messages to a worker, one after another. A chat is one session: what you approve\n" +
			"for the session holds until the chat ends.\n" +
			"\n" +
			"At a terminal you can edit the line; the up and down keys bring back earlier messages, which are\n" +
			"kept only until the chat ends. /help lists the commands. Ctrl-D or /quit ends the chat; Ctrl-C at\n" +
			"an empty line asks first. Without a terminal each line of standard input is a message.",
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
	next := messageLines(bufio.NewReader(c.InOrStdin()), c.ErrOrStderr())
	if composer := terminal.NewComposer(os.Stdin, os.Stderr, "you: ", os.Getenv); composer != nil {
		fmt.Fprintf(c.ErrOrStderr(), "Chat with %s. Type a message and press Enter; /help lists the commands.\n",
			present.SafeLine(s.Worker.Name))
		next = composer.Read
	}
	o := f.options(runs.NewView(out, c.ErrOrStderr(), false, exitStatus))
	return o.Chat(c.Context(), s, func(ctx context.Context) (string, error) {
		return nextMessage(ctx, c.ErrOrStderr(), next)
	})
}

// chatHelp is what /help prints.
const chatHelp = `/help   show this list
/quit   end the chat (also Ctrl-D at an empty line)
Up, Down brings back earlier messages; Alt-Enter begins a new line; Ctrl-C clears the line.
`

// nextMessage reads a message; an empty one at the end.
func nextMessage(ctx context.Context, out io.Writer, next func(context.Context) (string, error)) (string, error) {
	for {
		line, err := next(ctx)
		text := strings.TrimSpace(line)
		over := errors.Is(err, io.EOF) || errors.Is(err, terminal.ErrLeft)
		switch {
		case over && text == "", text == "/quit", text == "/exit":
			return "", nil
		case err != nil && !over:
			return "", err
		case text == "/help":
			fmt.Fprint(out, chatHelp)
		case isCommand(text):
			fmt.Fprintf(out, "Unknown command %s. /help lists the commands.\n", present.SafeLine(text))
		case text != "":
			return text, nil
		}
	}
}

// isCommand reports whether a message is one word behind a slash, and no path.
func isCommand(text string) bool {
	word, ok := strings.CutPrefix(text, "/")
	return ok && word != "" && !strings.ContainsAny(word, "/ .\n")
}

// messageLines reads messages from a stream, a line each. A terminal that cannot be drawn on gets a
// prompt.
func messageLines(in *bufio.Reader, prompts io.Writer) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if terminal.IsTerminal(os.Stdin) {
			fmt.Fprint(prompts, "you: ")
		}
		return readUntil(ctx, in)
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
