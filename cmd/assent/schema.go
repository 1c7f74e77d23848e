package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
)

func schemaCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [worker|policy|config]",
		Short: "Print the JSON schema of a kind of file, for editors",
		Long: "schema prints the JSON schema of worker files (their front matter), policies or the user's\n" +
			"config.yaml. It is made of the tables that assent reads these files by.",
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
