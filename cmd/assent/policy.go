package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/admin"
	"github.com/assent-dev/assent/internal/team/server"
)

func policyCmd() *cobra.Command {
	var flags deskFlags
	c := &cobra.Command{
		Use:   "policy",
		Short: "Publish the policy of a team",
		Long: "A team's policy, who decides about what, and who the people and machines are is one signed bundle.\n" +
			"These commands make its key, show what a new bundle changes, and publish it.\n\n" +
			"They read the directory of people and machines from the server's database (--config, beside the\n" +
			"server) or from the server itself (--server and --key): then each call is signed with the team's key.",
		Example: "  assent policy key acme\n" +
			"  assent policy diff team.yaml\n" +
			"  assent policy publish team.yaml --key acme.key --editor ann",
	}
	flags.register(c)
	c.AddCommand(policyKeyCmd(), policyDiffCmd(&flags), policyPublishCmd(&flags), policyHistoryCmd(&flags),
		policyRollbackCmd(&flags))
	return c
}

func policyKeyCmd() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "key NAME",
		Short: "Make the key that signs a team's policy",
		Long: "key makes the key of the team NAME and writes its private half into NAME.key, which only you can read.\n" +
			"Keep it away from every server: whoever has it says who decides. The public half, which it prints,\n" +
			"belongs into the administrator's file of each machine and into the server's configuration.",
		Example: "  assent policy key acme\n" +
			"  assent policy key acme --file /media/stick/acme.key",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := byPerson(c); err != nil {
				return err
			}
			if !server.ValidName("-", args[0]) {
				return misused(c, "invalid team name %q: use lower-case letters, digits and -, such as acme", args[0])
			}
			if file == "" {
				file = args[0] + ".key"
			}
			private, public, err := admin.MakeKey(args[0])
			if err != nil {
				return err
			}
			if err := writeNew(file, private+"\n"); err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "The private half is in %s; only you can read it. Keep a copy where no server can reach it.\n"+
				"The public half is below. Put it into %s of each machine:\n\n  team:\n    name: %s\n    trust: %s\n\n"+
				"and into the server's configuration as trust.\n", shownText(file), config.AdminFile, args[0], public)
			_, err = fmt.Fprintln(c.OutOrStdout(), public)
			return err
		},
	}
	c.Flags().StringVar(&file, "file", "", "where the private half goes (default: NAME.key)")
	return c
}

// writeNew writes a file that only its owner can read, and that was not there before.
func writeNew(file, text string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}
