package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/rulebook"
)

func rulesExportCmd(flags *rulesFlags) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "export",
		Short: "Print the rules as a policy file has them, or as JSON",
		Long: "export prints rules for 'assent rules import', or to be pasted into a policy file. A rule\n" +
			"that is disabled or ends some day is a comment there; JSON has everything.",
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
		Short: "Keep the rules of a file, all or none; - is standard input",
		Long: "import adds the rules of a policy file, or of what export printed, to those that are kept.\n" +
			"Rules that are there already are left as they are.",
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
	c.Flags().BoolVar(&replace, "replace", false, "forget all other rules")
	c.Flags().BoolVar(&wide, "wide", false, "keep new rules although they allow nearly everything")
	return c
}

func importRules(c *cobra.Command, flags *rulesFlags, given []approval.Rule, replace, wide bool) error {
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
