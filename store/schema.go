package store

import (
	"crypto/sha256"
	"encoding/hex"
)

// A migration changes the schema from one version to the next. One that was
// released is never changed; its checksum is kept in every store that has it.
type migration struct {
	name string
	sql  string
}

func (m migration) checksum() string {
	sum := sha256.Sum256([]byte(m.name + "\n" + m.sql))
	return hex.EncodeToString(sum[:])
}

// migrations lead from an empty file to the schema that this program knows.
// The version of a schema is how many of them have been applied.
var migrations = []migration{
	{"first", `
CREATE TABLE migrations (
	version  INTEGER PRIMARY KEY,
	name     TEXT NOT NULL,
	checksum TEXT NOT NULL,
	applied  INTEGER NOT NULL
) STRICT;

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
	body BLOB NOT NULL,
	sum  BLOB NOT NULL
) STRICT;

CREATE TABLE preferences (
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL,
	sum   BLOB NOT NULL
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
	body    BLOB NOT NULL,
	sum     BLOB NOT NULL
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
	at          INTEGER NOT NULL,
	sum         BLOB NOT NULL
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
`},
}
