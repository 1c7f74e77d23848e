package kept

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/policy"
)

// A Record is an event as a log keeps it. The texts and numbers are there to be searched; Body is the event
// itself. The hash covers all of them and the hash of the record before.
type Record struct {
	Seq                              int64
	At                               int64 // in nanoseconds
	Kind, Session, Call, Tool        string
	Workers, State, Stage, Rule, Via string
	Waited                           int64 // how long a person took, in nanoseconds; -1 if none was asked
	Body, Prev, Hash                 []byte
}

// NewRecord makes a record of an event. Its place in the chain is not known yet.
func NewRecord(e approval.Event) (*Record, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	r := &Record{
		At: Nanoseconds(e.At), Kind: string(e.Kind), Session: e.Session, Call: e.CallID,
		Tool: policy.Call{Connector: e.Connector, Tool: e.Tool}.Name(), Workers: joinWorkers(e.Workers),
		State: string(e.State), Stage: string(e.Stage), Rule: e.Rule, Via: string(e.By.Via), Waited: -1, Body: body,
	}
	if r.Rule == "" {
		r.Rule = e.Grant
	}
	if e.Request != "" && !e.Requested.IsZero() {
		r.Waited = 0
		if e.Decided.After(e.Requested) {
			r.Waited = int64(e.Decided.Sub(e.Requested))
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

// Numbers and Texts are what the hash covers besides the body, in its order.
func (r *Record) Numbers() []int64 { return []int64{r.At, r.Waited} }

// Texts belongs to Numbers.
func (r *Record) Texts() []string {
	return []string{r.Kind, r.Session, r.Call, r.Tool, r.Workers, r.State, r.Stage, r.Rule, r.Via}
}

// Sum returns the hash of a record that follows the one with the hash prev.
func (r *Record) Sum(chain *audit.Chain, prev []byte) [sha256.Size]byte {
	return chain.Hash(prev, r.Numbers(), r.Texts(), r.Body)
}

// Follow puts the record behind the one with this number and hash.
func (r *Record) Follow(chain *audit.Chain, seq int64, prev []byte) {
	hash := r.Sum(chain, prev)
	r.Seq, r.Prev, r.Hash = seq+1, prev, hash[:]
}

// Link is the place of the record in its log.
func (r *Record) Link(chain *audit.Chain) audit.Link {
	link := audit.Link{Seq: r.Seq, Prev: r.Prev, Hash: r.Hash, Sum: r.Sum(chain, r.Prev)}
	if r.Kind == string(approval.EventPruned) {
		var e approval.Event
		if json.Unmarshal(r.Body, &e) == nil {
			link.Pruned = e.Basis
		}
	}
	return link
}

// Record returns the record as an audit log gives it out.
func (r *Record) Record() (out approval.Record, err error) {
	out.Seq = r.Seq
	copy(out.Prev[:], r.Prev)
	copy(out.Hash[:], r.Hash)
	if err := json.Unmarshal(r.Body, &out.Event); err != nil {
		return out, damage("record %d cannot be read: %v", r.Seq, err)
	}
	return out, nil
}

// Ends reports whether the record is the end of a call that ran.
func (r *Record) Ends() bool {
	return r.Kind == string(approval.EventEnded) && policy.State(r.State).Runs()
}

// Nanoseconds and FromNano keep the zero time as 0.
func Nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// FromNano belongs to Nanoseconds.
func FromNano(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
