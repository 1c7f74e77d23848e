package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/terminal"
)

func rulesEditCmd(flags *rulesFlags) *cobra.Command {
	var draft string
	var wide bool
	c := &cobra.Command{
		Use:   "edit",
		Short: "Change the rules in your editor",
		Long: "edit opens the rules in $VISUAL or $EDITOR, checks the result, shows what changes and saves it. If it\n" +
			"cannot be saved, nothing is lost: edit prints where the file is.",
		Example: "  assent rules edit\n" +
			"  EDITOR=nano assent rules edit",
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
	c.Flags().StringVar(&draft, "draft", "", "continue with a file that an earlier edit left")
	c.Flags().BoolVar(&wide, "wide", false, "save new rules although they allow nearly everything")
	return c
}

// ruleEditor changes rules with the person at this terminal.
func ruleEditor(c *cobra.Command, s *store.Store, out io.Writer, wide bool) *rulebook.Editor {
	return &rulebook.Editor{
		Store: s, Wide: wide, Program: commandName(), Out: out, Project: setup.ProjectOf,
		Edit:    func(path string) error { return runEditor(c, path) },
		Confirm: func() error { return confirmed(c, "Save this?") },
	}
}

func runEditor(c *cobra.Command, path string) error {
	editor := cmp.Or(strings.TrimSpace(os.Getenv("VISUAL")), strings.TrimSpace(os.Getenv("EDITOR")), "vi")
	cmd := exec.Command("sh", "-c", "trap : INT\n"+editor+` "$@"`, "sh", path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, c.OutOrStdout(), c.ErrOrStderr()
	return cmd.Run()
}

// errNotConfirmed says that a person did not say yes.
var errNotConfirmed = errors.New("not confirmed")

// confirmed asks the person, if there is one at a terminal.
func confirmed(c *cobra.Command, question string) error {
	if !atTerminal(c) {
		return nil
	}
	key, err := terminal.AskKey(os.Stdin, c.ErrOrStderr(), question, "yn")
	if err == nil && key != 'y' {
		err = errNotConfirmed
	}
	return err
}

// atTerminal reports whether there is somebody to ask.
func atTerminal(c *cobra.Command) bool {
	in, ok := c.InOrStdin().(*os.File)
	out, isFile := c.OutOrStdout().(*os.File)
	return ok && isFile && terminal.IsTerminal(in) && terminal.IsTerminal(out)
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

func rulesExportCmd(flags *rulesFlags) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "export",
		Short: "Print the rules as YAML for a policy file, or as JSON",
		Long: "export prints rules for 'assent rules import', or to paste into a policy file. In YAML, rules that are\n" +
			"disabled, expire or are for one project are comments; JSON has everything.",
		Example: "  assent rules export > rules.yaml\n" +
			"  assent rules export --format json",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if flags.json {
				format = "json"
			}
			rules, err := flags.kept(c)
			if err != nil {
				return err
			}
			switch format {
			case "yaml":
				return rulebook.Write(c.OutOrStdout(), rules)
			case "json":
				return rulebook.WriteJSON(c.OutOrStdout(), rules)
			}
			return misused(c, "--format %q: it is yaml or json", format)
		},
	}
	c.Flags().StringVar(&format, "format", "yaml", "yaml or json")
	return c
}

func rulesImportCmd(flags *rulesFlags) *cobra.Command {
	var replace, wide bool
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Save the rules of a file, all or none; - is standard input",
		Long: "import adds the rules of a policy file, or of the output of export, to the saved rules. Rules that are\n" +
			"already saved stay as they are.",
		Example: "  assent rules import rules.yaml\n" +
			"  assent rules export | ssh laptop assent rules import -",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			in, closing, err := openFileOrInput(c, args[0])
			if err != nil {
				return err
			}
			defer closing()
			data, err := readAll(in)
			if err != nil {
				return err
			}
			given, err := rulebook.Read(filepath.Base(args[0]), data)
			if err != nil {
				return err
			}
			return importRules(c, flags, given, replace, wide)
		},
	}
	c.Flags().BoolVar(&replace, "replace", false, "remove all other rules")
	c.Flags().BoolVar(&wide, "wide", false, "save new rules although they allow nearly everything")
	return c
}

func importRules(c *cobra.Command, flags *rulesFlags, given []policy.Rule, replace, wide bool) error {
	s, err := flags.changing(c)
	if err != nil {
		return err
	}
	defer s.Close()
	say := c.OutOrStdout()
	if flags.json {
		say = c.ErrOrStderr() // the result is JSON
	}
	after, err := ruleEditor(c, s, say, wide).Import(c.Context(), given, replace)
	if err != nil {
		return err
	}
	if flags.json {
		return rulebook.WriteJSON(c.OutOrStdout(), after)
	}
	return nil
}
