package store

import (
	"context"

	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/store/kept"
)

// A ChainRow is a record as it stands in the chain: Hash is that of [audit.Chain] over the others, so that who
// gets it can check it and needs nothing else of the store.
type ChainRow struct {
	Seq        int64
	Prev, Hash []byte
	Numbers    []int64
	Texts      []string
	Body       []byte
}

// ChainRows returns the records after a number, in their order and without a gap: at most limit, and no more than
// fit into so many bytes, but at least one if there is one.
func (s *Store) ChainRows(ctx context.Context, after int64, limit, bytes int) (out []ChainRow, err error) {
	err = s.read(ctx, func(q querier) error {
		rows, err := q.QueryContext(ctx, "SELECT "+eventColumns+" FROM events WHERE seq > ? ORDER BY seq LIMIT ?", after, limit)
		if err != nil {
			return err
		}
		defer rows.Close()
		var chain audit.Chain
		for size := 0; rows.Next(); {
			var r kept.Record
			if err := rows.Scan(eventScan(&r)...); err != nil {
				return err
			}
			row := ChainRow{Seq: r.Seq, Prev: r.Prev, Hash: r.Hash, Numbers: r.Numbers(), Texts: r.Texts(), Body: r.Body}
			if hash := chain.Hash(row.Prev, row.Numbers, row.Texts, row.Body); string(hash[:]) != string(row.Hash) {
				return damage("record %d is not what was recorded", r.Seq)
			}
			if size += len(row.Body) + rowSize; size > bytes && len(out) > 0 {
				return nil
			}
			out = append(out, row)
		}
		return rows.Err()
	})
	return out, err
}

// rowSize is about what a row takes without its body.
const rowSize = 300

// NotifyRecords calls changed after records were added, by whatever process, until stop is called.
func (s *Store) NotifyRecords(changed func()) (stop func()) { return s.listen(topicEvents, changed) }
