package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
)

// editHelp stands above the rules that are edited.
const editHelp = `# These are your rules. Change, add or delete lines; what you save is checked, shown and
# then kept. A rule stays the same one as long as the id above it stays.
#   # because: …  and  # note: …  above a rule say more about it
#   # disabled: allow shell(make)               is kept and does not hold
#   # until 2026-12-31T18:00:00Z: allow shell(make)   holds until then
`

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
			return editRules(c, s, draft, wide)
		},
	}
	c.Flags().StringVar(&draft, "draft", "", "go on with a file that an earlier edit left")
	c.Flags().BoolVar(&wide, "wide", false, "keep new rules although they allow nearly everything")
	return c
}

// editRules has the rules edited and keeps what comes back.
func editRules(c *cobra.Command, s *store.Store, draft string, wide bool) error {
	before, err := plainRules(c.Context(), s)
	if err != nil {
		return err
	}
	path := draft
	if path == "" {
		if path, err = writeDraft(before); err != nil {
			return err
		}
	}
	if err := runEditor(c, path); err != nil {
		return fmt.Errorf("the editor failed, so nothing was changed: %w; what was written is in %s", err, path)
	}
	// Ctrl-C in the editor was meant for the editor.
	if err := keepDraft(context.WithoutCancel(c.Context()), c, s, before, path, wide); err != nil {
		return fmt.Errorf("%w\nnothing was changed; go on with: %s rules edit --draft %s", err, commandName(), path)
	}
	return os.Remove(path)
}

func writeDraft(rules []approval.Rule) (string, error) {
	f, err := os.CreateTemp("", "assent-rules-*.yaml") // made with mode 0600
	if err != nil {
		return "", fmt.Errorf("a file to edit: %w", err)
	}
	_, err = io.WriteString(f, editHelp)
	return f.Name(), errors.Join(err, rulebook.Write(f, rules), f.Close())
}

func runEditor(c *cobra.Command, path string) error {
	editor := cmp.Or(strings.TrimSpace(os.Getenv("VISUAL")), strings.TrimSpace(os.Getenv("EDITOR")), "vi")
	cmd := exec.Command("sh", "-c", "trap : INT\n"+editor+` "$@"`, "sh", path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, c.OutOrStdout(), c.ErrOrStderr()
	return cmd.Run()
}

// keepDraft checks what was written, shows what changes, and keeps it.
func keepDraft(ctx context.Context, c *cobra.Command, s *store.Store, before []approval.Rule, path string, wide bool) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	after, err := rulebook.Parse("rules.yaml", data)
	if err != nil {
		return err
	}
	after = rulebook.Identify(before, after, rand.Text, time.Now().UTC())
	changes := rulebook.Changes(before, after)
	if len(changes) == 0 {
		fmt.Fprintln(c.OutOrStdout(), "Nothing was changed.")
		return nil
	}
	return applyChanges(ctx, c, c.OutOrStdout(), s, before, after, changes, wide)
}

// applyChanges shows changes and makes them, unless they allow too much or a person at the
// terminal says no.
func applyChanges(ctx context.Context, c *cobra.Command, say io.Writer, s *store.Store, before, after []approval.Rule, changes []rulebook.Change, wide bool) error {
	for _, change := range changes {
		fmt.Fprintln(say, present.SafeLine(change.String()))
		if why := rulebook.Wide(change.After); why != "" && change.Widens() && !wide {
			return fmt.Errorf("rule %q: %s; if you mean it, say --wide", change.After, why)
		}
	}
	if err := confirmed(c, "Keep this?"); err != nil {
		return err
	}
	if err := s.ReplaceRules(ctx, before, after); err != nil {
		return err
	}
	fmt.Fprintln(say, "The rules are kept.")
	return nil
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
