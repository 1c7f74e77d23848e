package store

import (
	"context"
	"slices"
)

// another is what leads to the schema of a program that is one version newer.
const another = "ALTER TABLE rules ADD COLUMN added TEXT NOT NULL DEFAULT 'x';"

// OpenNext opens a store as that program does.
func OpenNext(ctx context.Context, folder string, opt Options) (*Store, error) {
	next := schema{schemaNow.create + another, append(slices.Clone(schemaNow.upgrades), another)}
	return openWith(ctx, folder, opt, next)
}

// Columns lists the columns and indexes of all tables.
func (s *Store) Columns(ctx context.Context) (out string, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT group_concat(line, char(10)) FROM (
		SELECT m.type || ' ' || m.name || ' ' || coalesce(c.name || ' ' || c.type || ' ' || c."notnull" || c.pk, m.sql, '') AS line
		FROM sqlite_schema m LEFT JOIN pragma_table_info(m.name) c ON m.type = 'table' ORDER BY line)`).Scan(&out)
	return out, err
}

// PruneThrough removes the records up to a number.
func (s *Store) PruneThrough(ctx context.Context, seq int64) error {
	_, err := s.prune(ctx, seq, Retention{})
	return err
}

// Exec changes the store behind its back.
func (s *Store) Exec(ctx context.Context, query string, args ...any) error {
	_, err := s.db.ExecContext(ctx, query, args...)
	return err
}

// Hold runs f while nobody else can write.
func (s *Store) Hold(ctx context.Context, f func() error) error {
	return s.change(ctx, func(*txn) error { return f() })
}

// Dirty reports whether something is committed that is not on the disk.
func (s *Store) Dirty() bool {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	return s.disk.written.Load() > s.disk.synced
}

// DieWriting leaves the store as a program does that is killed when its change of the rules can be seen, before it says so.
func (s *Store) DieWriting(ctx context.Context) error {
	give, err := s.lock.take()
	if err != nil {
		return err
	}
	defer give()
	h, err := s.currentHead(ctx, s.writer)
	if err != nil {
		return err
	}
	h.policy++
	if _, err = s.writer.ExecContext(ctx, updateHead, h.row()...); err != nil {
		return err
	}
	return s.lock.file.write(s.lock.count|1, nil)
}
