package store

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/store/kept"
)

// where writes a filter as a condition.
func where(f approval.RecordFilter) (string, []any) {
	conditions, args := []string{"1"}, []any{}
	add := func(condition string, values ...any) {
		conditions, args = append(conditions, condition), append(args, values...)
	}
	if f.After > 0 {
		add("events.seq > ?", f.After)
	}
	if !f.Since.IsZero() {
		add("at >= ?", kept.Nanoseconds(f.Since))
	}
	if !f.Until.IsZero() {
		add("at < ?", kept.Nanoseconds(f.Until))
	}
	if f.Session != "" {
		add("events.session = ?", f.Session)
	}
	if f.Tool != "" {
		add("tool GLOB ?", strings.ReplaceAll(f.Tool, "[", "[[]"))
	}
	if f.Worker != "" {
		add("instr(workers, ?) > 0", "/"+f.Worker+"/")
	}
	if f.States != nil {
		values := make([]any, len(f.States))
		for i, s := range f.States {
			values[i] = string(s)
		}
		add("state IN (NULL"+strings.Repeat(", ?", len(values))+")", values...)
	}
	if f.Stage != "" {
		add("stage = ?", string(f.Stage))
	}
	if f.Rule != "" {
		add("rule = ?", f.Rule)
	}
	return strings.Join(conditions, " AND "), args
}

// Records implements [approval.AuditLog].
func (s *Store) Records(ctx context.Context, f approval.RecordFilter) iter.Seq2[approval.Record, error] {
	condition, args := where(f)
	order := " ORDER BY events.seq"
	if f.Last > 0 {
		// The newest are looked for from the end, and given out in order.
		condition = "events.seq IN (SELECT seq FROM events WHERE " + condition + " ORDER BY seq DESC LIMIT ?)"
		args = append(args, f.Last)
	}
	return s.records(ctx, condition+order, args)
}

func (s *Store) records(ctx context.Context, condition string, args []any) iter.Seq2[approval.Record, error] {
	return func(yield func(approval.Record, error) bool) {
		err := s.read(ctx, func(q querier) error {
			return eachEvent(ctx, q, condition, args, func(r *kept.Record, unended bool) error {
				record, err := r.Record()
				if err != nil {
					return err
				}
				record.Unended = unended
				if !yield(record, nil) {
					return errEnough
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(approval.Record{}, err)
		}
	}
}

// eachEvent calls f for the rows of a query, with whether the call has not ended.
func eachEvent(ctx context.Context, q querier, condition string, args []any, f func(*kept.Record, bool) error) error {
	columns := "events." + strings.ReplaceAll(eventColumns, ", ", ", events.")
	rows, err := q.QueryContext(ctx,
		"SELECT "+columns+", running.seq IS NOT NULL FROM events LEFT JOIN running USING (seq) WHERE "+condition, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r kept.Record
		var unended bool
		if err := rows.Scan(append(eventScan(&r), &unended)...); err != nil {
			return err
		}
		if err := f(&r, unended); err != nil {
			return err
		}
	}
	return rows.Err()
}

// RecordAt implements [approval.AuditLog]. It checks the hash of the record.
func (s *Store) RecordAt(ctx context.Context, seq int64) (out approval.Record, err error) {
	found := false
	err = s.read(ctx, func(q querier) error {
		return eachEvent(ctx, q, "events.seq = ?", []any{seq}, func(r *kept.Record, unended bool) error {
			if hash := r.Sum(new(audit.Chain), r.Prev); string(hash[:]) != string(r.Hash) {
				return damage("record %d is not what was recorded", seq)
			}
			found = true
			out, err = r.Record()
			out.Unended = unended
			return err
		})
	})
	if err == nil && !found {
		err = fmt.Errorf("record %d: %w", seq, audit.ErrNoRecord)
	}
	return out, err
}

// RecordsOf returns the records of a call or request, the oldest first.
func (s *Store) RecordsOf(ctx context.Context, id string) iter.Seq2[approval.Record, error] {
	const of = "events.call = ? OR json_extract(CAST(events.body AS TEXT), '$.request') = ? ORDER BY events.seq"
	return s.records(ctx, of, []any{id, id})
}

// Follow yields the records that fit, those that are there and then each as it
// comes, by whatever process, until ctx is done.
func (s *Store) Follow(ctx context.Context, f approval.RecordFilter) iter.Seq2[approval.Record, error] {
	return func(yield func(approval.Record, error) bool) {
		changed, stop := s.signal(topicEvents)
		defer stop()
		for {
			for r, err := range s.Records(ctx, f) {
				if ctx.Err() != nil || !yield(r, err) || err != nil {
					return
				}
				f.After = r.Seq
			}
			f.Last = 0
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Seal implements [approval.AuditLog].
func (s *Store) Seal(ctx context.Context) (seal audit.Seal, err error) {
	h, err := s.now(ctx)
	if err != nil {
		return seal, err
	}
	return audit.NewSeal(h.seq, h.hash), nil
}

// A Format is how records are exported.
type Format string

// The formats.
const (
	FormatJSONL Format = "jsonl" // a record a line, with everything
	FormatCSV   Format = "csv"   // a record a line, for a spreadsheet
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
	case FormatJSONL:
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return func(r approval.Record) error { return enc.Encode(r) }, func() error { return nil }, nil
	case FormatCSV:
		c := csv.NewWriter(w)
		flush = func() error { c.Flush(); return c.Error() }
		return func(r approval.Record) error { return c.Write(csvRow(&r)) }, flush, c.Write(csvHeader)
	}
	return nil, nil, fmt.Errorf("unknown format %q: use jsonl or csv", format)
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
