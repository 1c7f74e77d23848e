package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// An eventRow is a row of the table of events. The columns are there to be
// searched; body is the event itself. The hash covers all of them and the hash of
// the row before.
type eventRow struct {
	seq                              int64
	at                               int64
	kind, session, call, tool        string
	workers, state, stage, rule, via string
	waited                           int64 // how long a person took, in nanoseconds; -1 if none was asked
	body, prev, hash                 []byte
}

const eventColumns = "seq, at, kind, session, call, tool, workers, state, stage, rule, via, waited, body, prev, hash"

func (r *eventRow) fields() []any {
	return []any{r.seq, r.at, r.kind, r.session, r.call, r.tool, r.workers, r.state, r.stage, r.rule, r.via, r.waited, r.body, r.prev, r.hash}
}

func (r *eventRow) scan() []any {
	return []any{&r.seq, &r.at, &r.kind, &r.session, &r.call, &r.tool, &r.workers, &r.state, &r.stage, &r.rule, &r.via, &r.waited, &r.body, &r.prev, &r.hash}
}

// newEventRow makes a row of an event. Its place in the chain is not known yet.
func newEventRow(e approval.Event) (*eventRow, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	r := &eventRow{
		at: nanoseconds(e.At), kind: string(e.Kind), session: e.Session, call: e.CallID,
		tool: policy.Call{Connector: e.Connector, Tool: e.Tool}.Name(), workers: joinWorkers(e.Workers),
		state: string(e.State), stage: string(e.Stage), rule: e.Rule, via: string(e.By.Via), waited: -1, body: body,
	}
	if r.rule == "" {
		r.rule = e.Grant
	}
	if e.Request != "" && !e.Requested.IsZero() {
		r.waited = 0
		if e.Decided.After(e.Requested) {
			r.waited = int64(e.Decided.Sub(e.Requested))
		}
	}
	return r, nil
}

// joinWorkers writes a chain of workers so that one of them can be found: each
// stands between slashes.
func joinWorkers(chain []string) string {
	if len(chain) == 0 {
		return ""
	}
	return "/" + strings.Join(chain, "/") + "/"
}

// chainer computes hashes; it reuses its memory.
type chainer struct{ buffer []byte }

// hash returns the hash of a row that follows the one with the hash prev. Each
// text goes in with its length. The number does not: the links say the order.
func (c *chainer) hash(r *eventRow, prev []byte) [sha256.Size]byte {
	b := append(c.buffer[:0], "assent event 1"...)
	b = appendField(b, prev)
	b = binary.BigEndian.AppendUint64(b, uint64(r.at))
	b = binary.BigEndian.AppendUint64(b, uint64(r.waited))
	for _, text := range []string{r.kind, r.session, r.call, r.tool, r.workers, r.state, r.stage, r.rule, r.via} {
		b = appendField(b, text)
	}
	b = appendField(b, r.body)
	c.buffer = b
	return sha256.Sum256(b)
}

func appendField[T string | []byte](b []byte, field T) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(field)))
	return append(b, field...)
}

// record returns the row as an audit log gives it out.
func (r *eventRow) record() (out approval.Record, err error) {
	out.Seq = r.seq
	copy(out.Prev[:], r.prev)
	copy(out.Hash[:], r.hash)
	if err := json.Unmarshal(r.body, &out.Event); err != nil {
		return out, damage("record %d cannot be read: %v", r.seq, err)
	}
	return out, nil
}
