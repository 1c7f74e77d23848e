package admin

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/log"
	"github.com/assent-dev/assent/internal/team/wire"
)

// A Query says what is to be proved.
type Query struct {
	// Gate is the machine whose record it is; empty for none. Seq is the record's number, 0 for the newest one that
	// is in the log.
	Gate string
	Seq  int64
	// Since is the size of an older checkpoint; 0 for none.
	Since int64
}

// A Proof is what somebody outside checks with the log's public key alone.
type Proof struct {
	Version int `json:"version"`
	// Checkpoint is the newest signed root, which the rest is about.
	Checkpoint  string           `json:"checkpoint"`
	Inclusion   *log.Inclusion   `json:"inclusion,omitempty"`
	Consistency *log.Consistency `json:"consistency,omitempty"`
}

const proofVersion = 1

// What a check of a proof can find; match with [errors.Is].
var (
	// ErrNotYet says that the record came after the newest checkpoint.
	ErrNotYet = errors.New("no checkpoint has this record yet; the server makes one each minute, " +
		"so if the record exists, try again then")
	// ErrRewritten says that the server does not know a checkpoint that its key signed.
	ErrRewritten = errors.New("the server does not know the older checkpoint, which the key of the log signed: the log was replaced")
)

// Prove implements [Desk].
func (l *Local) Prove(ctx context.Context, q Query) (Proof, error) {
	p := Proof{Version: proofVersion}
	newest, err := l.DB.NewestCheckpoint(ctx)
	if errors.Is(err, db.ErrNotFound) {
		return p, ErrNotYet
	}
	if err != nil {
		return p, err
	}
	p.Checkpoint = newest.Note
	size := newest.Size
	if q.Gate != "" {
		i, err := l.inclusion(ctx, q)
		if err != nil {
			return p, err
		}
		p.Inclusion, p.Checkpoint = &i, i.Checkpoint
		in, err := OpenCheckpoint(i.Checkpoint, l.LogKey)
		if err != nil {
			return p, err
		}
		size = in.Size
	}
	if q.Since > 0 {
		c, err := l.DB.ProveGrowth(ctx, q.Since, size)
		if errors.Is(err, db.ErrNotFound) {
			err = ErrRewritten
		}
		if err != nil {
			return p, err
		}
		p.Consistency = &c
	}
	return p, nil
}

func (l *Local) inclusion(ctx context.Context, q Query) (i log.Inclusion, err error) {
	stream := q.Gate // a machine has one log
	if q.Seq == 0 {
		if q.Seq, err = l.DB.LastLeaf(ctx, q.Gate, stream); err != nil {
			return i, notYet(err)
		}
	}
	i, err = l.DB.ProveRecord(ctx, q.Gate, stream, q.Seq)
	return i, notYet(err)
}

func notYet(err error) error {
	if errors.Is(err, db.ErrNotFound) {
		return ErrNotYet
	}
	return err
}

// OpenCheckpoint reads a checkpoint that the key of the log signed; the key is written NAME+HASH+KEY.
func OpenCheckpoint(text, logKey string) (log.Checkpoint, error) {
	key, err := note.NewVerifier(logKey)
	if err != nil {
		return log.Checkpoint{}, fmt.Errorf("the key of the log: %w", err)
	}
	return log.Open(text, key)
}

// A Finding is what a proof showed.
type Finding struct {
	// Checkpoint is what the log was when the proof was made, and Older what it was before, if that was asked.
	Checkpoint log.Checkpoint
	Older      *log.Checkpoint
	// Gate and Record are what is in the log; nil if none was asked for.
	Gate   string
	Record *approval.Record
}

// About reports why a proof is about something else than was asked for: a good proof of another record shows nothing.
func (f Finding) About(q Query) error {
	switch {
	case q.Gate == "":
		return nil
	case f.Record == nil || f.Gate != q.Gate:
		return errors.New("the server proves a record of another machine")
	case q.Seq != 0 && f.Record.Seq != q.Seq:
		return fmt.Errorf("the server proves record %d, and was asked for %d", f.Record.Seq, q.Seq)
	}
	return nil
}

