package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
)

// Verify implements [approval.AuditLog].
func (s *Store) Verify(ctx context.Context, seals ...audit.Seal) (out audit.Verification, err error) {
	err = s.read(ctx, func(q querier) error {
		h, err := s.currentHead(ctx, q)
		if err != nil {
			return err
		}
		v := &verifier{ctx: ctx, q: q, head: h, last: h.anchorSeq, hash: h.anchorHash, seals: seals, moved: map[int64]bool{}}
		v.found.First = h.anchorSeq + 1
		err = v.run()
		out = v.found
		return err
	})
	return out, err
}

// maxFlaws is how many flaws are reported: one that goes through the whole log
// needs no longer list.
const maxFlaws = 100

// A verifier walks the chain from its anchor to its head.
type verifier struct {
	ctx   context.Context
	q     querier
	head  head
	seals []audit.Seal
	chain chainer

	last   int64          // number of the record before
	hash   []byte         // and its hash
	pruned string         // what the last record of a pruning says
	moved  map[int64]bool // records that stand in another place
	found  audit.Verification
}

func (v *verifier) flaw(seq int64, kind audit.FlawKind, format string, args ...any) {
	if len(v.found.Flaws) < maxFlaws {
		v.found.Flaws = append(v.found.Flaws, audit.Flaw{Seq: seq, Kind: kind, Detail: fmt.Sprintf(format, args...)})
	}
}

func (v *verifier) run() error {
	v.checkSeals(v.last, v.hash)
	rows, err := v.q.QueryContext(v.ctx, "SELECT "+eventColumns+" FROM events ORDER BY seq")
	if err != nil {
		return err
	}
	defer rows.Close()
	var r eventRow
	var body, prev, hash sql.RawBytes
	columns := []any{&r.seq, &r.at, &r.kind, &r.session, &r.call, &r.tool, &r.workers, &r.state, &r.stage, &r.rule, &r.via, &r.waited, &body, &prev, &hash}
	for rows.Next() {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		r.body, r.prev, r.hash = body, prev, hash
		if err := v.next(&r); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	v.finish()
	return nil
}

// next looks at one record.
func (v *verifier) next(r *eventRow) error {
	v.found.Records++
	switch hash := v.chain.hash(r, r.prev); {
	case r.seq <= v.last:
		v.flaw(r.seq, audit.FlawInserted, "it stands before the oldest record that is kept, which is %d", v.last+1)
		return nil
	case r.seq > v.head.seq && string(v.hash) == string(v.head.hash):
		v.flaw(r.seq, audit.FlawInserted, "the log knows record %d as its last", v.head.seq)
		return nil
	case string(hash[:]) != string(r.hash):
		v.flaw(r.seq, audit.FlawChanged, "it is not what was recorded")
	}
	if r.seq != v.last+1 {
		v.flaw(r.seq, audit.FlawRemoved, "%s missing before it", missing(v.last+1, r.seq-1))
	} else if string(r.prev) != string(v.hash) {
		if err := v.broken(r); err != nil {
			return err
		}
	}
	if r.kind == string(approval.EventPruned) {
		var e approval.Event
		if json.Unmarshal(r.body, &e) == nil {
			v.pruned = e.Basis
		}
	}
	v.last, v.hash = r.seq, append(v.hash[:0:0], r.hash...)
	v.checkSeals(r.seq, r.hash)
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
func (v *verifier) broken(r *eventRow) error {
	if len(v.found.Flaws) >= maxFlaws {
		return nil
	}
	follows, err := v.find(r.prev)
	switch {
	case err != nil:
		return err
	case follows < 0:
		v.flaw(r.seq, audit.FlawRemoved, "the record that it was recorded after is missing or was replaced; record %d stands in its place", v.last)
	case follows > r.seq || v.moved[follows+1]:
		v.moved[r.seq] = true
		v.flaw(r.seq, audit.FlawReordered, "it was recorded after what is now record %d", follows)
	default:
		for seq := follows + 1; seq < r.seq; seq++ {
			v.flaw(seq, audit.FlawInserted, "it was not there when record %d was recorded after record %d", r.seq, follows)
		}
	}
	return nil
}

// find returns the number of the record with a hash; -1 if there is none.
func (v *verifier) find(hash []byte) (seq int64, err error) {
	if string(hash) == string(v.head.anchorHash) {
		return v.head.anchorSeq, nil
	}
	err = v.q.QueryRowContext(v.ctx, "SELECT seq FROM events WHERE hash = ?", hash).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return -1, nil
	}
	return seq, err
}

// checkSeals compares a record with the seals for its number.
func (v *verifier) checkSeals(seq int64, hash []byte) {
	for _, s := range v.seals {
		if s.Seq == seq && s != newSeal(seq, hash) {
			v.flaw(seq, audit.FlawRewritten, "it is not the record that was sealed")
		}
	}
}

// finish compares the end of the chain with the head and the seals.
func (v *verifier) finish() {
	v.found.Head = newSeal(v.last, v.hash)
	if v.head.seq > v.last {
		v.flaw(v.last, audit.FlawCut, "%s missing after it", missing(v.last+1, v.head.seq))
	} else if string(v.head.hash) != string(v.hash) {
		v.flaw(v.last, audit.FlawRewritten, "it is not the record that the log knows as its last")
	}
	for _, s := range v.seals {
		switch {
		case s.Seq > max(v.last, v.head.seq):
			v.flaw(v.last, audit.FlawCut, "the seal knows record %d", s.Seq)
		case s.Seq < v.head.anchorSeq:
			v.found.Unchecked = append(v.found.Unchecked, s)
		}
	}
	if v.head.anchorSeq > 0 && v.pruned != newSeal(v.head.anchorSeq, v.head.anchorHash).String() {
		v.flaw(v.head.anchorSeq+1, audit.FlawRemoved, "what is missing before it was not removed by the log itself")
	}
}
