//go:build all && linux

package db_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/log"
	"github.com/assent-dev/assent/internal/team/wire"
)

func TestALogGoesOnWhereItEnds(t *testing.T) {
	_, d, g, dsn := fixture(t)
	whole := chained("log", 0, zero, 30)
	part := func(from, to int) wire.Records { return wire.Records{Stream: "log", Rows: whole.Rows[from:to]} }
	changed := func(r wire.Records, f func(*wire.Record)) wire.Records {
		r.Rows = slices.Clone(r.Rows)
		f(&r.Rows[len(r.Rows)/2])
		return r
	}
	fork := chained("log", 10, whole.Rows[9].Hash, 5)
	for i := range fork.Rows {
		fork.Rows[i].Body = []byte("other")
	}
	other := wire.Records{Stream: "log"}
	prev := whole.Rows[9].Hash
	for i := range 5 {
		r := chained("other", int64(10+i), prev, 1).Rows[0]
		other.Rows, prev = append(other.Rows, r), r.Hash
	}
	for _, c := range []struct {
		name string
		rows wire.Records
		kept int64
		err  error
	}{
		{"the beginning", part(0, 10), 10, nil},
		{"the beginning again", part(0, 10), 10, nil},
		{"a part of it", part(3, 7), 10, nil},
		{"a gap", part(11, 20), 0, db.ErrGap},
		{"a gap inside", wire.Records{Stream: "log", Rows: append(slices.Clone(whole.Rows[10:12]), whole.Rows[13:15]...)}, 0, db.ErrGap},
		{"an overlap", part(5, 20), 20, nil},
		{"a changed body", changed(part(20, 25), func(r *wire.Record) { r.Body = []byte("x") }), 0, db.ErrFork},
		{"a changed text", changed(part(20, 25), func(r *wire.Record) { r.Texts = []string{"x"} }), 0, db.ErrFork},
		{"a changed number", changed(part(20, 25), func(r *wire.Record) { r.Numbers = nil }), 0, db.ErrFork},
		{"a changed hash", changed(part(20, 25), func(r *wire.Record) { r.Hash = zero }), 0, db.ErrFork},
		{"a fork inside what is there", other, 0, db.ErrFork},
		{"a broken fork", fork, 0, db.ErrFork},
		{"a fork at the end", chained("log", 20, zero, 3), 0, db.ErrFork},
		{"the rest", part(20, 30), 30, nil},
	} {
		kept, err := d.Append(t.Context(), g.ID, c.rows)
		if !errors.Is(err, c.err) || kept.Seq != c.kept {
			t.Errorf("%s: %+v, %v", c.name, kept, err)
		}
	}
	if v, err := d.VerifyStream(t.Context(), g.ID, "log"); err != nil || !v.OK() || v.Records != 30 {
		t.Errorf("%+v, %v", v, err)
	}
	sql(t, dsn, `UPDATE team.events SET body = 'x' WHERE seq = 17`)
	if v, err := d.VerifyStream(t.Context(), g.ID, "log"); err != nil || v.OK() {
		t.Errorf("a row that was changed by hand: %+v, %v", v, err)
	}
}

