package audit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/assent-dev/assent/internal/digest"
)

// A Seal is the number and hash of the last record at some time.
type Seal struct {
	Seq  int64         `json:"seq"`
	Hash digest.Digest `json:"hash"`
}

// NewSeal returns the seal of a record.
func NewSeal(seq int64, hash []byte) (seal Seal) {
	seal.Seq = seq
	copy(seal.Hash[:], hash)
	return seal
}

// String returns the seal in one word, for keeping elsewhere.
func (s Seal) String() string { return fmt.Sprintf("%d-%s", s.Seq, s.Hash) }

// ParseSeal reads what String wrote.
func ParseSeal(text string) (s Seal, err error) {
	number, hash, ok := strings.Cut(strings.TrimSpace(text), "-")
	if ok {
		s.Seq, err = strconv.ParseInt(number, 10, 64)
	}
	if err == nil && ok {
		err = s.Hash.UnmarshalText([]byte(hash))
	}
	if !ok || err != nil || s.Seq < 0 {
		return Seal{}, fmt.Errorf("seal %q: it is written NUMBER-sha256:HASH, as audit seal prints it", text)
	}
	return s, nil
}

// A FlawKind says what is wrong with an audit log.
type FlawKind string

// The flaws.
const (
	FlawChanged   FlawKind = "changed"   // a record is not what was recorded
	FlawRemoved   FlawKind = "removed"   // records are missing before this one
	FlawInserted  FlawKind = "inserted"  // a record was put in later
	FlawReordered FlawKind = "reordered" // a record stands in another place
	FlawCut       FlawKind = "cut"       // the end of the log is missing
	FlawRewritten FlawKind = "rewritten" // the log is not the one that was sealed
)

// A Flaw is something that is wrong with one record.
type Flaw struct {
	Seq    int64    `json:"seq"`
	Kind   FlawKind `json:"kind"`
	Detail string   `json:"detail"`
}

func (f Flaw) String() string { return fmt.Sprintf("record %d: %s: %s", f.Seq, f.Kind, f.Detail) }

// A Verification is what was found out about an audit log.
type Verification struct {
	Records int64  `json:"records"`
	First   int64  `json:"first"` // number of the oldest record that is kept
	Head    Seal   `json:"head"`
	Flaws   []Flaw `json:"flaws,omitempty"`
	// Unchecked are seals of records that are no longer kept.
	Unchecked []Seal `json:"unchecked,omitempty"`
}

// OK reports whether the log is as it was recorded.
func (v Verification) OK() bool { return len(v.Flaws) == 0 }

// ErrNoRecord says that the audit log has no record with that number.
var ErrNoRecord = errors.New("no such record")
