package store

import "context"

// Next is the schema of a program that is one version newer.
var Next = append(append([]migration{}, migrations...), migration{"second", "ALTER TABLE rules ADD COLUMN added TEXT NOT NULL DEFAULT 'x'"})

// OpenNext opens a store as that program does.
func OpenNext(ctx context.Context, folder string, opt Options) (*Store, error) {
	return openWith(ctx, folder, opt, Next)
}

// OpenAltered opens a store as a program whose first migration is another.
func OpenAltered(ctx context.Context, folder string) (*Store, error) {
	altered := append([]migration{}, Next...)
	altered[0].sql += " "
	return openWith(ctx, folder, Options{}, altered)
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
