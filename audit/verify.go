package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// A Chain computes the hashes of records; it reuses its memory. The zero Chain is ready.
type Chain struct{ buffer []byte }

// Hash returns the hash of a record that follows the one with the hash prev: of its numbers, its
// texts and its body, each text with its length. The record's own number is not among them: the
// links say the order.
func (c *Chain) Hash(prev []byte, numbers []int64, texts []string, body []byte) [sha256.Size]byte {
	b := append(c.buffer[:0], "assent event 1"...)
	b = appendField(b, prev)
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	for _, text := range texts {
		b = appendField(b, text)
	}
	c.buffer = appendField(b, body)
	return sha256.Sum256(c.buffer)
}

func appendField[T string | []byte](b []byte, field T) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(field)))
	return append(b, field...)
}

// A Link is the place of a record in its log.
type Link struct {
	Seq        int64
	Prev, Hash []byte
	// Sum is the hash of the record as it is now, see [Chain.Hash].
	Sum [sha256.Size]byte
	// Pruned is the seal that a record of a pruning carries; empty for any other record.
	Pruned string
}

// A Log is what a log knows of itself besides its records.
type Log struct {
	// Anchor is the last record that was removed as too old, Head the newest one.
	Anchor, Head Seal
	// Find returns the number of the record with a hash; -1 if there is none.
	Find func(hash []byte) (seq int64, err error)
}

// maxFlaws is how many flaws are reported: one that goes through the whole log
// needs no longer list.
const maxFlaws = 100

// A Verifier walks a log from its anchor to its head, a record at a time.
type Verifier struct {
	log   Log
	seals []Seal

	last   int64          // number of the record before
	hash   []byte         // and its hash
	pruned string         // what the last record of a pruning says
	moved  map[int64]bool // records that stand in another place
	found  Verification
}

// NewVerifier begins at the anchor. The seals were kept elsewhere.
func NewVerifier(log Log, seals ...Seal) *Verifier {
	v := &Verifier{log: log, seals: seals, last: log.Anchor.Seq, hash: log.Anchor.Hash[:], moved: map[int64]bool{}}
	v.found.First = v.last + 1
	v.checkSeals(v.last, v.hash)
	return v
}

func (v *Verifier) flaw(seq int64, kind FlawKind, format string, args ...any) {
	if len(v.found.Flaws) < maxFlaws {
		v.found.Flaws = append(v.found.Flaws, Flaw{Seq: seq, Kind: kind, Detail: fmt.Sprintf(format, args...)})
	}
}

// Next looks at one record.
func (v *Verifier) Next(r Link) error {
	v.found.Records++
	switch {
	case r.Seq <= v.last:
		v.flaw(r.Seq, FlawInserted, "it is older than the oldest kept record, which is %d", v.last+1)
		return nil
	case r.Seq > v.log.Head.Seq && string(v.hash) == string(v.log.Head.Hash[:]):
		v.flaw(r.Seq, FlawInserted, "the log knows record %d as its last", v.log.Head.Seq)
		return nil
	case string(r.Sum[:]) != string(r.Hash):
		v.flaw(r.Seq, FlawChanged, "it is not what was recorded")
	}
	if r.Seq != v.last+1 {
		v.flaw(r.Seq, FlawRemoved, "%s missing before it", missing(v.last+1, r.Seq-1))
	} else if string(r.Prev) != string(v.hash) {
		if err := v.broken(r); err != nil {
			return err
		}
	}
	if r.Pruned != "" {
		v.pruned = r.Pruned
	}
	v.last, v.hash = r.Seq, append(v.hash[:0:0], r.Hash...)
	v.checkSeals(r.Seq, r.Hash)
	return nil
}

func missing(from, to int64) string {
	if from == to {
		return fmt.Sprintf("record %d is", from)
	}
	return fmt.Sprintf("records %d to %d are", from, to)
}

// broken says why a record does not follow the one before: where the one stands
// that it was recorded after tells what was done.
func (v *Verifier) broken(r Link) error {
	if len(v.found.Flaws) >= maxFlaws {
		return nil
	}
	follows, err := v.find(r.Prev)
	switch {
	case err != nil:
		return err
	case follows < 0:
		v.flaw(r.Seq, FlawRemoved,
			"the record that it was recorded after is missing or was replaced; record %d is in its place", v.last)
	case follows > r.Seq || v.moved[follows+1]:
		v.moved[r.Seq] = true
		v.flaw(r.Seq, FlawReordered, "it was recorded after what is now record %d", follows)
	default:
		for seq := follows + 1; seq < r.Seq; seq++ {
			v.flaw(seq, FlawInserted, "it was not there when record %d was recorded after record %d",
				r.Seq, follows)
		}
	}
	return nil
}

// find returns the number of the record with a hash; -1 if there is none.
func (v *Verifier) find(hash []byte) (seq int64, err error) {
	if string(hash) == string(v.log.Anchor.Hash[:]) {
		return v.log.Anchor.Seq, nil
	}
	return v.log.Find(hash)
}

// checkSeals compares a record with the seals for its number.
func (v *Verifier) checkSeals(seq int64, hash []byte) {
	for _, s := range v.seals {
		if s.Seq == seq && s != NewSeal(seq, hash) {
			v.flaw(seq, FlawRewritten, "it is not the record that was sealed")
		}
	}
}

// Finish compares the end of the chain with the head and the seals, and returns what was found.
func (v *Verifier) Finish() Verification {
	v.found.Head = NewSeal(v.last, v.hash)
	if v.log.Head.Seq > v.last {
		v.flaw(v.last, FlawCut, "%s missing after it", missing(v.last+1, v.log.Head.Seq))
	} else if string(v.log.Head.Hash[:]) != string(v.hash) {
		v.flaw(v.last, FlawRewritten, "it is not the record that the log knows as its last")
	}
	for _, s := range v.seals {
		switch {
		case s.Seq > max(v.last, v.log.Head.Seq):
			v.flaw(v.last, FlawCut, "the seal knows record %d", s.Seq)
		case s.Seq < v.log.Anchor.Seq:
			v.found.Unchecked = append(v.found.Unchecked, s)
		}
	}
	if v.log.Anchor.Seq > 0 && v.pruned != v.log.Anchor.String() {
		v.flaw(v.log.Anchor.Seq+1, FlawRemoved, "what is missing before it was not removed by the log itself")
	}
	return v.found
}
