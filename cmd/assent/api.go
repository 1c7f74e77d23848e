package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/proof"
)

func apiCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "api",
		Short: "Make tokens for programs that use the API of the inbox",
		Long: "While 'assent inbox --web' runs, your own programs can use its API under /api/v1 with a token\n" +
			"that reads or denies. No token can approve: that takes a person in a browser or a terminal.\n" +
			"GET /api/v1/openapi.json describes it.",
		Example: "  assent api token --name panel --right read",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(apiTokenCmd(), apiTokensCmd(), apiRevokeCmd())
	return c
}

func apiTokenCmd() *cobra.Command {
	var flags storeFlags
	var name, expires string
	var rights []string
	c := &cobra.Command{
		Use:     "token",
		Short:   "Make a token and print it, once",
		Example: "  assent api token --name panel --right read\n  assent api token --name watchdog --right read,deny --expires 30d",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := flags.changing(c)
			if err != nil {
				return err
			}
			defer s.Close()
			now := time.Now()
			token := proof.Token{Name: name, Created: now.UTC().Truncate(time.Second)}
			for _, r := range rights {
				token.Rights = append(token.Rights, proof.Right(strings.TrimSpace(r)))
			}
			if expires != "" {
				if token.Expires, err = auditview.ParseUntil(expires, now); err != nil {
					return fmt.Errorf("--expires: %w", err)
				}
			}
			id, secret, err := proof.NewBook(s).MakeToken(c.Context(), token)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "Token %s can %s. It is shown only now; 'assent api revoke %s' ends it.\n",
				id, strings.Join(rights, " and "), id)
			_, err = fmt.Fprintln(c.OutOrStdout(), secret)
			return err
		},
	}
	flags.register(c)
	c.Flags().StringVar(&name, "name", "", "what it is for")
	c.Flags().StringSliceVar(&rights, "right", []string{"read"}, "read, deny or both")
	c.Flags().StringVar(&expires, "expires", "", "when it ends: 12h, 30d, or a date (default: never)")
	return c
}

func apiTokensCmd() *cobra.Command {
	var flags storeFlags
	var asJSON bool
	c := &cobra.Command{
		Use: "tokens", Short: "List the tokens", Example: "  assent api tokens", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := flags.changing(c)
			if err != nil {
				return err
			}
			defer s.Close()
			all, err := proof.NewBook(s).Tokens(c.Context())
			if err != nil {
				return err
			}
			if asJSON {
				for id, t := range all {
					t.Digest = nil
					all[id] = t
				}
				return writeJSON(c.OutOrStdout(), all)
			}
			if len(all) == 0 {
				fmt.Fprintln(c.OutOrStdout(), "There are no tokens.")
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, id := range slices.Sorted(maps.Keys(all)) {
				t := all[id]
				until := "no expiry"
				if !t.Expires.IsZero() {
					until = "until " + t.Expires.Local().Format(time.DateTime)
				}
				fmt.Fprintf(w, "%s\t%s\t%v\t%s\n", id, shownText(t.Name), t.Rights, until)
			}
			return w.Flush()
		},
	}
	flags.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func apiRevokeCmd() *cobra.Command {
	var flags storeFlags
	c := &cobra.Command{
		Use: "revoke ID", Short: "End a token", Example: "  assent api revoke x7k2m9qp4w", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := flags.changing(c)
			if err != nil {
				return err
			}
			defer s.Close()
			if err := proof.NewBook(s).RevokeToken(c.Context(), args[0]); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "Token %s is revoked.\n", shownText(args[0]))
			return nil
		},
	}
	flags.register(c)
	return c
}
