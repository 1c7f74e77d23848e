package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
)

func auditExportCmd(flags *auditFlags) *cobra.Command {
	var filter filterFlags
	var format string
	c := &cobra.Command{
		Use:   "export",
		Short: "Print records for other programs, the oldest first",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if format != string(store.JSONL) && format != string(store.CSV) {
				return misused(c, "--format %q: it is jsonl or csv", format)
			}
			s, err := flags.reading(c.Context())
			if errors.Is(err, open.ErrNoStore) {
				return nil
			}
			if err != nil {
				return err
			}
			defer s.Close()
			wanted, err := filter.filter(c.Context(), s, time.Now())
			if err != nil {
				return err
			}
			return s.Export(c.Context(), c.OutOrStdout(), store.Format(format), wanted)
		},
	}
	filter.register(c)
	c.Flags().StringVar(&format, "format", string(store.JSONL), "jsonl, with everything, or csv")
	return c
}

func auditSealCmd(flags *auditFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "seal",
		Short: "Print the head of the log, to be kept elsewhere",
		Long: "seal prints one word that stands for the whole log up to now. Kept where nobody who can write\n" +
			"the log can change it, it lets 'assent audit verify --seal' notice that the end was cut off,\n" +
			"or that the log was written anew.",
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
		Long: "verify reads the whole log and names each record that was changed, removed, inserted or moved.\n" +
			"With a seal it also notices that the end is missing. It ends with status 1 if something is wrong.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			wanted, err := parseSeals(seals)
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
			return printVerification(c, found, flags.json)
		},
	}
	c.Flags().StringArrayVar(&seals, "seal", nil, "a seal, or @FILE with one in each line; may be repeated")
	return c
}

// parseSeals reads seals as they were printed, or files of them.
func parseSeals(words []string) ([]audit.Seal, error) {
	var out []audit.Seal
	for _, word := range words {
		texts := []string{word}
		if name, ok := strings.CutPrefix(word, "@"); ok {
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			texts = strings.Fields(string(data))
		}
		for _, text := range texts {
			seal, err := audit.ParseSeal(text)
			if err != nil {
				return nil, err
			}
			out = append(out, seal)
		}
	}
	return out, nil
}

func printVerification(c *cobra.Command, v audit.Verification, asJSON bool) error {
	if asJSON {
		if err := writeJSON(c.OutOrStdout(), v); err != nil {
			return err
		}
	} else {
		for _, f := range v.Flaws {
			fmt.Fprintln(c.OutOrStdout(), present.SafeLine(f.String()))
		}
		for _, s := range v.Unchecked {
			fmt.Fprintf(c.OutOrStdout(), "seal %d could not be checked: that record is no longer kept\n", s.Seq)
		}
	}
	if !v.OK() {
		return fmt.Errorf("the audit log is not as it was recorded: %d findings in %d records", len(v.Flaws), v.Records)
	}
	switch {
	case asJSON:
	case v.Records == 0:
		fmt.Fprintln(c.OutOrStdout(), "The log is as it was recorded: it is empty.")
	default:
		fmt.Fprintf(c.OutOrStdout(), "The log is as it was recorded: %d records, from %d to %d.\n", v.Records, v.First, v.Head.Seq)
	}
	return nil
}
