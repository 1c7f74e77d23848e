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

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

func chatCmd() *cobra.Command {
	var flags runFlags
	c := &cobra.Command{
		Use:   "chat WORKER",
		Short: "Talk with an agent, and be asked before its tools act",
		Long: "chat reads messages, a line each, and gives them to a worker one after another. It is one\n" +
			"session: what you grant for the session holds until the chat ends. The end of input (Ctrl-D)\n" +
			"or /quit ends it.",
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
	return f.work(c, s, session{kind: approval.SessionChat}, newRunView(out, c.ErrOrStderr(), false), func(ctx context.Context, j *job) error {
		run, err := j.member.Run(ctx)
		if err != nil {
			return err
		}
		for {
			text, err := nextMessage(ctx, c.ErrOrStderr(), lines)
			if err != nil || text == "/quit" {
				return err
			}
			_, err = run.Say(tool.WithProgress(ctx, j.desk.shown), worker.Message{Text: text})
			if err := goesOn(c.ErrOrStderr(), err); err != nil {
				return err
			}
		}
	})
}

// nextMessage reads a message; /quit at the end of input.
func nextMessage(ctx context.Context, prompts io.Writer, lines *bufio.Reader) (string, error) {
	for {
		if term.IsTerminal(os.Stdin) {
			fmt.Fprint(prompts, "you: ")
		}
		line, err := readUntil(ctx, lines)
		text := strings.TrimSpace(line)
		switch {
		case errors.Is(err, io.EOF) && text == "":
			return "/quit", nil
		case err != nil && !errors.Is(err, io.EOF):
			return "", err
		case text != "":
			return text, nil
		}
	}
}

// goesOn keeps a chat going after what ends a run: a limit, a denial with --on-deny=stop, a
// model that failed.
func goesOn(w io.Writer, err error) error {
	var stopped *worker.StoppedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &stopped) && stopped.State != policy.StateDismissed, errors.Is(err, worker.ErrLimit):
		fmt.Fprintf(w, "assent: %s\n", shownText(err.Error()))
		return nil
	}
	return err
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
