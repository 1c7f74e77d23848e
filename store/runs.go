package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/store/kept"
	"github.com/assent-dev/assent/store/sessions"
)

func runFields(r *sessions.SavedRun) []any {
	data := r.Data
	if data == nil {
		data = []byte{}
	}
	return []any{r.ID, r.Session, r.Version, kept.Nanoseconds(r.Saved), data}
}

// SaveRun implements [sessions.RunStore].
func (s *Store) SaveRun(ctx context.Context, run sessions.SavedRun) (version int64, err error) {
	err = s.change(ctx, func(t *txn) error {
		var now int64
		err := t.row("SELECT version FROM runs WHERE id = ?", run.ID).Scan(&now)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if now != run.Version {
			return fmt.Errorf("run %q: %w: version %d is kept, this one was version %d", run.ID, sessions.ErrRunChanged,
				now, run.Version)
		}
		if now == 0 {
			t.head.runs++
		}
		run.Version, run.Saved = now+1, t.now
		version = run.Version
		t.lasting()
		fields := runFields(&run)
		return t.exec("INSERT OR REPLACE INTO runs (id, session, version, saved, data, sum) VALUES (?, ?, ?, ?, ?, ?)",
			append(fields, sumOf("runs", fields...))...)
	})
	if err != nil {
		return 0, err
	}
	return version, nil
}

const runColumns = "SELECT id, session, version, saved, data, sum FROM runs"

// LoadRun implements [sessions.RunStore].
func (s *Store) LoadRun(ctx context.Context, id string) (run sessions.SavedRun, err error) {
	err = s.read(ctx, func(q querier) error {
		err := scanRun(&run, q.QueryRowContext(ctx, runColumns+" WHERE id = ?", id).Scan)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if _, err := s.readRuns(ctx, q); err != nil {
			return err // it may be there, and damaged
		}
		return fmt.Errorf("run %q: %w", id, sessions.ErrRunNotFound)
	})
	return run, err
}

func scanRun(run *sessions.SavedRun, scan scanner) error {
	var saved int64
	var sum []byte
	if err := scan(&run.ID, &run.Session, &run.Version, &saved, &run.Data, &sum); err != nil {
		return err
	}
	run.Saved = kept.FromNano(saved)
	return checkRow(sum, "runs", runFields(run)...)
}

// Runs implements [sessions.RunStore].
func (s *Store) Runs(ctx context.Context) (out []sessions.SavedRun, err error) {
	err = s.read(ctx, func(q querier) error {
		out, err = s.readRuns(ctx, q)
		return err
	})
	return out, err
}

// readRuns reads all runs, which must be as many as there were written.
func (s *Store) readRuns(ctx context.Context, q querier) (out []sessions.SavedRun, err error) {
	h, err := s.currentHead(ctx, q)
	if err != nil {
		return nil, err
	}
	out, err = collect(ctx, q, scanRun, runColumns+" ORDER BY saved, id")
	for i := range out {
		out[i].Data = nil
	}
	if err == nil && int64(len(out)) != h.runs {
		err = damage("%d of %d runs are there", len(out), h.runs)
	}
	return out, err
}

// DeleteRun implements [sessions.RunStore].
func (s *Store) DeleteRun(ctx context.Context, id string) error {
	return s.change(ctx, func(t *txn) error {
		var n int
		if err := t.row("SELECT count(*) FROM runs WHERE id = ?", id).Scan(&n); err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("run %q: %w", id, sessions.ErrRunNotFound)
		}
		t.head.runs--
		t.lasting()
		return t.exec("DELETE FROM runs WHERE id = ?", id)
	})
}
