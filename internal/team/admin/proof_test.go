package admin

import (
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/team/log"
	"github.com/assent-dev/assent/internal/team/wire"
)

// All parts of a proof must be about the checkpoint that it names: each holds for itself.
func TestAProofIsAboutOneCheckpoint(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	private, public, err := note.GenerateKey(rand.Reader, "acme-log")
	must(err)
	signer, err := note.NewSigner(private)
	must(err)

	var hashes []tlog.Hash
	tree := tlog.HashReaderFunc(func(at []int64) (out []tlog.Hash, err error) {
		for _, i := range at {
			out = append(out, hashes[i])
		}
		return out, nil
	})
	record := wire.Record{Seq: 1, Prev: make([]byte, sha256.Size), Body: []byte("{}")}
	var chain audit.Chain
	sum := chain.Hash(record.Prev, nil, nil, record.Body)
	record.Hash = sum[:]
	checkpoints := []string{""} // by size
	for i := range int64(3) {
		leaf := log.Leaf{Tenant: "acme", Gate: "g_1", Stream: "g_1", Seq: i + 1, Hash: record.Hash}
		more, err := tlog.StoredHashes(i, leaf.Data(), tree)
		must(err)
		hashes = append(hashes, more...)
		root, err := tlog.TreeHash(i+1, tree)
		must(err)
		signed, err := log.Checkpoint{Size: i + 1, Root: root, Time: day}.Sign(signer)
		must(err)
		checkpoints = append(checkpoints, signed)
	}
	growth := func(newer int64) *log.Consistency {
		path, err := tlog.ProveTree(newer, 1, tree)
		must(err)
		return &log.Consistency{Older: checkpoints[1], Newer: checkpoints[newer], Proof: path}
	}
	inclusion := func(size int64) *log.Inclusion {
		path, err := tlog.ProveRecord(size, 0, tree)
		must(err)
		return &log.Inclusion{Tenant: "acme", Gate: "g_1", Stream: "g_1", Records: []wire.Record{record}, Proof: path, Checkpoint: checkpoints[size]}
	}

	whole := Proof{Version: proofVersion, Checkpoint: checkpoints[3], Inclusion: inclusion(3), Consistency: growth(3)}
	if f, err := whole.Check(public, checkpoints[1]); err != nil || f.Checkpoint.Size != 3 || f.Older == nil || f.Older.Size != 1 || f.Record == nil {
		t.Fatalf("%+v %v", f, err)
	} else {
		for q, good := range map[Query]bool{{Since: 1}: true, {Gate: "g_1"}: true, {Gate: "g_1", Seq: 1}: true,
			{Gate: "g_1", Seq: 2}: false, {Gate: "g_2", Seq: 1}: false} {
			if err := f.About(q); good != (err == nil) {
				t.Errorf("asked for %+v: %v", q, err)
			}
		}
	}
	if err := (Finding{}).About(Query{Gate: "g_1"}); err == nil {
		t.Error("no record is one of the machine")
	}
	other := whole
	other.Consistency = growth(2)
	if _, err := other.Check(public, checkpoints[1]); err == nil || !strings.Contains(err.Error(), "growth is about another checkpoint") {
		t.Errorf("growth up to another checkpoint: %v", err)
	}
	other = whole
	other.Inclusion = inclusion(2)
	if _, err := other.Check(public, checkpoints[1]); err == nil || !strings.Contains(err.Error(), "record is about another checkpoint") {
		t.Errorf("a record in another checkpoint: %v", err)
	}
	other = whole
	other.Consistency = nil
	if _, err := other.Check(public, checkpoints[1]); err == nil || !strings.Contains(err.Error(), "does not say how the log grew") {
		t.Errorf("no growth: %v", err)
	}
}
