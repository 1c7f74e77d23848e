package admin

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/team/log"
	"github.com/assent-dev/assent/internal/team/wire"
)

// A grown is a log of one machine, with a leaf and a checkpoint for each record.
type grown struct {
	records     []wire.Record
	hashes      []tlog.Hash
	checkpoints []string // by size
}

func (g *grown) ReadHashes(at []int64) (out []tlog.Hash, err error) {
	for _, i := range at {
		out = append(out, g.hashes[i])
	}
	return out, nil
}

func (g *grown) grow(t testing.TB, key note.Signer, at time.Time, body string) {
	t.Helper()
	size := int64(len(g.records))
	r := wire.Record{Seq: size + 1, Prev: make([]byte, sha256.Size), Body: []byte(body)}
	if size > 0 {
		r.Prev = g.records[size-1].Hash
	}
	var chain audit.Chain
	sum := chain.Hash(r.Prev, nil, nil, r.Body)
	r.Hash = sum[:]
	g.records = append(g.records, r)
	more, err := tlog.StoredHashes(size, log.Leaf{Tenant: "acme", Gate: "g_1", Stream: "g_1", Seq: r.Seq, Hash: r.Hash}.Data(), g)
	if err != nil {
		t.Fatal(err)
	}
	g.hashes = append(g.hashes, more...)
	root, err := tlog.TreeHash(size+1, g)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := log.Checkpoint{Size: size + 1, Root: root, Time: at}.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	g.checkpoints = append(g.checkpoints, signed)
}

// prove makes the proof of a record, and of growth, as an honest server makes it of this log.
func (g *grown) prove(t testing.TB, seq, older, size int64) Proof {
	t.Helper()
	inclusion, err := tlog.ProveRecord(size, seq-1, g)
	if err != nil {
		t.Fatal(err)
	}
	growth, err := tlog.ProveTree(size, older, g)
	if err != nil {
		t.Fatal(err)
	}
	newest := g.checkpoints[size]
	return Proof{Version: proofVersion, Checkpoint: newest,
		Inclusion: &log.Inclusion{Tenant: "acme", Gate: "g_1", Stream: "g_1", Records: g.records[seq-1 : seq], Index: seq - 1,
			Proof: inclusion, Checkpoint: newest},
		Consistency: &log.Consistency{Older: g.checkpoints[older], Newer: newest, Proof: growth}}
}

// fork makes two logs that begin alike and that one key signed: a server that tells two stories.
func fork(t testing.TB) (honest, lying *grown, public string) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, "acme-log")
	if err != nil {
		t.Fatal(err)
	}
	key, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	honest, lying = &grown{checkpoints: []string{""}}, &grown{checkpoints: []string{""}}
	for i := range 7 {
		body := fmt.Sprintf(`{"kind":"ended","at":"2026-01-02T03:04:0%dZ"}`, i)
		honest.grow(t, key, day, body)
		if i == 3 {
			body = `{"kind":"ended","at":"2031-01-01T00:00:00Z"}`
		}
		lying.grow(t, key, day, body)
	}
	return honest, lying, public
}

// Who kept a checkpoint notices that the server goes on with another log, whatever it says about both.
func TestAttack_TwoLogsOfOneKey(t *testing.T) {
	honest, lying, public := fork(t)
	for older := int64(1); older <= 7; older++ {
		for size := older; size <= 7; size++ {
			if _, err := honest.prove(t, 1, older, size).Check(public, honest.checkpoints[older]); err != nil {
				t.Errorf("honest, from %d to %d: %v", older, size, err)
			}
			before := older <= 3 // the fork
			if _, err := lying.prove(t, 1, older, size).Check(public, honest.checkpoints[older]); before != (err == nil) {
				t.Errorf("another log, from %d to %d: %v", older, size, err)
			}
			p := lying.prove(t, 1, older, size)
			p.Consistency.Proof = honest.prove(t, 1, older, size).Consistency.Proof
			if _, err := p.Check(public, honest.checkpoints[older]); err == nil && size > 3 {
				t.Errorf("another log with the proof of the first, from %d to %d", older, size)
			}
			if older < size {
				p := honest.prove(t, 1, older, older)
				if _, err := p.Check(public, honest.checkpoints[size]); err == nil {
					t.Errorf("it shrinks from %d to %d", size, older)
				}
			}
		}
	}
}

// Whatever becomes of the text of a proof on its way: one that holds is about a record that is in the log.
func FuzzProof(f *testing.F) {
	honest, lying, public := fork(f)
	for _, p := range []Proof{honest.prove(f, 2, 1, 7), honest.prove(f, 5, 2, 5), lying.prove(f, 5, 2, 6), lying.prove(f, 1, 3, 3)} {
		text, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, uint8(0), uint16(0), uint16(0))
		f.Add(bytes.Replace(text, []byte(`"seq":`), []byte(`"Seq":1,"seq":`), 1), uint8(1), uint16(100), uint16(4))
		f.Add(bytes.Replace(text, []byte(`"gate":"g_1"`), []byte(`"gate":"g_2"`), 1), uint8(2), uint16(9), uint16(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, older uint8, at, drop uint16) {
		if len(text) > 0 && drop > 0 { // a cut, besides what the fuzzer does
			i := int(at) % len(text)
			text = append(bytes.Clone(text[:i]), text[min(len(text), i+int(drop)%40):]...)
		}
		p, err := ReadProof(text)
		if err != nil {
			return
		}
		kept := ""
		if older %= 8; older > 0 {
			kept = honest.checkpoints[older]
		}
		got, err := p.Check(public, kept)
		if err != nil {
			return
		}
		log := honest
		if size := got.Checkpoint.Size; size > 3 && p.Checkpoint != honest.checkpoints[size] {
			if log = lying; older > 3 {
				t.Fatalf("the other log goes on from checkpoint %d of the first: %s", older, text)
			}
		}
		if r := got.Record; r != nil {
			if r.Seq < 1 || r.Seq > got.Checkpoint.Size || got.Gate != "g_1" || !bytes.Equal(r.Hash[:], log.records[r.Seq-1].Hash) {
				t.Fatalf("a record that is not there, %d of %s: %s", r.Seq, got.Gate, text)
			}
			want, err := readRecord(log.records[r.Seq-1])
			if err != nil || !want.At.Equal(r.At) || want.Kind != r.Kind {
				t.Fatalf("record %d says something else: %s", r.Seq, text)
			}
		}
	})
}
