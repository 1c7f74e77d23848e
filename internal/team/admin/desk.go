package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/wire"
)

// A Desk is where a team's directory, bundles and records are: the database of its server ([Local]), or the
// server itself ([Remote]). It is not trusted: whoever reads a bundle verifies it.
type Desk interface {
	Directory(ctx context.Context) (Directory, error)
	// Bundles returns the notes that were published, the newest first; at most that many, or all with 0.
	Bundles(ctx context.Context, most int) ([]Published, error)
	// Publish takes a signed bundle. [ErrConflict] says that its serial is not the next.
	Publish(ctx context.Context, note []byte) error
	// Records yields what machines shipped since then, each machine's in its order.
	Records(ctx context.Context, since time.Time) iter.Seq2[Shipped, error]
	// Prove returns what shows that a record of a machine is in the log; with 0 the newest one that is. With the
	// size of an older checkpoint it also shows that the log only grew since; alone, without a machine.
	Prove(ctx context.Context, q Query) (Proof, error)
}

// A Published is a bundle as the server has it.
type Published struct {
	Serial  int64     `json:"serial"`
	Note    []byte    `json:"note"`
	Created time.Time `json:"created"`
}

// ErrConflict says that somebody else published meanwhile; match with [errors.Is].
var ErrConflict = errors.New("somebody else published in the meantime: look at what changed, and publish again")

// Newest returns the newest bundle that the team's key signed; nil if there is none.
func Newest(ctx context.Context, d Desk, trust string) (*bundle.Bundle, error) {
	all, err := d.Bundles(ctx, 1)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return bundle.Open(all[0].Note, trust)
}

// Find returns the bundle with a serial.
func Find(ctx context.Context, d Desk, trust string, serial int64) (*bundle.Bundle, error) {
	all, err := d.Bundles(ctx, 0)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.Serial != serial {
			continue
		}
		b, err := bundle.Open(p.Note, trust)
		if err == nil && b.Serial != serial {
			err = fmt.Errorf("the server gave serial %d for serial %d", b.Serial, serial)
		}
		return b, err
	}
	return nil, fmt.Errorf("no bundle has the serial number %d; 'assent policy history' lists them all", serial)
}

// A Local is the desk of who can reach the database.
type Local struct {
	DB *db.DB
	// Trust is the public half of the team's key; LogKey that of the key of the log.
	Trust, LogKey string
	URL           string
	// Published, if set, is called after each bundle that was published here, before [Local.Publish] returns.
	Published func(ctx context.Context)
	// Failed, if set, is told of each call that [Handler] could not answer, through no fault of its caller.
	Failed func(r *http.Request, err error)
}

var _ Desk = (*Local)(nil)

func (l *Local) verify(note []byte) (int64, error) {
	return bundle.Serials(l.DB.Tenant(), l.Trust)(note)
}

// Directory implements [Desk].
func (l *Local) Directory(ctx context.Context) (d Directory, err error) {
	d = Directory{Tenant: l.DB.Tenant(), LogKey: l.LogKey, URL: l.URL}
	for _, read := range []func() error{
		func() (err error) { d.Now, err = l.DB.Now(ctx); return err },
		func() (err error) { d.People, err = l.DB.People(ctx); return err },
		func() (err error) { d.Groups, err = l.DB.Groups(ctx); return err },
		func() (err error) { d.Credentials, err = l.DB.Credentials(ctx, ""); return err },
		func() (err error) { d.Gates, err = l.DB.Gates(ctx); return err },
		func() (err error) { d.Agents, err = l.DB.Agents(ctx); return err },
	} {
		if err := read(); err != nil {
			return Directory{}, err
		}
	}
	return d, nil
}

// Bundles implements [Desk].
func (l *Local) Bundles(ctx context.Context, most int) ([]Published, error) {
	all, err := l.bundles(ctx, most)
	out := make([]Published, len(all))
	for i, b := range all {
		out[i] = Published(b)
	}
	return out, err
}

func (l *Local) bundles(ctx context.Context, most int) ([]db.Bundle, error) {
	if most != 1 {
		all, err := l.DB.Bundles(ctx, l.verify)
		if most > 0 && len(all) > most {
			all = all[:most]
		}
		return all, err
	}
	b, err := l.DB.Newest(ctx, l.verify)
	if errors.Is(err, db.ErrNotFound) {
		return nil, nil
	}
	return []db.Bundle{b}, err
}

// Publish implements [Desk].
func (l *Local) Publish(ctx context.Context, note []byte) error {
	_, err := l.DB.Publish(ctx, note, l.verify)
	if errors.Is(err, db.ErrSerial) {
		return fmt.Errorf("%w (%w)", ErrConflict, err)
	}
	if err == nil && l.Published != nil {
		l.Published(ctx)
	}
	return err
}

// Records implements [Desk].
func (l *Local) Records(ctx context.Context, since time.Time) iter.Seq2[Shipped, error] {
	return func(yield func(Shipped, error) bool) {
		for k, err := range l.DB.Since(ctx, since) {
			s := Shipped{Gate: k.Gate, Stream: k.Stream}
			if err == nil {
				var odd error
				if s.Record, odd = readRecord(k.Record); odd != nil { // one machine does not hide the records of others
					s.Unreadable, s.Body = true, k.Body
				}
			}
			if err == nil && !s.Unreadable && s.Record.At.Before(since) {
				continue // it was shipped late
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// readRecord reads a record as it was shipped.
func readRecord(r wire.Record) (out approval.Record, err error) {
	out.Seq = r.Seq
	copy(out.Prev[:], r.Prev)
	copy(out.Hash[:], r.Hash)
	if err := json.Unmarshal(r.Body, &out.Event); err != nil {
		out.Event = approval.Event{}
		return out, fmt.Errorf("record %d cannot be read: %w", r.Seq, err)
	}
	return out, nil
}
