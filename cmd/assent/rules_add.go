package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents/words"
	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// addFlags are what is said about a new rule.
type addFlags struct {
	because, note, expires string
	here                   bool
	project                string
	keeps                  rulebook.KeepOptions
}

func rulesAddCmd(flags *rulesFlags) *cobra.Command {
	var add addFlags
	c := &cobra.Command{
		Use:   "add RULE",
		Short: "Save a rule",
		Long: "add saves a rule. It holds at once, in processes that are already running too: everywhere, or\n" +
			"with --here or --project in one project only. The project of a folder is the nearest folder\n" +
			"above it with a .assent/policy.yaml, else the top of its git repository, else the folder.\n\n" +
			"add warns about rules that overlap, and refuses a rule that is malformed, already saved,\n" +
			"or one more than the limit.",
		Example: "  assent rules add 'allow shell(git status)'\n" +
			"  assent rules add --here 'allow shell(npm test)'\n" +
			"  assent rules add 'deny shell(git push)' --because 'use the staging project'\n" +
			"  assent rules add 'allow write_file(drafts/**)' --expires 30d --note 'for the report'",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return addWords(c, flags, add, strings.Join(args, " ")) },
	}
	c.Flags().BoolVar(&add.here, "here", false, "only for the project of the current folder")
	c.Flags().Var((*notEmpty)(&add.project), "project", "only for the project of this folder")
	c.MarkFlagsMutuallyExclusive("here", "project")
	c.Flags().StringVar(&add.because, "because", "", "the reason, shown to people and told to the model on a denial")
	c.Flags().StringVar(&add.note, "note", "", "a note for yourself")
	c.Flags().Var((*notEmpty)(&add.expires), "expires", "when it expires: 12h, 30d, 2026-12-31, or a time")
	c.Flags().BoolVar(&add.keeps.Wide, "wide", false, "save it although it allows nearly everything")
	c.Flags().IntVar(&add.keeps.Tools, "warn-tools", 3, "warn if it covers more than this many known tools")
	return c
}

// notEmpty is the value of a flag that narrows something, and must not be empty: --project "$UNSET" would mean everywhere.
type notEmpty string

func (v *notEmpty) String() string { return string(*v) }
func (v *notEmpty) Type() string   { return "string" }
func (v *notEmpty) Set(value string) error {
	if value == "" {
		return errors.New("the value is empty")
	}
	*v = notEmpty(value)
	return nil
}

// addWords adds a rule, or those that another agent's words stand for.
func addWords(c *cobra.Command, flags *rulesFlags, add addFlags, text string) error {
	home, _ := os.UserHomeDir() // without one a path below it is refused
	read := words.Rule(text, home)
	if len(read.Rules) == 0 {
		if read.Missing != "" {
			return statusError{exitUsage, fmt.Errorf("no rule says %q: %s", text, read.Missing)}
		}
		return addRule(c, flags, add, text)
	}
	if add.keeps.Wide {
		read.Rules = append(read.Rules, read.Inner...)
	}
	for _, rule := range read.Rules {
		fmt.Fprintln(c.ErrOrStderr(), "read as:", shownText(rule.String()))
	}
	for _, more := range []string{read.Differs, read.Missing} {
		if more != "" {
			fmt.Fprintln(c.ErrOrStderr(), "assent: warning:", shownText(more))
		}
	}
	for _, rule := range read.Rules {
		if err := addRule(c, flags, add, rule.String()); err != nil {
			return err
		}
	}
	return nil
}

// added is what add did, as JSON.
type added struct {
	Rule   policy.Rule       `json:"rule"`
	Advice []rulebook.Advice `json:"advice"`
}

func addRule(c *cobra.Command, flags *rulesFlags, add addFlags, text string) error {
	s, err := flags.changing(c)
	if err != nil {
		return err
	}
	defer s.Close()
	out := added{}
	if out.Rule, err = add.rule(text, time.Now()); err == nil {
		out.Advice, err = add.keep(c.Context(), s, out.Rule)
	}
	if word := rulebook.Refused(err); word != "" && flags.json {
		refused := map[string]string{"refused": word, "rule": text, "error": err.Error()}
		return errors.Join(writeJSON(c.OutOrStdout(), refused), err)
	}
	if err != nil {
		return err
	}
	if flags.json {
		return writeJSON(c.OutOrStdout(), out)
	}
	for _, a := range out.Advice {
		fmt.Fprintln(c.ErrOrStderr(), "assent: warning:", shownText(a.Text))
	}
	sayAdded(c, out.Rule)
	return nil
}

// sayAdded says which rule was saved, and where it holds.
func sayAdded(c *cobra.Command, r policy.Rule) {
	fmt.Fprintf(c.OutOrStdout(), "Saved rule %s: %s (%s)\n", rulebook.ShortID(r.ID), shownText(r.String()),
		shownText(r.Where()))
}

// projectFolder is the project that the rule is for; empty for everywhere.
func (f addFlags) projectFolder() (string, error) {
	dir := f.project
	if f.here {
		dir = "."
	}
	if dir == "" {
		return "", nil
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", dir)
	}
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return "", fmt.Errorf("--project: %w", err)
	}
	return setup.ProjectOf(dir)
}

// rule makes the rule of what was written.
func (f addFlags) rule(text string, now time.Time) (policy.Rule, error) {
	rule, err := config.ParseRule(text)
	if err != nil {
		return policy.Rule{}, err
	}
	rule.ID, rule.Created, rule.Because, rule.Note = rand.Text(), now.UTC().Truncate(time.Second), f.because, f.note
	if rule.Project, err = f.projectFolder(); err != nil {
		return policy.Rule{}, err
	}
	if f.expires != "" {
		end, err := auditview.ParseUntil(f.expires, now)
		if err != nil {
			return policy.Rule{}, fmt.Errorf("--expires: %w", err)
		}
		rule.Expires = end.UTC().Truncate(time.Second)
	}
	return rule, nil
}

func (f addFlags) keep(ctx context.Context, s *store.Store, rule policy.Rule) ([]rulebook.Advice, error) {
	user, err := userConfig()
	if err != nil {
		return nil, err
	}
	if f.keeps.Folders, err = foldersOf(ctx, rule.Project); err != nil {
		return nil, err
	}
	f.keeps.Limit = cmp.Or(max(user.MaxRules, 0), approval.DefaultRuleLimit)
	return rulebook.Keep(ctx, s, rule, f.keeps)
}

// foldersOf are the names of the folders that the policy of a project gives to tools; of the current
// one for a rule that holds everywhere. Where there is no policy nothing is known.
func foldersOf(ctx context.Context, project string) ([]string, error) {
	order, err := setup.OrderHere("", "")
	if err != nil {
		return nil, err
	}
	order.Dir = cmp.Or(project, order.Dir)
	s, err := setup.Resolve(ctx, order)
	if err != nil {
		return nil, nil // 'assent check' says what is wrong with it
	}
	return config.RootNames(s.Policy.Roots), nil
}