// Check verifies a proof with the log's public key. Older is the checkpoint that the checker has from before, not
// the one that the proof brings; empty for none.
func (p Proof) Check(logKey, older string) (f Finding, err error) {
	key, err := note.NewVerifier(logKey)
	if err != nil {
		return f, fmt.Errorf("the key of the log: %w; it is written NAME+HASH+KEY", err)
	}
	if p.Version != proofVersion {
		return f, fmt.Errorf("the proof has version %d; this program knows version %d", p.Version, proofVersion)
	}
	if f.Checkpoint, err = log.Open(p.Checkpoint, key); err != nil {
		return f, err
	}
	if p.Inclusion != nil {
		in, err := p.Inclusion.Verify(key)
		if err != nil {
			return f, err
		}
		if in != f.Checkpoint {
			return f, errors.New("the proof of the record is about another checkpoint")
		}
		record, err := readRecord(p.Inclusion.Records[0])
		if err != nil {
			return f, err
		}
		f.Gate, f.Record = p.Inclusion.Gate, &record
	}
	if older != "" && p.Consistency == nil {
		return f, errors.New("the proof does not say how the log grew since the older checkpoint; make one with --since")
	}
	if p.Consistency == nil {
		return f, nil
	}
	c := *p.Consistency
	if older != "" {
		c.Older = older
	}
	was, is, err := c.Verify(key)
	if err != nil {
		return f, err
	}
	if is != f.Checkpoint {
		return f, errors.New("the proof of growth is about another checkpoint")
	}
	f.Older = &was
	return f, nil
}

// provePath is the call for a proof. A machine may ask about its own records, who has the team's key about all.
//
//	GET /audit/v1/proof?gate=G&seq=N&since=SIZE → Proof
const provePath = "/audit/v1/proof"

// Prove implements [Desk].
func (r *Remote) Prove(ctx context.Context, q Query) (p Proof, err error) {
	query := url.Values{"gate": {q.Gate}, "seq": {strconv.FormatInt(q.Seq, 10)}, "since": {strconv.FormatInt(q.Since, 10)}}
	err = r.Call(ctx, http.MethodGet, provePath+"?"+query.Encode(), nil, &p)
	var refused *refusal
	if errors.As(err, &refused) {
		switch refused.status {
		case http.StatusNotFound:
			err = ErrNotYet
		case http.StatusGone:
			err = ErrRewritten
		}
	}
	return p, err
}

// SignedBy signs calls with the key of a machine.
func SignedBy(gate string, key ed25519.PrivateKey) func(*http.Request, []byte) error {
	return func(r *http.Request, body []byte) error { wire.SignCall(r, body, gate, key, time.Now()); return nil }
}

// prove answers a call for a proof.
func (l *Local) prove(w http.ResponseWriter, r *http.Request, key wire.Verifier, now time.Time) error {
	v := r.URL.Query()
	q := Query{Gate: v.Get("gate")}
	var bad [2]error
	q.Seq, bad[0] = strconv.ParseInt(v.Get("seq"), 10, 64)
	q.Since, bad[1] = strconv.ParseInt(v.Get("since"), 10, 64)
	if errors.Join(bad[:]...) != nil || q.Seq < 0 || q.Since < 0 {
		return &refusal{http.StatusBadRequest, "seq and since are numbers"}
	}
	if err := l.mayProve(r, q, key, now); err != nil {
		return &refusal{http.StatusUnauthorized, err.Error()}
	}
	p, err := l.Prove(r.Context(), q)
	switch {
	case errors.Is(err, ErrNotYet):
		return &refusal{http.StatusNotFound, err.Error()}
	case errors.Is(err, ErrRewritten):
		return &refusal{http.StatusGone, err.Error()}
	case errors.Is(err, db.ErrPruned), errors.Is(err, db.ErrChanged), errors.Is(err, db.ErrLong):
		return &refusal{http.StatusUnprocessableEntity, err.Error()}
	case db.Invalid(err):
		return &refusal{http.StatusBadRequest, "no machine has such an id"}
	}
	return answer(w, p, err)
}

// mayProve reports why the caller may not have a proof: a machine is told about its own log only.
func (l *Local) mayProve(r *http.Request, q Query, key wire.Verifier, now time.Time) error {
	if wire.IsPolicyCall(r) {
		return wire.VerifyPolicyCall(r, nil, key, now)
	}
	id, ok := wire.Caller(r)
	if !ok {
		return errors.New("the call is signed neither by a machine nor with the team's key")
	}
	gate, err := l.DB.Gate(r.Context(), id)
	if err != nil || !gate.Revoked.IsZero() {
		return errors.New("the server does not know this machine")
	}
	if q.Gate != "" && q.Gate != id {
		return errors.New("a machine can ask about its own records only")
	}
	return wire.VerifyCall(r, nil, gate.Public, now)
}

// ReadProof reads a proof from a file.
func ReadProof(data []byte) (p Proof, err error) {
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("it is not a proof that 'assent audit prove' made: %w", err)
	}
	return p, nil
}
