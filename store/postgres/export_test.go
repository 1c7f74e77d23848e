//go:build all && linux

package postgres

import (
	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/store/kept"
)

// MakeRecords is the half of recording that needs no database, Commit the other.
func (s *Store) MakeRecords(events ...approval.Event) ([]*kept.Record, error) {
	return s.makeRecords(events)
}

// Commit belongs to MakeRecords.
func (s *Store) Commit(rows []*kept.Record) error { return s.events.Do(rows) }

// ListenWith has stores begin their listening with another statement, until the end.
func ListenWith(statement string) (end func()) {
	was := listenStatement
	listenStatement = statement
	return func() { listenStatement = was }
}
