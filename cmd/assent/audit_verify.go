package main

import (
	"errors"
	"fmt"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/auditview"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/store"
)

func auditExportCmd(flags *auditFlags) *cobra.Command {
	var filter auditview.Filter
	var format string
	c := &cobra.Command{
		Use:   "export",
		Short: "Print records for other programs, oldest first",
		Example: "  assent audit export > audit.jsonl\n" +
			"  assent audit export --format csv --since 2026-01-01",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if format != string(store.FormatJSONL) && format != string(store.FormatCSV) {
				return misused(c, "--format %q: it is jsonl or csv", format)
			}
			return flags.records(c.Context(), filter, func(s *store.Store, wanted approval.RecordFilter) error {
				return s.Export(c.Context(), c.OutOrStdout(), store.Format(format), wanted)
			})
		},
	}
	registerFilter(c, &filter)
	c.Flags().StringVar(&format, "format", string(store.FormatJSONL), "jsonl, with everything, or csv")
	return c
}

func auditSealCmd(flags *auditFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "seal",
		Short: "Print a seal of the log, to store elsewhere",
		Long: "seal prints one word that stands for the whole log so far. Store it where nobody who can write the\n" +
			"log can change it: 'assent audit verify --seal' then detects that the end of the log was cut off or\n" +
			"that the log was rewritten.",
		Example: "  assent audit seal\n" +
			"  assent audit seal >> /mnt/backup/seals",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
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
}

func auditVerifyCmd(flags *auditFlags) *cobra.Command {
	var seals []string
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check that nobody changed the log",
		Long: "verify reads the whole log and names each record that was changed, removed, inserted or moved. With\n" +
			"a seal it also detects a missing end. It exits with status 1 if it finds a problem.",
		Example: "  assent audit verify\n" +
			"  assent audit verify --seal @/mnt/backup/seals",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			wanted, err := auditview.ParseSeals(seals)
			if err != nil {
				return err
			}
			s, err := flags.reading(c.Context())
			if err != nil {
				return err
			}
			defer s.Close()
			found, err := s.Verify(c.Context(), wanted...)
			if err != nil {
				return err
			}
			if !flags.json {
				return auditview.Verification(c.OutOrStdout(), found)
			}
			if err := writeJSON(c.OutOrStdout(), found); err != nil {
				return err
			}
			return auditview.VerificationError(found)
		},
	}
	c.Flags().StringArrayVar(&seals, "seal", nil, "a seal, or @FILE with one in each line; may be repeated")
	return c
}
