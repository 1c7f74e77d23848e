package store

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
)

// A Format is how records are exported.
type Format string

// The formats.
const (
	JSONL Format = "jsonl" // a record a line, with everything
	CSV   Format = "csv"   // a record a line, for a spreadsheet
)

// Export writes the records that fit, the oldest first.
func (s *Store) Export(ctx context.Context, w io.Writer, format Format, f approval.RecordFilter) error {
	write, flush, err := exporter(w, format)
	if err != nil {
		return err
	}
	for r, err := range s.Records(ctx, f) {
		if err == nil {
			err = write(r)
		}
		if err != nil {
			return err
		}
	}
	return flush()
}

func exporter(w io.Writer, format Format) (write func(approval.Record) error, flush func() error, err error) {
	switch format {
	case JSONL:
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return func(r approval.Record) error { return enc.Encode(r) }, func() error { return nil }, nil
	case CSV:
		c := csv.NewWriter(w)
		flush = func() error { c.Flush(); return c.Error() }
		return func(r approval.Record) error { return c.Write(csvRow(&r)) }, flush, c.Write(csvHeader)
	}
	return nil, nil, fmt.Errorf("unknown format %q: it is jsonl or csv", format)
}

var csvHeader = []string{
	"seq", "at", "kind", "session", "workers", "call", "request", "connector", "tool", "acts", "state", "stage",
	"rule", "grant", "basis", "user", "host", "via", "remembered", "why", "note", "error", "requested", "decided",
	"duration_ms", "arguments", "arguments_digest", "fingerprint", "unended", "hash",
	"remote_host", "remote_port", "program", "sent", "received",
}

func csvRow(r *approval.Record) []string {
	row := []string{
		strconv.FormatInt(r.Seq, 10), csvTime(r.At), string(r.Kind), r.Session, strings.Join(r.Workers, "/"), r.CallID, r.Request,
		r.Connector, r.Tool, strings.Join(r.Acts, "; "), string(r.State), string(r.Stage),
		r.Rule, r.Grant, r.Basis, r.By.User, r.By.Host, string(r.By.Via), string(r.Remembered), r.Why, r.Note, r.Error,
		csvTime(r.Requested), csvTime(r.Decided), strconv.FormatFloat(r.Duration.Seconds()*1000, 'f', -1, 64),
		string(r.Arguments), r.ArgumentsDigest.String(), r.Fingerprint.String(), strconv.FormatBool(r.Unended), r.Hash.String(),
		r.Event.Host, r.Port, r.Program, strconv.FormatInt(r.Sent, 10), strconv.FormatInt(r.Received, 10),
	}
	for i, cell := range row {
		row[i] = harmless(cell)
	}
	return row
}

// harmless keeps a spreadsheet from taking a text for a formula.
func harmless(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}

func csvTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
