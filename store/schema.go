package store

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
