package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// A rowSum is the checksum of a row, or of rows. Every field goes in with its
// length, so that no two rows are the same bytes.
type rowSum struct{ data []byte }

func newSum(table string) *rowSum {
	s := &rowSum{}
	s.text(table)
	return s
}

func (s *rowSum) number(n int64) { s.data = binary.BigEndian.AppendUint64(s.data, uint64(n)) }

func (s *rowSum) bytes(b []byte) {
	s.number(int64(len(b)))
	s.data = append(s.data, b...)
}

func (s *rowSum) text(t string) {
	s.number(int64(len(t)))
	s.data = append(s.data, t...)
}

func (s *rowSum) sum() []byte {
	sum := sha256.Sum256(s.data)
	return sum[:]
}

// sumOf returns the checksum of a row: numbers, texts and bytes.
func sumOf(table string, fields ...any) []byte {
	s := newSum(table)
	for _, f := range fields {
		switch f := f.(type) {
		case int64:
			s.number(f)
		case string:
			s.text(f)
		case []byte:
			s.bytes(f)
		default:
			panic(fmt.Sprintf("store: a row cannot have a %T", f))
		}
	}
	return s.sum()
}

// checkRow compares a row with the checksum that it carries.
func checkRow(sum []byte, table string, fields ...any) error {
	if !bytes.Equal(sum, sumOf(table, fields...)) {
		return damage("a row of %s (%v) is not what was written", table, fields[0])
	}
	return nil
}

// sumRows returns the checksum of all rows of a table, or of those that belong together: one
// that is gone is noticed as well as one that was changed.
func sumRows[T any](name string, rows []T, sum func(*T) []byte) []byte {
	all := newSum(name)
	for i := range rows {
		all.bytes(sum(&rows[i]))
	}
	return all.sum()
}

// A scanner copies the columns of a row.
type scanner func(into ...any) error

// collect returns the rows of a query, each as read makes it.
func collect[T any](ctx context.Context, q querier, read func(*T, scanner) error, query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var one T
		if err := read(&one, rows.Scan); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, rows.Err()
}
