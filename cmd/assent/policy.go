package main

import (
	"errors"
	"fmt"
	"io/fs"
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
		Long: "A signed bundle holds a team's policy, its deciders, its people and its machines. These commands make the\n" +
			"key that signs it, show what a new bundle would change, and publish it.\n\n" +
			"They read the people and machines from the server (--server and --key: the team's key signs each call),\n" +
			"or from the server's database (--config, on the server itself).",
		Example: "  assent policy key acme\n" +
			"  assent policy diff team.yaml --server https://assent.example.org --key acme.key --editor ann\n" +
			"  assent policy publish team.yaml --server https://assent.example.org --key acme.key --editor ann",
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
		Long: "key makes the key of the team NAME. It writes the private half to NAME.key, which only you can read, and\n" +
			"prints the public half. Keep the private half off every server: anyone who has it decides who decides. Put\n" +
			"the public half into the administrator's file of each machine and into the server's file.",
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
				"The public half is below. Put it into the server's file as trust, and into %s of each machine:\n\n"+
				"  team:\n    name: %s\n    trust: %s\n\n", shownText(file), config.AdminFile, args[0], public)
			_, err = fmt.Fprintln(c.OutOrStdout(), public)
			return err
		},
	}
	c.Flags().StringVar(&file, "file", "", "the file for the private half (default: NAME.key)")
	return c
}

// writeNew writes a new file that only its owner can read.
func writeNew(file, text string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w; keep that key, or name another file with --file", err)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}
