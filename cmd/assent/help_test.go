package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Every command has an example that the command line takes, and a description that fits a line of
// the list.
func TestHelp_EveryCommandHasExamples(t *testing.T) {
	root := rootCmd()
	root.InitDefaultVersionFlag()
	for _, c := range shownCommands(root) {
		path := c.CommandPath()
		switch {
		case c.Example == "":
			t.Errorf("%s has no example", path)
		case c.Short == "" || len(c.Short) > 75 || strings.HasSuffix(c.Short, "."):
			t.Errorf("%s: the short description %q is not a short phrase", path, c.Short)
		case c.Parent() == root && c.GroupID == "":
			t.Errorf("%s has no group; add it to groups()", path)
		}
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 120 && !strings.Contains(line, "mcpServers") {
				t.Errorf("%s: a line of its help has %d columns: %s", path, n, line)
			}
		}
		about := false
		for _, argv := range exampleCalls(t, c) {
			found, err := exampleParses(argv)
			if err != nil {
				t.Errorf("%s: the example %q does not work: %v", path, argv, err)
			}
			about = about || found == path || strings.HasPrefix(found, path+" ")
		}
		if !about && c.Name() != "permission-tool" { // it is started by what is shown
			t.Errorf("%s: no example uses it", path)
		}
	}
}

// exampleCalls are the command lines of assent in the example of a command.
func exampleCalls(t *testing.T, c *cobra.Command) (out [][]string) {
	file, err := syntax.NewParser().Parse(strings.NewReader(c.Example), c.Name())
	if err != nil {
		t.Errorf("%s: %v", c.CommandPath(), err)
		return nil
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		argv, err := expand.Fields(nil, call.Args...)
		if err != nil {
			t.Errorf("%s: %v", c.CommandPath(), err)
		}
		if i := slices.Index(argv, "assent"); i >= 0 {
			out = append(out, argv[i+1:])
		}
		return true
	})
	return out
}

// exampleParses takes a command line up to the point where the command would run, and returns the
// command's path.
func exampleParses(argv []string) (path string, err error) {
	root := rootCmd()
	root.InitDefaultVersionFlag()
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	for _, c := range shownCommands(root) {
		c.RunE = func(c *cobra.Command, _ []string) error { path = c.CommandPath(); return nil }
		c.Run = nil
	}
	root.SetArgs(argv)
	err = root.Execute()
	return path, err
}
