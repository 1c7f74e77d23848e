package auditview

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/present"
)

// ParseSeals reads seals as they were printed, or files of them.
func ParseSeals(words []string) ([]audit.Seal, error) {
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

// Verification prints what a check of the log found. The error says that it found something.
func Verification(w io.Writer, v audit.Verification) error {
	for _, f := range v.Flaws {
		fmt.Fprintln(w, present.SafeLine(f.String()))
	}
	for _, s := range v.Unchecked {
		fmt.Fprintf(w, "seal %d could not be checked: that record is no longer kept\n", s.Seq)
	}
	switch {
	case !v.OK():
	case v.Records == 0:
		fmt.Fprintln(w, "The log is as it was recorded: it is empty.")
	default:
		fmt.Fprintf(w, "The log is as it was recorded: %d records, from %d to %d.\n", v.Records, v.First, v.Head.Seq)
	}
	return VerificationError(v)
}

// VerificationError says that the log is not as it was recorded, if that is so.
func VerificationError(v audit.Verification) error {
	if v.OK() {
		return nil
	}
	return fmt.Errorf("the audit log is not as it was recorded: %d findings in %d records", len(v.Flaws), v.Records)
}
