package main

import (
	"errors"
	"fmt"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/setup/open"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/store"
)

func auditExportCmd(flags *auditFlags) *cobra.Command {
	var filter auditview.Filter
	var format string
	var team serverFlags
	c := &cobra.Command{
		Use:   "export",
		Short: "Print records for other programs, oldest first",
		Long: "export prints the records of this machine's log. With --config, or --server and --key, it prints those that\n" +
			"all machines of the team shipped, machine by machine, as JSON lines; of the filters only --since works then.",
		Example: "  assent audit export > audit.jsonl\n" +
			"  assent audit export --format csv --since 2026-01-01\n" +
			"  assent audit export --server=https://assent.example.org --key acme.key --since 30d > team.jsonl",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if format != string(store.FormatJSONL) && format != string(store.FormatCSV) {
				return misused(c, "--format %q: it is jsonl or csv", format)
			}
			if team.given() {
				if only := (auditview.Filter{Since: filter.Since}); filter != only || format != string(store.FormatJSONL) {
					return misused(c, "the records of a team are exported as jsonl, and filtered by --since alone")
				}
				return exportServer(c, flags, &team, filter)
			}
			return flags.records(c.Context(), filter, func(s *store.Store, wanted approval.RecordFilter) error {
				return s.Export(c.Context(), c.OutOrStdout(), store.Format(format), wanted)
			})
		},
	}
	registerFilter(c, &filter)
	team.register(c)
	c.Flags().StringVar(&format, "format", string(store.FormatJSONL), "jsonl, with everything, or csv")
	return c
}

func auditSealCmd(flags *auditFlags) *cobra.Command {
	var team serverFlags
	c := &cobra.Command{
		Use:   "seal",
		Short: "Print a seal of the log, to store elsewhere",
		Long: "seal prints one word that stands for the whole log so far. Store it where nobody who can write the\n" +
			"log can change it: 'assent audit verify --seal' then detects that the end of the log was cut off or\n" +
			"that the log was rewritten. With --server it prints the newest signed checkpoint of the team's log, for\n" +
			"'assent audit verify --server --since'.",
		Example: "  assent audit seal\n" +
			"  assent audit seal >> /mnt/backup/seals\n" +
			"  assent audit seal --server > november.checkpoint",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if team.given() {
				return sealServer(c, flags, &team)
			}
			s, err := flags.reading(c.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			seal, err := s.Seal(c.Context())
			if err != nil {
				return err
			}
			switch {
			case seal.Seq == 0:
				return errors.New("there is nothing to seal: nothing has been decided")
			case flags.json:
				return writeJSON(c.OutOrStdout(), seal)
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), seal)
			return err
		},
	}
	team.register(c)
	return c
}

func auditVerifyCmd(flags *auditFlags) *cobra.Command {
	var seals []string
	var team serverFlags
	var proof, logKey, since string
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check that nobody changed the log",
		Long: "verify reads the whole log and names each record that was changed, removed, inserted or moved. With\n" +
			"a seal it also detects a missing end. It exits with status 1 if it finds a problem.\n" +
			"\n" +
			"With --server it then checks that these records are in the log of the team's server, and that this log\n" +
			"only grew since the last check, or since the checkpoint in a file. The key of the log is the one that the\n" +
			"team's signed bundle names. With --proof it checks what 'assent audit prove' printed: that needs nothing\n" +
			"but the file and the public key of the log.",
		Example: "  assent audit verify\n" +
			"  assent audit verify --seal @/mnt/backup/seals\n" +
			"  assent audit verify --server --since november.checkpoint\n" +
			"  assent audit verify --proof proof.json --log-key acme-log+1a2b3c4d+AbCd",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case (proof == "") != (logKey == ""):
				return misused(c, "--proof and --log-key belong together")
			case proof != "" && (team.given() || len(seals) > 0):
				return misused(c, "--proof is checked alone: leave out --server, --config, --key and --seal")
			case proof != "":
				return verifyProof(c, flags, proof, logKey, since)
			case since != "" && !team.given():
				return misused(c, "--since is about the log of a server: add --server, --config or --proof")
			}
			wanted, err := auditview.ParseSeals(seals)
			if err != nil {
				return err
			}
			s, err := flags.reading(c.Context())
			if errors.Is(err, open.ErrNoStore) && team.given() { // beside the server there may be no log of a machine
				return verifyServer(c, flags, &team, since)
			}
			if err != nil {
				return err
			}
			defer s.Close()
			found, err := s.Verify(c.Context(), wanted...)
			if err != nil {
				return err
			}
			if flags.json {
				if err := writeJSON(c.OutOrStdout(), found); err != nil {
					return err
				}
				err = auditview.VerificationError(found)
			} else {
				err = auditview.Verification(c.OutOrStdout(), found)
			}
			if err != nil || !team.given() {
				return err
			}
			return verifyServer(c, flags, &team, since)
		},
	}
	team.register(c)
	c.Flags().StringVar(&since, "since", "", "a `FILE` with an older checkpoint, from 'assent audit seal --server'")
	c.Flags().StringVar(&proof, "proof", "", "check the proof in this `FILE`; - is standard input")
	c.Flags().StringVar(&logKey, "log-key", "", "the public key of the log, NAME+HASH+KEY")
	c.Flags().StringArrayVar(&seals, "seal", nil, "a seal, or @FILE with one in each line; may be repeated")
	return c
}
