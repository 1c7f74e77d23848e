package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/install"
	"github.com/assent-dev/assent/internal/agents/permissions"
	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/terminal"
)

// importFlags say what is taken of the lists of other agents.
type importFlags struct {
	storeFlags
	yes, dryRun, json, wide, shared bool
}

func importCmd() *cobra.Command {
	var flags importFlags
	c := &cobra.Command{
		Use:   "import [AGENT]",
		Short: "Turn the permission lists of another agent into rules",
		Long: "import reads the permission lists of Claude Code, Codex, Gemini CLI, Cursor and opencode: those of the\n" +
			"user, of the project in this folder and of the administrator. It shows each entry beside the rules\n" +
			"that it becomes, or why no rule says it, and asks once. The lists themselves stay as they are.\n\n" +
			"A user's list becomes rules for all projects, a project's list rules for that project. Entries that\n" +
			"allow nearly everything are left out unless you choose them (--wide). With --yes, what files of the\n" +
			"project allow is left out unless you say --project-allows: whoever wrote the repository wrote them.",
		Example: "  assent import --dry-run\n  assent import claude-code\n  assent import codex --yes\n" +
			"  assent import opencode --json --dry-run",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: permissions.Importable(),
		RunE: func(c *cobra.Command, args []string) error {
			if !flags.dryRun {
				if err := byPerson(c); err != nil {
					return err
				}
			}
			names := permissions.Importable()
			if len(args) > 0 {
				name, err := importable(c, args[0])
				if err != nil {
					return err
				}
				names = []string{name}
			}
			return flags.run(c, names, ".")
		},
	}
	flags.register(c)
	c.Flags().BoolVar(&flags.yes, "yes", false, "add the rules without a question")
	c.Flags().BoolVar(&flags.dryRun, "dry-run", false, "show the table, and add nothing")
	c.Flags().BoolVar(&flags.json, "json", false, "print JSON")
	c.Flags().BoolVar(&flags.wide, "wide", false, "also add rules that allow nearly everything")
	c.Flags().BoolVar(&flags.shared, "project-allows", false, "with --yes, also add what files of the project allow")
	c.MarkFlagsMutuallyExclusive("dry-run", "yes")
	return c
}

// importable is the name of an agent whose lists are read.
func importable(c *cobra.Command, name string) (string, error) {
	for _, known := range permissions.Importable() {
		if strings.EqualFold(name, known) {
			return known, nil
		}
	}
	a, err := agents.Named(name)
	if err != nil {
		return "", misused(c, "unknown agent %q: use %s", name, strings.Join(permissions.Importable(), ", "))
	}
	fmt.Fprintf(c.ErrOrStderr(), "read as: %s\n", a.Name)
	return a.Name, nil
}

// run imports the lists of the agents, as they are for a folder.
func (f *importFlags) run(c *cobra.Command, names []string, folder string) error {
	im, err := f.lists(c, names, folder)
	if err != nil {
		return err
	}
	added := []policy.Rule{}
	if len(im.Rows)+len(im.Problems) > 0 || f.json {
		if !f.json {
			im.Print(c.OutOrStdout())
			fmt.Fprintf(c.OutOrStdout(), "\n%s\n", strings.Replace(im.Summary(), ". Not", ".\nNot", 1))
		}
		take, err := f.choose(c, im)
		if err != nil {
			return err
		}
		if len(take) > 0 && im.Count(take...) > 0 {
			if added, err = f.keep(c, im, take); err != nil {
				return err
			}
		}
	}
	switch {
	case f.json:
		return writeJSON(c.OutOrStdout(), struct {
			*install.Import
			Added []policy.Rule `json:"added"`
		}{im, added})
	case len(im.Rows)+len(im.Problems) == 0:
		fmt.Fprintf(c.OutOrStdout(), "No permission list was found for %s.\n", strings.Join(names, ", "))
	case len(added) > 0:
		fmt.Fprintf(c.OutOrStdout(), "Added %s; see 'assent rules list'.\n", ruleCount(len(added)))
	case f.dryRun:
		fmt.Fprintln(c.OutOrStdout(), "Nothing was changed.")
	default:
		fmt.Fprintln(c.OutOrStdout(), "No rules were added.")
	}
	return nil
}

// lists reads the lists, and the rules that are kept.
func (f *importFlags) lists(c *cobra.Command, names []string, folder string) (*install.Import, error) {
	around, err := settings.Here(folder)
	if err != nil {
		return nil, err
	}
	kept, err := (&rulesFlags{storeFlags: f.storeFlags}).kept(c)
	if err != nil {
		return nil, err
	}
	return install.ReadLists(names, around, kept)
}

// choose says which rules are added: those that a person at the terminal says yes to, or that the flags name.
func (f *importFlags) choose(c *cobra.Command, im *install.Import) ([]string, error) {
	plain, wide := im.Count(install.ImportAdd, install.ImportShared), im.Count(install.ImportWide)
	all := []string{install.ImportAdd, install.ImportShared}
	if f.wide {
		all = append(all, install.ImportWide)
		plain, wide = plain+wide, 0
	}
	switch {
	case f.dryRun || plain+wide == 0:
		return nil, nil
	case f.yes:
		if !f.shared {
			all = append(all[:1:1], all[2:]...)
			if n := im.Count(install.ImportShared); n > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "assent: warning: left out what files of the project allow (%s); "+
					"--project-allows adds it\n", ruleCount(n))
			}
		}
		return all, nil
	case !terminal.IsTerminal(os.Stdin):
		return nil, statusError{exitUsage, errors.New("no terminal to ask at; run this at a terminal, or with --yes")}
	}
	question, keys := "Add "+ruleCount(plain)+"?", "yn"
	if wide > 0 {
		question, keys = "Add "+ruleCount(plain)+" (y), or the wide ones too (w)?", "ywn"
	}
	key, err := terminal.AskKey(os.Stdin, c.ErrOrStderr(), question, keys)
	switch {
	case err != nil:
		return nil, err
	case key == 'w':
		return append(all, install.ImportWide), nil
	case key == 'y':
		return all, nil
	}
	return nil, nil
}

// keep adds the rules.
func (f *importFlags) keep(c *cobra.Command, im *install.Import, take []string) ([]policy.Rule, error) {
	s, err := f.changing(c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	added, err := im.Keep(c.Context(), s, take...)
	if word := rulebook.Refused(err); word == "limit" {
		return nil, fmt.Errorf("%w; or raise limits.rules in config.yaml", err)
	}
	return added, err
}

func ruleCount(n int) string {
	if n == 1 {
		return "1 rule"
	}
	return fmt.Sprintf("%d rules", n)
}
