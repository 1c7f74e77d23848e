package approval

import (
	"context"
	"iter"
	"time"

	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/policy"
)

// A Record is an event as an audit log keeps it: numbered, and bound by hashes
// to the one before.
type Record struct {
	Seq  int64         `json:"seq"`
	Prev policy.Digest `json:"prev"`
	Hash policy.Digest `json:"hash"`
	Event
	// Unended marks a start whose end was not seen.
	Unended bool `json:"unended,omitempty"`
}

// A RecordFilter says which records are wanted. What is zero does not restrict.
type RecordFilter struct {
	Since, Until time.Time // at or after, before
	After        int64     // records with a higher number
	Session      string
	Tool         string         // TOOL or CONNECTOR:TOOL, with * and ?
	Worker       string         // anywhere in the chain of workers
	States       []policy.State // one of these
	Stage        Stage
	Rule         string // id of a rule or grant
	Last         int    // only so many, the newest
}

// An AuditLog keeps events for ever, or as long as its retention says, so that a
// change is noticed.
type AuditLog interface {
	Recorder
	// Records yields records, the oldest first. After an error it ends.
	Records(ctx context.Context, f RecordFilter) iter.Seq2[Record, error]
	// RecordAt returns record number seq, or an error that matches [audit.ErrNoRecord].
	RecordAt(ctx context.Context, seq int64) (Record, error)
	// Seal returns the head of the log. Kept elsewhere, it makes it possible to
	// notice that the log was cut or written anew.
	Seal(ctx context.Context) (audit.Seal, error)
	// Verify reads the whole log and reports what is not as it was recorded.
	Verify(ctx context.Context, seals ...audit.Seal) (audit.Verification, error)
}

// EventPruned is the kind of the event that an audit log records itself when it
// removes what is older than it keeps. Its Basis is the seal of the last record
// that was removed.
const EventPruned EventKind = "pruned"
