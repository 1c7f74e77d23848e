package approvaltest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"slices"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/policy"
)

// A fakeLog is an audit log in memory. Nobody can change it, so that there is
// little to verify.
type fakeLog struct {
	mu      sync.Mutex
	records []approval.Record
}

// Record implements [approval.Recorder].
func (f *Fake) Record(_ context.Context, e approval.Event) error {
	f.touch(e.Session)
	l := &f.log
	l.mu.Lock()
	defer l.mu.Unlock()
	r := approval.Record{Seq: int64(len(l.records) + 1), Event: e.Keep(approval.DetailRedacted), Unended: e.Kind == approval.EventStarted}
	if n := len(l.records); n > 0 {
		r.Prev = l.records[n-1].Hash
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	r.Hash = policy.DigestOf(data)
	for i := range l.records {
		if old := &l.records[i]; old.CallID == e.CallID && old.Session == e.Session {
			old.Unended = false
		}
	}
	l.records = append(l.records, r)
	return nil
}

func (f *Fake) touch(session string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, alive := f.session(session); alive {
		s.Seen = f.clock.Now()
		f.sessions[session] = s
	}
}

func (l *fakeLog) all() []approval.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.records)
}

// Records implements [approval.AuditLog].
func (f *Fake) Records(_ context.Context, filter approval.RecordFilter) iter.Seq2[approval.Record, error] {
	found := slices.DeleteFunc(f.log.all(), func(r approval.Record) bool { return !fits(&r, &filter) })
	if filter.Last > 0 {
		found = found[max(0, len(found)-filter.Last):]
	}
	return func(yield func(approval.Record, error) bool) {
		for _, r := range found {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func fits(r *approval.Record, f *approval.RecordFilter) bool {
	name := policy.Call{Connector: r.Connector, Tool: r.Tool}.Name()
	tool, _ := path.Match(f.Tool, name)
	return r.Seq > f.After && (f.Session == "" || r.Session == f.Session) &&
		(f.Since.IsZero() || !r.At.Before(f.Since)) && (f.Until.IsZero() || r.At.Before(f.Until)) &&
		(f.Tool == "" || tool) && (f.Worker == "" || slices.Contains(r.Workers, f.Worker)) &&
		(f.States == nil || slices.Contains(f.States, r.State)) && (f.Stage == "" || r.Stage == f.Stage) &&
		(f.Rule == "" || r.Rule == f.Rule || r.Grant == f.Rule)
}

// RecordAt implements [approval.AuditLog].
func (f *Fake) RecordAt(_ context.Context, seq int64) (approval.Record, error) {
	all := f.log.all()
	if seq < 1 || seq > int64(len(all)) {
		return approval.Record{}, fmt.Errorf("record %d: %w", seq, audit.ErrNoRecord)
	}
	return all[seq-1], nil
}

// Seal implements [approval.AuditLog].
func (f *Fake) Seal(context.Context) (audit.Seal, error) {
	all := f.log.all()
	if len(all) == 0 {
		return audit.Seal{}, nil
	}
	last := &all[len(all)-1]
	return audit.Seal{Seq: last.Seq, Hash: last.Hash}, nil
}

// Verify implements [approval.AuditLog].
func (f *Fake) Verify(ctx context.Context, seals ...audit.Seal) (audit.Verification, error) {
	all := f.log.all()
	head, err := f.Seal(ctx)
	v := audit.Verification{Records: int64(len(all)), First: 1, Head: head}
	for _, s := range seals {
		switch {
		case s.Seq > head.Seq:
			v.Flaws = append(v.Flaws, audit.Flaw{Seq: head.Seq, Kind: audit.FlawCut})
		case s.Seq > 0 && all[s.Seq-1].Hash != s.Hash:
			v.Flaws = append(v.Flaws, audit.Flaw{Seq: s.Seq, Kind: audit.FlawRewritten})
		}
	}
	return v, err
}
