package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/store"
)

func recordSome(t *testing.T, s *store.Store, n int, at time.Time) {
	t.Helper()
	for range n {
		if err := s.Record(t.Context(), approval.Event{Kind: approval.EventEnded, At: at, Why: strings.Repeat("x", 100)}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChainRows(t *testing.T) {
	s, err := store.Open(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	recordSome(t, s, 10, time.Now())
	var last store.ChainRow
	var chain audit.Chain
	for n, after := 0, int64(0); ; {
		rows, err := s.ChainRows(t.Context(), after, 4, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			if n != 10 {
				t.Errorf("%d of 10 rows", n)
			}
			break
		}
		for _, r := range rows {
			if n++; r.Seq != int64(n) || last.Hash != nil && string(r.Prev) != string(last.Hash) {
				t.Errorf("row %d does not follow %d", r.Seq, last.Seq)
			}
			if sum := chain.Hash(r.Prev, r.Numbers, r.Texts, r.Body); string(sum[:]) != string(r.Hash) {
				t.Errorf("row %d: the hash is not that of its parts", r.Seq)
			}
			last = r
		}
		after = last.Seq
	}
	seal, err := s.Seal(t.Context())
	if err != nil || seal != audit.NewSeal(last.Seq, last.Hash) {
		t.Errorf("the last row is not the seal %v (%v)", seal, err)
	}
	if rows, err := s.ChainRows(t.Context(), 0, 100, 1); err != nil || len(rows) != 1 {
		t.Errorf("with no room: %d rows, %v", len(rows), err)
	}
	if rows, err := s.ChainRows(t.Context(), 0, 100, 1500); err != nil || len(rows) < 2 || len(rows) > 5 {
		t.Errorf("with room for a few: %d rows, %v", len(rows), err)
	}
}

func TestRetainKeepsWhatWasNotSent(t *testing.T) {
	s, err := store.Open(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	recordSome(t, s, 10, time.Now().Add(-1000*time.Hour))
	recordSome(t, s, 1, time.Now())
	sent := int64(0)
	keep := store.Retention{Age: time.Hour, Sent: &sent}
	if n, err := s.Retain(t.Context(), keep); err != nil || n != 0 {
		t.Errorf("nothing was sent: %d records removed, %v", n, err)
	}
	sent = 4
	if n, err := s.Retain(t.Context(), keep); err != nil || n != 4 {
		t.Errorf("4 were sent: %d records removed, %v", n, err)
	}
	if rows, err := s.ChainRows(t.Context(), sent, 100, 1<<20); err != nil || len(rows) < 7 || rows[0].Seq != 5 {
		t.Errorf("after that: %d rows, %v", len(rows), err)
	}
}
