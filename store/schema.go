package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"os"
	"time"
)

// A schema says how a new store is made, and what leads an older one there: the first of
// upgrades from version 1 to version 2, and so on. An upgrade that was released is never
// changed.
type schema struct {
	create   string
	upgrades []string
}

// version is that of a store which has all of it.
func (s schema) version() int64 { return int64(len(s.upgrades)) + 1 }

// steps are what a store of a version still needs; 0 is that of an empty file.
func (s schema) steps(version int64) []string {
	if version == 0 {
		return []string{s.create}
	}
	return s.upgrades[version-1:]
}

var schemaNow = schema{create: `
-- One row that every change touches: counters that tell other processes what has
-- changed, and what the tables must add up to.
CREATE TABLE head (
	id          INTEGER PRIMARY KEY CHECK (id = 1),
	schema      INTEGER NOT NULL,
	generation  INTEGER NOT NULL,
	policy      INTEGER NOT NULL,
	grants      INTEGER NOT NULL,
	requests    INTEGER NOT NULL,
	clock       INTEGER NOT NULL,
	rules_sum   BLOB NOT NULL,
	prefs_sum   BLOB NOT NULL,
	claims_sum  BLOB NOT NULL,
	open        INTEGER NOT NULL,
	runs        INTEGER NOT NULL,
	seq         INTEGER NOT NULL,
	hash        BLOB NOT NULL,
	anchor_seq  INTEGER NOT NULL,
	anchor_hash BLOB NOT NULL,
	sum         BLOB NOT NULL
) STRICT;

CREATE TABLE rules (
	n    INTEGER PRIMARY KEY,
	body BLOB NOT NULL
) STRICT;

CREATE TABLE preferences (
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
	id         TEXT PRIMARY KEY,
	body       BLOB NOT NULL,
	grants_sum BLOB NOT NULL,
	sum        BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
	n       INTEGER PRIMARY KEY,
	session TEXT NOT NULL,
	body    BLOB NOT NULL
) STRICT;
CREATE INDEX grants_session ON grants (session);

CREATE TABLE requests (
	n       INTEGER PRIMARY KEY,
	id      TEXT NOT NULL UNIQUE,
	session TEXT NOT NULL,
	state   TEXT NOT NULL CHECK (state IN ('open', 'answered', 'settled')),
	created INTEGER NOT NULL,
	body    BLOB NOT NULL,
	ended   BLOB NOT NULL,
	problem TEXT NOT NULL,
	sum     BLOB NOT NULL
) STRICT;
CREATE INDEX requests_open ON requests (session) WHERE state = 'open';

CREATE TABLE decisions (
	request TEXT PRIMARY KEY,
	digest  BLOB NOT NULL,
	body    BLOB NOT NULL,
	sum     BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
	n           INTEGER PRIMARY KEY,
	batch       TEXT NOT NULL,
	call        TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	state       TEXT NOT NULL,
	at          INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
	id      TEXT PRIMARY KEY,
	session TEXT NOT NULL,
	version INTEGER NOT NULL,
	saved   INTEGER NOT NULL,
	data    BLOB NOT NULL,
	sum     BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
	seq     INTEGER PRIMARY KEY,
	at      INTEGER NOT NULL,
	kind    TEXT NOT NULL,
	session TEXT NOT NULL,
	call    TEXT NOT NULL,
	tool    TEXT NOT NULL,
	workers TEXT NOT NULL,
	state   TEXT NOT NULL,
	stage   TEXT NOT NULL,
	rule    TEXT NOT NULL,
	via     TEXT NOT NULL,
	waited  INTEGER NOT NULL,
	body    BLOB NOT NULL,
	prev    BLOB NOT NULL,
	hash    BLOB NOT NULL
) STRICT;
CREATE INDEX events_at ON events (at);
CREATE INDEX events_session ON events (session);

-- Calls that have started and not ended.
CREATE TABLE running (
	seq     INTEGER PRIMARY KEY,
	session TEXT NOT NULL,
	call    TEXT NOT NULL
) STRICT;
CREATE INDEX running_call ON running (call);
`, upgrades: []string{
	// Tables that add up to a sum elsewhere need none in their rows.
	`ALTER TABLE rules DROP COLUMN sum;
	ALTER TABLE preferences DROP COLUMN sum;
	ALTER TABLE grants DROP COLUMN sum;
	ALTER TABLE claims DROP COLUMN sum;
	DROP TABLE migrations;`,
}}

// applicationID marks a SQLite file as a store of assent: "asnt".
const applicationID = 0x61736e74

// prepareFile makes the file what this program needs. One that is so already is
// only looked at; otherwise processes take turns. Who looks just then may keep
// SQLite from turning on the log, which it says at once: then it is tried again.
func (s *Store) prepareFile(ctx context.Context, c *sql.Conn) error {
	ready, err := s.fileReady(ctx, c)
	if ready || err != nil && !isBusy(err) {
		return err
	}
	give, err := s.lock.take()
	if err != nil {
		return s.held(err)
	}
	defer give()
	patience, cancel := context.WithTimeout(ctx, s.opt.Patience)
	defer cancel()
	err = s.lock.writing(nil, func() error {
		for {
			err := s.migrate(ctx, c)
			if err == nil {
				err = s.useLog(ctx, c)
			}
			if !isBusy(err) || !wait(patience, time.Millisecond) {
				return err
			}
		}
	})
	return s.unwritable(err)
}

