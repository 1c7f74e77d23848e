package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/present"
)

// shownText is text of others as it may be printed: what would act on a terminal is made
// visible, and a tab, which moves its cursor, is spaces.
func shownText(text string) string { return strings.ReplaceAll(present.Safe(text), "\t", "    ") }

// shownLine is a text that stays on one line, such as a name that somebody else chose: a second line could be taken for ours.
func shownLine(text string) string { return strings.ReplaceAll(present.SafeLine(text), "\t", "    ") }

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// commandName is how the person can start this program.
func commandName() string {
	if _, err := exec.LookPath("assent"); err == nil {
		return "assent"
	}
	return present.SafeLine(os.Args[0])
}

func schemaCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [worker|policy|config]",
		Short: "Print the JSON schema of a kind of file, for editors",
		Long: "schema prints the JSON schema of worker files (their front matter), policies or the user's\n" +
			"config.yaml. It is generated from the tables that assent reads these files with.",
		Example: "  assent schema policy > policy.schema.json\n" +
			"  # then begin a policy with: # yaml-language-server: $schema=policy.schema.json",
		ValidArgs: []string{string(config.WorkerFile), string(config.PolicyFile), string(config.UserFile)},
		Args:      cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			kind := config.WorkerFile
			if len(args) > 0 {
				kind = config.Kind(args[0])
			}
			data, err := config.Schema(kind)
			if err != nil {
				return asUsage(c, err)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s\n", data)
			return err
		},
	}
}
