package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
)

// A rowSum is the checksum of a row, or of rows. Every field goes in with its
// length, so that no two rows are the same bytes.
type rowSum struct{ h hash.Hash }

func newSum(table string) rowSum {
	s := rowSum{sha256.New()}
	s.text(table)
	return s
}

func (s rowSum) number(n int64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	s.h.Write(b[:])
}

func (s rowSum) bytes(b []byte) {
	s.number(int64(len(b)))
	s.h.Write(b)
}

func (s rowSum) text(t string) { s.bytes([]byte(t)) }

func (s rowSum) sum() []byte { return s.h.Sum(nil) }

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