// fileReady reports whether the file has the schema and the log.
func (s *Store) fileReady(ctx context.Context, c querier) (bool, error) {
	_, version, err := s.fileVersion(ctx, c)
	if err != nil || version != s.schema.version() {
		return false, err
	}
	mode, err := journalMode(ctx, c)
	return mode == logMode, err
}

// migrate brings the schema up to the version that this program knows. Of several
// processes that want to, one does it, and the others find it done.
func (s *Store) migrate(ctx context.Context, c *sql.Conn) error {
	app, version, err := s.fileVersion(ctx, c)
	if err != nil {
		return err
	}
	known := s.schema.version()
	switch {
	case version > known:
		return s.newer(&newerError{has: version, known: known})
	case version == known && app == applicationID:
		return nil
	case version == 0:
		if err := s.refuseForeign(ctx, c, app); err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, "PRAGMA auto_vacuum = incremental"); err != nil {
			return err
		}
	default:
		if err := s.backup(ctx, c, version); err != nil {
			return err
		}
	}
	return s.apply(ctx, c, known)
}

// logMode is SQLite's word for a write-ahead log.
const logMode = "wal"

func journalMode(ctx context.Context, c querier) (mode string, err error) {
	err = c.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
	return mode, err
}

// useLog turns on the write-ahead log, which the file then remembers. It is the
// first thing that changes a file, after it is known to be ours.
func (s *Store) useLog(ctx context.Context, c querier) error {
	mode, err := journalMode(ctx, c)
	if err == nil && mode != logMode {
		err = c.QueryRowContext(ctx, "PRAGMA journal_mode = "+logMode).Scan(&mode)
	}
	if err == nil && mode != logMode {
		err = fmt.Errorf("it cannot have a write-ahead log (%s); keep it on a local disk", mode)
	}
	return err
}

// fileVersion reads what the file says that it is. The version comes first: if
// there is one, whoever made the store has written the rest as well.
func (s *Store) fileVersion(ctx context.Context, c querier) (app, version int64, err error) {
	if err := c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, 0, err
	}
	err = c.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app)
	if err == nil && version != 0 && app != applicationID {
		err = damage("it is not a store of assent")
	}
	return app, version, err
}

func (s *Store) newer(err error) error {
	return &Error{Path: s.path, Kind: ErrNewer, Err: err, Do: "use that version"}
}

// refuseForeign keeps us from making tables in a file that is not new: somebody
// else's, or one of ours that has lost its version.
func (s *Store) refuseForeign(ctx context.Context, c querier, app int64) error {
	var tables int
	if err := c.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	if tables > 0 || app != 0 {
		return damage("it has tables but no version: it is not a store of assent, or its first page is lost")
	}
	if seen, err := s.mark.read(); err != nil || seen > 0 {
		return damage("it is empty, but it had content before")
	}
	return nil
}

// backup copies the store as it is, before a migration changes it.
func (s *Store) backup(ctx context.Context, c *sql.Conn, version int64) error {
	path := fmt.Sprintf("%s.backup-v%d-%s", s.path, version, s.opt.Clock().UTC().Format("20060102T150405.000000000"))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // VACUUM INTO takes an empty file
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, "VACUUM INTO ?", path)
	return err
}

// apply runs the steps that are missing, all or none.
func (s *Store) apply(ctx context.Context, c *sql.Conn, known int64) error {
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := s.applyLocked(ctx, c, known)
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	if _, e := c.ExecContext(ctx, end); err == nil {
		err = e
	}
	return err
}

func (s *Store) applyLocked(ctx context.Context, c *sql.Conn, known int64) error {
	_, version, err := s.fileVersion(ctx, c)
	if err != nil {
		return err
	}
	if version > known {
		return s.newer(&newerError{has: version, known: known})
	}
	for i, step := range s.schema.steps(version) {
		if _, err := c.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("step %d from version %d: %w", i+1, version, err)
		}
	}
	if err := s.writeFirstHead(ctx, c, version, known); err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, known))
	return err
}

// noHash stands before the first event.
func noHash() []byte { return make([]byte, sha256.Size) }

// writeFirstHead makes the head of a new store, or notes the new version.
func (s *Store) writeFirstHead(ctx context.Context, c *sql.Conn, from, known int64) error {
	h := head{rulesSum: sumRules(nil), prefsSum: sumPreferences(nil), claimsSum: sumClaims(nil), hash: noHash(),
		anchorHash: noHash()}
	if from > 0 {
		var err error
		if h, err = readHead(ctx, c, from); err != nil {
			return err
		}
	} else if _, err := c.ExecContext(ctx, `INSERT INTO head (id, `+headColumns+`, sum)
		VALUES (1, 0, 0, 0, 0, 0, 0, x'', x'', x'', 0, 0, 0, x'', 0, x'', x'')`); err != nil {
		return err
	}
	h.schema = known
	_, err := c.ExecContext(ctx, updateHead, h.row()...)
	return err
}
