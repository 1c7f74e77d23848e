// Package log is what an outsider needs to check the record of a team: a Merkle tree in which each minute
// the ends of all machines' logs are put, with a signed root. It is pure.
//
// A record is in the tree if the machine's chain leads from it to an end that is a leaf. Two roots are
// those of one tree that only grew if the proof between them holds. For either nobody has to trust the
// server: the record, the proof, the signed roots and the log's public key are enough.
package log

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/team/wire"
)

// A Leaf is the end of a machine's log at some minute.
type Leaf struct {
	Tenant string `json:"tenant"`
	Gate   string `json:"gate"`
	Stream string `json:"stream"`
	Seq    int64  `json:"seq"`
	Hash   []byte `json:"hash"` // of the record with that number
}

// Data is what the tree hashes.
func (l Leaf) Data() []byte {
	return fmt.Appendf(nil, "assent leaf 1\n%q\n%q\n%q\n%d\n%x\n", l.Tenant, l.Gate, l.Stream, l.Seq, l.Hash)
}

// A Checkpoint is the root of the tree at some size, in the format of C2SP's tlog-checkpoint: the name of
// the key, the size, the root, and as an extension the time.
type Checkpoint struct {
	Size int64
	Root tlog.Hash
	Time time.Time
}

// Sign returns the checkpoint as a signed note.
func (c Checkpoint) Sign(key note.Signer) (string, error) {
	text := fmt.Sprintf("%s\n%d\n%s\ntime %s\n", key.Name(), c.Size, c.Root, c.Time.UTC().Format(time.RFC3339))
	signed, err := note.Sign(&note.Note{Text: text}, key)
	return string(signed), err
}

// Open reads a checkpoint that the key signed. There is one text for each.
func Open(text string, key note.Verifier) (Checkpoint, error) {
	n, err := note.Open([]byte(text), note.VerifierList(key))
	if err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: %w", err)
	}
	for _, s := range n.Sigs {
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return Checkpoint{}, fmt.Errorf("checkpoint: its signature: %w", err)
		}
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 5 || lines[0] != key.Name() || lines[4] != "" {
		return Checkpoint{}, errors.New("checkpoint: its text is not that of a checkpoint of this log")
	}
	var c Checkpoint
	size, sizeErr := strconv.ParseInt(lines[1], 10, 64)
	root, rootErr := base64.StdEncoding.Strict().DecodeString(lines[2])
	at, timeErr := time.Parse("time "+time.RFC3339, lines[3])
	if err := errors.Join(sizeErr, rootErr, timeErr); err != nil || size < 1 || len(root) != len(c.Root) {
		return Checkpoint{}, fmt.Errorf("checkpoint: its size, root or time is invalid: %w", err)
	}
	c.Size, c.Time = size, at
	copy(c.Root[:], root)
	return c, nil
}

// An Inclusion shows that a record is in the log of a team.
type Inclusion struct {
	Tenant string `json:"tenant"`
	Gate   string `json:"gate"`
	Stream string `json:"stream"`
	// Records are the record and all that follow it up to one that is a leaf of the tree.
	Records []wire.Record `json:"records"`
	// Index is that of the leaf, Proof the hashes beside its way to the root.
	Index int64            `json:"index"`
	Proof tlog.RecordProof `json:"proof"`
	// Checkpoint is the signed root.
	Checkpoint string `json:"checkpoint"`
}

// Verify returns the checkpoint that the record is in, or why it is in none that the key signed.
func (i Inclusion) Verify(key note.Verifier) (Checkpoint, error) {
	c, err := Open(i.Checkpoint, key)
	if err != nil {
		return Checkpoint{}, err
	}
	head, err := i.leaf()
	if err != nil {
		return Checkpoint{}, err
	}
	if i.Index < 0 || i.Index >= c.Size {
		return Checkpoint{}, errors.New("inclusion: the tree has no such leaf")
	}
	if err := tlog.CheckRecord(i.Proof, c.Size, c.Root, i.Index, tlog.RecordHash(head.Data())); err != nil {
		return Checkpoint{}, fmt.Errorf("inclusion: %w", err)
	}
	return c, nil
}

// leaf walks the chain from the record to its end.
func (i Inclusion) leaf() (Leaf, error) {
	if len(i.Records) == 0 {
		return Leaf{}, errors.New("inclusion: the record is missing")
	}
	var chain audit.Chain
	var last wire.Record
	for n, r := range i.Records {
		sum := chain.Hash(r.Prev, r.Numbers, r.Texts, r.Body)
		switch {
		case len(r.Prev) != sha256.Size || !bytes.Equal(sum[:], r.Hash):
			return Leaf{}, fmt.Errorf("inclusion: record %d is not what its hash says", r.Seq)
		case n > 0 && (r.Seq != last.Seq+1 || !bytes.Equal(r.Prev, last.Hash)):
			return Leaf{}, fmt.Errorf("inclusion: record %d does not follow the one before", r.Seq)
		}
		last = r
	}
	return Leaf{Tenant: i.Tenant, Gate: i.Gate, Stream: i.Stream, Seq: last.Seq, Hash: last.Hash}, nil
}

// A Consistency shows that the tree of one checkpoint is the beginning of that of another.
type Consistency struct {
	Older string         `json:"older"` // signed roots
	Newer string         `json:"newer"`
	Proof tlog.TreeProof `json:"proof"`
}

// Verify reports why the log did not only grow between the two.
func (c Consistency) Verify(key note.Verifier) (older, newer Checkpoint, err error) {
	if older, err = Open(c.Older, key); err == nil {
		newer, err = Open(c.Newer, key)
	}
	if err != nil {
		return older, newer, err
	}
	if newer.Size < older.Size {
		return older, newer, fmt.Errorf("consistency: the log has shrunk from %d to %d leaves", older.Size, newer.Size)
	}
	if err := tlog.CheckTree(c.Proof, newer.Size, newer.Root, older.Size, older.Root); err != nil {
		return older, newer, fmt.Errorf("consistency: %w", err)
	}
	return older, newer, nil
}
