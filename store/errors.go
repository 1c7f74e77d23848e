package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"

	"github.com/assent-dev/assent/store/kept"
)

// What is wrong with a store; match with [errors.Is].
var (
	ErrDamaged    = errors.New("it is damaged")
	ErrNewer      = errors.New("it was written by a newer version of assent")
	ErrUnwritable = errors.New("it cannot be written")
	ErrBusy       = errors.New("another process holds it")
	ErrClosed     = errors.New("it is closed")
)

// An Error says what is wrong with a store, and what can be done.
type Error struct {
	Path string
	Kind error // one of the sentinels above, or nil
	Err  error // what happened
	Do   string
}

func (e *Error) Error() string {
	text := "store " + e.Path + ": "
	if e.Kind != nil {
		text += e.Kind.Error() + ": "
	}
	text += e.Err.Error()
	if e.Do != "" {
		text += "; " + e.Do
	}
	return text
}

// Unwrap makes the error match its kind and its cause.
func (e *Error) Unwrap() []error {
	if e.Kind == nil {
		return []error{e.Err}
	}
	return []error{e.Kind, e.Err}
}

// damage is what our own checks find.
func damage(format string, args ...any) error { return kept.Damage(fmt.Sprintf(format, args...)) }

// The primary result codes of SQLite that are told apart.
const (
	codeError      = 1
	codePerm       = 3
	codeBusy       = 5
	codeLocked     = 6
	codeReadOnly   = 8
	codeIO         = 10
	codeCorrupt    = 11
	codeFull       = 13
	codeCantOpen   = 14
	codeConstraint = 19
	codeMismatch   = 20
	codeNotADB     = 26

	codeIOShortRead = codeIO | 2<<8
)

func isBusy(err error) bool {
	var low *sqlite.Error
	return errors.As(err, &low) && low.Code()&0xff == codeBusy
}

// held says why the lock could not be taken.
func (s *Store) held(err error) error {
	if errors.Is(err, errNoTurn) {
		return &Error{Path: s.path, Kind: ErrBusy, Err: err, Do: waitOrFind}
	}
	return &Error{Path: s.path, Kind: ErrUnwritable, Err: err, Do: makeWritable}
}

// What can be done about a store that is held, or that cannot be written.
const (
	waitOrFind   = "try again; if it stays so, find the process that has the file open"
	makeWritable = "make sure that you own the file and its folder and can write to them"
)

// fault translates an error of the database, once, at the border. The words of
// SQLite stay as the cause.
func (s *Store) fault(err error) error {
	var known *Error
	var broken kept.Damage
	var low *sqlite.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.As(err, &broken), strings.HasPrefix(err.Error(), "sql: Scan error"):
		return s.damaged(err) // a value of another type than was written
	case errors.As(err, &low):
		return s.sqliteFault(low)
	}
	return err
}

func (s *Store) sqliteFault(err *sqlite.Error) error {
	e := &Error{Path: s.path, Err: err}
	switch err.Code() & 0xff {
	case codeBusy, codeLocked:
		e.Kind, e.Do = ErrBusy, waitOrFind
	case codePerm, codeReadOnly, codeCantOpen:
		e.Kind, e.Do = ErrUnwritable, makeWritable
	case codeFull:
		e.Kind, e.Do = ErrUnwritable, "free some disk space"
	case codeError, codeCorrupt, codeConstraint, codeMismatch, codeNotADB:
		return s.damaged(err) // our statements are fixed: if one does not fit, the file is not what we made
	case codeIO:
		if err.Code() == codeIOShortRead {
			return s.damaged(err)
		}
		e.Kind, e.Do = ErrUnwritable, "free some disk space, and check the system log for disk errors"
	}
	return e
}

// damaged says what can be done with a damaged store. It stays as it is.
func (s *Store) damaged(err error) error {
	do := "nothing was changed; copy the file and those beside it that begin with its name, then "
	if backups, _ := filepath.Glob(s.path + ".backup-*"); len(backups) > 0 {
		do += "put back " + backups[len(backups)-1] + " or "
	}
	return &Error{Path: s.path, Kind: ErrDamaged, Err: err, Do: do + "move them away to begin with an empty store"}
}

// late says why a store was not waited for any longer.
func late(ctx context.Context) error { return context.Cause(ctx) }