// A machine sends the same rows through two replicas, since an answer was lost.
func TestRacingAppendsKeepOneChain(t *testing.T) {
	_, d, g, dsn := fixture(t)
	replicas := []*db.DB{d, open(t, dsn)}
	const streams, batches, size = 8, 10, 20
	var all sync.WaitGroup
	for s := range streams {
		stream := fmt.Sprintf("log%d", s)
		whole := chained(stream, 0, zero, batches*size)
		for _, replica := range replicas {
			all.Go(func() {
				for i := range batches {
					rows := wire.Records{Stream: stream, Rows: whole.Rows[i*size : (i+1)*size]}
					if kept, err := replica.Append(t.Context(), g.ID, rows); err != nil || kept.Seq < rows.Rows[size-1].Seq {
						t.Errorf("%+v, %v", kept, err)
					}
				}
			})
		}
	}
	all.Wait()
	for s := range streams {
		if v, err := d.VerifyStream(t.Context(), g.ID, fmt.Sprintf("log%d", s)); err != nil || !v.OK() || v.Records != batches*size {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

// logKey is a key of a log.
func logKey(t testing.TB) (note.Signer, note.Verifier) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, "acme-log")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	return signer, verifier
}

// Records that are large are read and proved in pieces that fit into memory; none is left out.
func TestAttack_RecordsThatAreLarge(t *testing.T) {
	_, d, g, _ := fixture(t)
	signer, _ := logKey(t)
	prev := zero
	for seq := range int64(12) {
		r := wire.Record{Seq: seq + 1, Prev: prev, Body: bytes.Repeat([]byte("x"), 3<<20)}
		sum := new(audit.Chain).Hash(r.Prev, r.Numbers, r.Texts, r.Body)
		r.Hash, prev = sum[:], sum[:]
		if _, err := d.Append(t.Context(), g.ID, wire.Records{Stream: "log", Rows: []wire.Record{r}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.MakeCheckpoint(t.Context(), signer); err != nil {
		t.Fatal(err)
	}
	if _, err := d.ProveRecord(t.Context(), g.ID, "log", 1); !errors.Is(err, db.ErrLong) {
		t.Errorf("36 MiB in one proof: %v", err)
	}
	if i, err := d.ProveRecord(t.Context(), g.ID, "log", 5); err != nil || len(i.Records) != 8 {
		t.Errorf("%d records, %v", len(i.Records), err)
	}
	n := int64(0)
	for k, err := range d.Since(t.Context(), time.Time{}) {
		if n++; err != nil || k.Seq != n {
			t.Fatalf("record %d is %d: %v", n, k.Seq, err)
		}
	}
	if v, err := d.VerifyStream(t.Context(), g.ID, "log"); err != nil || n != 12 || v.Records != 12 {
		t.Errorf("%d records, %+v, %v", n, v, err)
	}
}

func TestAnOutsiderChecksARecord(t *testing.T) {
	_, d, g, dsn := fixture(t)
	replica := open(t, dsn)
	signer, verifier := logKey(t)
	heads := map[string][]byte{}
	var sizes []int64
	for minute := range 5 {
		for s := range 3 + minute {
			stream := fmt.Sprintf("log%d", s)
			prev, after := heads[stream], int64(0)
			if prev == nil {
				prev = zero
			} else if now, err := d.Stream(t.Context(), g.ID, stream); err == nil {
				after = now.Head.Seq
			}
			rows := chained(stream, after, prev, 4)
			if _, err := d.Append(t.Context(), g.ID, rows); err != nil {
				t.Fatal(err)
			}
			heads[stream] = rows.Rows[3].Hash
		}
		var both sync.WaitGroup
		for _, r := range []*db.DB{d, replica} {
			both.Go(func() {
				if _, err := r.MakeCheckpoint(t.Context(), signer); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		newest, err := d.NewestCheckpoint(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, newest.Size)
	}
	if fmt.Sprint(sizes) != "[3 7 12 18 25]" {
		t.Fatalf("sizes %v", sizes)
	}
	for seq := int64(1); seq <= 20; seq++ {
		proof, err := d.ProveRecord(t.Context(), g.ID, "log1", seq)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := proof.Verify(verifier); err != nil || c.Size != 25 || proof.Records[0].Seq != seq {
			t.Fatalf("record %d: %+v, %v", seq, c, err)
		}
	}
	if _, err := d.ProveRecord(t.Context(), g.ID, "log1", 21); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("a record that is not there: %v", err)
	}
	for i, older := range sizes {
		for _, newer := range sizes[i:] {
			c, err := d.ProveGrowth(t.Context(), older, newer)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.Verify(verifier); err != nil {
				t.Errorf("%d to %d: %v", older, newer, err)
			}
		}
	}
	proof, err := d.ProveRecord(t.Context(), g.ID, "log1", 7)
	if err != nil {
		t.Fatal(err)
	}
	everyByte(t, proof, func(i log.Inclusion) error { _, err := i.Verify(verifier); return err })
	growth, err := d.ProveGrowth(t.Context(), 7, 25)
	if err != nil {
		t.Fatal(err)
	}
	everyByte(t, growth, func(c log.Consistency) error { _, _, err := c.Verify(verifier); return err })

	// A server that rewrites what it has cannot prove it to somebody who kept a checkpoint.
	sql(t, dsn, `UPDATE team.events SET body = 'x' WHERE stream = 'log1' AND seq = 7`)
	if proof, err = d.ProveRecord(t.Context(), g.ID, "log1", 7); err == nil {
		_, err = proof.Verify(verifier)
	}
	if err == nil {
		t.Error("a rewritten record is proven")
	}
	sql(t, dsn, `UPDATE team.tree SET hash = set_byte(hash, 0, get_byte(hash, 0) # 1) WHERE n = 0`)
	if proof, err = d.ProveRecord(t.Context(), g.ID, "log1", 5); err == nil {
		_, err = proof.Verify(verifier)
	}
	if err == nil {
		t.Error("a rewritten tree proves")
	}
}

// everyByte changes each byte of a proof that means something: none of them may be accepted. What is only
// another spelling of the same proof is the same proof.
func everyByte[T any](t *testing.T, proof T, verify func(T) error) {
	t.Helper()
	text, err := json.Marshal(proof)
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(proof); err != nil {
		t.Fatal(err)
	}
	changed := 0
	for i := range text {
		for _, with := range []byte{text[i] ^ 1, text[i] ^ 0x20, 'A', '0'} {
			other := bytes.Clone(text)
			if other[i] = with; with == text[i] {
				continue
			}
			var p T
			if err := json.Unmarshal(other, &p); err != nil {
				continue
			}
			if again, err := json.Marshal(p); err != nil || bytes.Equal(again, text) {
				continue
			}
			changed++
			if err := verify(p); err == nil {
				t.Errorf("byte %d changed from %q to %q is accepted: %s", i, text[i], with, other)
			}
		}
	}
	if changed < len(text) {
		t.Errorf("only %d changes of %d bytes were tried", changed, len(text))
	}
}

func TestOldRecordsGoOnceTheyAreInACheckpoint(t *testing.T) {
	_, d, g, dsn := fixture(t)
	signer, verifier := logKey(t)
	whole := chained("log", 0, zero, 20)
	if _, err := d.Append(t.Context(), g.ID, wire.Records{Stream: "log", Rows: whole.Rows[:10]}); err != nil {
		t.Fatal(err)
	}
	sql(t, dsn, `UPDATE team.events SET at = at - interval '90 days'`)
	const keep = 30 * 24 * time.Hour
	count := func() int {
		rows, err := d.Records(t.Context(), g.ID, "log", 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		return len(rows)
	}
	if err := d.Prune(t.Context(), keep); err != nil || count() != 10 {
		t.Errorf("%d are left before a checkpoint, %v", count(), err)
	}
	if _, err := d.MakeCheckpoint(t.Context(), signer); err != nil {
		t.Fatal(err)
	}
	if err := d.Prune(t.Context(), keep); err != nil || count() != 1 {
		t.Errorf("%d are left after a checkpoint, %v", count(), err)
	}
	if _, err := d.Append(t.Context(), g.ID, wire.Records{Stream: "log", Rows: whole.Rows[5:]}); err != nil {
		t.Fatal(err)
	}
	if v, err := d.VerifyStream(t.Context(), g.ID, "log"); err != nil || !v.OK() || v.First != 10 {
		t.Errorf("%+v, %v", v, err)
	}
	proof, err := d.ProveRecord(t.Context(), g.ID, "log", 10)
	if err == nil {
		_, err = proof.Verify(verifier)
	}
	if err != nil {
		t.Error(err)
	}
}
