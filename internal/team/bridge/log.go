package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/store"
)

// How much of the log is sent in one call, and how long it gathers before the next.
const (
	maxRows     = 500
	maxRowBytes = 1 << 20
	gather      = 250 * time.Millisecond
)

// errForked says that the server has another log of this machine. Nothing mends that; it is said, and the
// records stay here.
var errForked = errors.New("the server has other records of this machine under the same numbers; its log was changed, " +
	"here or there: run 'assent audit verify'")

// ship sends the next records. They count as sent when the server has acknowledged them with the hash that the last
// one has here.
func (b *Bridge) ship(ctx context.Context) (time.Duration, error) {
	next, err := b.shipNext(ctx)
	if ctx.Err() == nil {
		b.say(func(s *link.Status) {
			s.Log = ""
			if err != nil {
				s.Log = err.Error()
			}
		})
	}
	if errors.Is(err, errForked) {
		return time.Minute, nil
	}
	return next, err
}

func (b *Bridge) shipNext(ctx context.Context) (time.Duration, error) {
	sent, err := link.Shipped(b.State)
	if errors.Is(err, fs.ErrNotExist) {
		sent, err = b.Machine.After, nil // the server says how much it has
	}
	if err != nil {
		return 0, err
	}
	rows, err := b.Store.ChainRows(ctx, sent, maxRows, maxRowBytes)
	if err != nil || len(rows) == 0 {
		return later, err
	}
	kept, err := b.client.audit(ctx, b.records(rows))
	if refusedWith(err, http.StatusConflict) { // it has more or less than we think
		kept, err = b.client.audit(ctx, b.records(nil))
	}
	if b.reached(ctx, err) != nil {
		return 0, err
	}
	if err := b.acknowledged(ctx, kept, sent); err != nil {
		return 0, err
	}
	if len(rows) < maxRows {
		return gatherFor(rows), nil
	}
	return soon, nil
}

// gatherFor is how long to wait after a batch: none if it was full.
func gatherFor(rows []store.ChainRow) time.Duration {
	size := 0
	for _, r := range rows {
		size += len(r.Body)
	}
	if size > maxRowBytes/2 {
		return soon
	}
	return gather
}

func (b *Bridge) records(rows []store.ChainRow) wire.Records {
	out := wire.Records{Stream: b.Machine.Gate, Rows: make([]wire.Record, len(rows))}
	for i, r := range rows {
		out.Rows[i] = wire.Record(r)
	}
	return out
}

// acknowledged notes how much of the log the server has. It must know the hash of the record that it names: nobody
// does who has not got it. A server that lost some says a lower number, and gets them again.
func (b *Bridge) acknowledged(ctx context.Context, kept wire.Kept, sent int64) error {
	if kept.Stream != b.Machine.Gate || kept.Seq < 0 {
		return fmt.Errorf("the server acknowledges record %d of %q, which is not this machine's log", kept.Seq, kept.Stream)
	}
	if kept.Seq < b.Machine.After { // what was before the machine joined is not the team's
		kept.Seq = b.Machine.After
	}
	if kept.Seq == sent {
		return errors.New("the server refuses the records without a reason")
	}
	if kept.Seq > b.Machine.After {
		rows, err := b.Store.ChainRows(ctx, kept.Seq-1, 1, 0)
		if err != nil {
			return err
		}
		if len(rows) == 0 || rows[0].Seq != kept.Seq || !bytes.Equal(rows[0].Hash, kept.Hash) {
			return errForked
		}
	}
	return link.SaveShipped(b.State, kept.Seq)
}
