package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/store"
)

func rulesEditCmd(flags *rulesFlags) *cobra.Command {
	var draft string
	var wide bool
	c := &cobra.Command{
		Use:   "edit",
		Short: "Change the rules in your editor",
		Long: "edit opens the rules in $VISUAL or $EDITOR, checks what comes back, shows what changes, and\n" +
			"keeps it. What cannot be kept is not lost: it says where the file is.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := flags.changing(c)
			if err != nil {
				return err
			}
			defer s.Close()
			return ruleEditor(c, s, c.OutOrStdout(), wide).EditRules(c.Context(), draft)
		},
	}
	c.Flags().StringVar(&draft, "draft", "", "go on with a file that an earlier edit left")
	c.Flags().BoolVar(&wide, "wide", false, "keep new rules although they allow nearly everything")
	return c
}

// ruleEditor changes rules with the person at this terminal.
func ruleEditor(c *cobra.Command, s *store.Store, out io.Writer, wide bool) *rulebook.Editor {
	return &rulebook.Editor{
		Store: s, Wide: wide, Program: commandName(), Out: out,
		Edit:    func(path string) error { return runEditor(c, path) },
		Confirm: func() error { return confirmed(c, "Keep this?") },
	}
}

func runEditor(c *cobra.Command, path string) error {
	editor := cmp.Or(strings.TrimSpace(os.Getenv("VISUAL")), strings.TrimSpace(os.Getenv("EDITOR")), "vi")
	cmd := exec.Command("sh", "-c", "trap : INT\n"+editor+` "$@"`, "sh", path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, c.OutOrStdout(), c.ErrOrStderr()
	return cmd.Run()
}

// errNotConfirmed says that a person did not say yes.
var errNotConfirmed = errors.New("nobody said yes")

// confirmed asks the person, if there is one at a terminal.
func confirmed(c *cobra.Command, question string) error {
	if !atTerminal(c) {
		return nil
	}
	key, err := term.AskKey(os.Stdin, c.ErrOrStderr(), question, "yn")
	if err == nil && key != 'y' {
		err = errNotConfirmed
	}
	return err
}

// atTerminal reports whether there is somebody to ask.
func atTerminal(c *cobra.Command) bool {
	in, ok := c.InOrStdin().(*os.File)
	out, isFile := c.OutOrStdout().(*os.File)
	return ok && isFile && term.IsTerminal(in) && term.IsTerminal(out)
}

// readAll reads what is given as input, and no more than anybody would write.
func readAll(r io.Reader) ([]byte, error) {
	const most = 16 << 20
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("there is more than %d bytes of input", most)
	}
	return b.Bytes(), err
}
