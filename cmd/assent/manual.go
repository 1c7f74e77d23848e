package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// manualCmd writes the manual pages, from the same words as --help. It is for 'make install' and
// packages, so it is hidden.
func manualCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "manual FOLDER",
		Short:   "Write the manual pages into a folder",
		Example: "  assent manual /usr/local/share/man/man1",
		Args:    cobra.ExactArgs(1),
		Hidden:  true,
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			root.InitDefaultVersionFlag()
			for _, about := range shownCommands(root) {
				about.InitDefaultHelpFlag()
				file := filepath.Join(args[0], manualName(about)+".1")
				if err := os.WriteFile(file, []byte(manualPage(about)), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// shownCommands are a command and those below it that help shows.
func shownCommands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			all = append(all, shownCommands(sub)...)
		}
	}
	return all
}

func manualName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manualWidth is how wide the list of options may be on a page of 80 columns.
const manualWidth = 70

// manualPage is the page of one command. It has no date, so that two builds of one version write the
// same.
func manualPage(c *cobra.Command) string {
	var b strings.Builder
	name := manualName(c)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"assent %s\" \"assent manual\"\n", roff(strings.ToUpper(name)), roff(thisBuild().Version))
	b.WriteString(".nh\n.SH NAME\n" + roff(name) + ` \- ` + roff(c.Short) + "\n")
	b.WriteString(".SH SYNOPSIS\n" + roff(c.UseLine()) + "\n.SH DESCRIPTION\n")
	roffText(&b, c.Long)
	if c.Long == "" {
		roffText(&b, c.Short+".")
	}
	if subs := shownCommands(c)[1:]; len(subs) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range subs {
			if sub.Parent() == c {
				b.WriteString(".TP\n.B " + roff(sub.Name()) + "\n" + roff(sub.Short) + ".\n")
			}
		}
	}
	if c.HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		roffText(&b, strings.TrimSuffix(c.Flags().FlagUsagesWrapped(manualWidth), "\n"))
	}
	b.WriteString(".SH EXAMPLES\n")
	roffText(&b, c.Example)
	if c.HasParent() {
		b.WriteString(".SH SEE ALSO\n.BR " + roff(manualName(c.Parent())) + " (1)\n")
	} else {
		roffRoot(&b)
	}
	return b.String()
}

// roffRoot has what only the page of the whole program says.
func roffRoot(b *strings.Builder) {
	b.WriteString(".SH EXIT STATUS\n")
	for _, s := range []struct {
		status int
		means  string
	}{
		{exitOK, "Done."}, {exitFailed, "Something failed."}, {exitUsage, "The command line was wrong."},
		{exitDenied, "A denial stopped it."}, {exitNoSandbox, "A sandbox is required, and none works."},
		{exitPaused, "The run waits for answers."}, {exitInterrupted, "It was interrupted."},
	} {
		fmt.Fprintf(b, ".TP\n.B %d\n%s\n", s.status, s.means)
	}
	b.WriteString(".SH FILES\n")
	for _, f := range [][2]string{
		{"~/.config/assent/config.yaml", "Your own settings."},
		{".assent/policy.yaml", "The policy of a project."},
		{"/etc/assent/policy.yaml", "The administrator's policy."},
		{"~/.local/state/assent", "Rules, requests, undo and the audit log."},
	} {
		b.WriteString(".TP\n.I " + roff(f[0]) + "\n" + f[1] + "\n")
	}
}

// roffText writes paragraphs; lines that begin with two blanks stay as they are.
func roffText(b *strings.Builder, text string) {
	asIs := false
	for line := range strings.SplitSeq(text, "\n") {
		if indented := strings.HasPrefix(line, "  "); indented != asIs {
			asIs = indented
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[asIs])
		}
		if line == "" {
			line = ".PP"
		} else {
			line = roff(line)
		}
		b.WriteString(line + "\n")
	}
	if asIs {
		b.WriteString(".fi\n")
	}
}

// roff escapes a line: a backslash begins a command, and so does a dot or a quote in the first column;
// a bare - is a hyphen that cannot be copied, and what is not ASCII depends on the locale.
func roff(line string) string {
	var b strings.Builder
	for i, r := range line {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case i == 0 && (r == '.' || r == '\''):
			b.WriteString(`\&` + string(r))
		case r > 126:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
