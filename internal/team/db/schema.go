package db

// steps make the tables. A step is never changed once it was released.
var steps = []string{`
CREATE SCHEMA IF NOT EXISTS team;

CREATE TABLE team.people (
	tenant   text NOT NULL,
	id       text NOT NULL,
	issuer   text NOT NULL,
	subject  text NOT NULL,
	name     text NOT NULL,
	created  timestamptz NOT NULL DEFAULT now(),
	disabled timestamptz,
	PRIMARY KEY (tenant, id),
	UNIQUE (tenant, issuer, subject)
);

CREATE TABLE team.credentials (
	tenant      text NOT NULL,
	id          text NOT NULL,
	person      text NOT NULL,
	kind        text NOT NULL CHECK (kind IN ('passkey', 'device')),
	public      bytea NOT NULL,
	rp          text NOT NULL,
	aaguid      bytea,
	backed_up   boolean NOT NULL,
	name        text NOT NULL,
	enrolled_by text NOT NULL,
	created     timestamptz NOT NULL DEFAULT now(),
	counts_from timestamptz NOT NULL,
	revoked     timestamptz,
	PRIMARY KEY (tenant, id),
	FOREIGN KEY (tenant, person) REFERENCES team.people
);
CREATE INDEX ON team.credentials (tenant, person);

CREATE TABLE team.groups (
	tenant text NOT NULL,
	name   text NOT NULL,
	PRIMARY KEY (tenant, name)
);

CREATE TABLE team.memberships (
	tenant     text NOT NULL,
	group_name text NOT NULL,
	person     text NOT NULL,
	source     text NOT NULL,
	from_time  timestamptz NOT NULL DEFAULT now(),
	until_time timestamptz,
	PRIMARY KEY (tenant, group_name, person),
	FOREIGN KEY (tenant, group_name) REFERENCES team.groups ON DELETE CASCADE,
	FOREIGN KEY (tenant, person) REFERENCES team.people
);

-- Room for later; nothing reads it.
CREATE TABLE team.delegations (
	tenant      text NOT NULL,
	id          text NOT NULL,
	from_person text NOT NULL,
	to_person   text NOT NULL,
	group_name  text NOT NULL,
	from_time   timestamptz NOT NULL,
	until_time  timestamptz NOT NULL,
	reason      text NOT NULL,
	PRIMARY KEY (tenant, id)
);

CREATE TABLE team.invitations (
	tenant  text NOT NULL,
	hash    bytea NOT NULL,
	person  text NOT NULL,
	made_by text NOT NULL,
	created timestamptz NOT NULL DEFAULT now(),
	expires timestamptz NOT NULL,
	used    timestamptz,
	PRIMARY KEY (tenant, hash)
);

CREATE TABLE team.join_tokens (
	tenant  text NOT NULL,
	hash    bytea NOT NULL,
	sponsor text NOT NULL,
	made_by text NOT NULL,
	created timestamptz NOT NULL DEFAULT now(),
	expires timestamptz NOT NULL,
	used    timestamptz,
	PRIMARY KEY (tenant, hash)
);

CREATE TABLE team.gates (
	tenant      text NOT NULL,
	id          text NOT NULL,
	public      bytea NOT NULL,
	host        text NOT NULL,
	user_name   text NOT NULL,
	sponsor     text NOT NULL,
	created     timestamptz NOT NULL DEFAULT now(),
	revoked     timestamptz,
	PRIMARY KEY (tenant, id),
	UNIQUE (tenant, public),
	FOREIGN KEY (tenant, sponsor) REFERENCES team.people (tenant, id)
);

CREATE TABLE team.leases (
	tenant      text NOT NULL,
	gate        text NOT NULL,
	serial      bigint NOT NULL,
	lease_until timestamptz NOT NULL,
	PRIMARY KEY (tenant, gate)
);

CREATE TABLE team.agents (
	tenant  text NOT NULL,
	gate    text NOT NULL,
	name    text NOT NULL,
	sponsor text NOT NULL,
	PRIMARY KEY (tenant, gate, name),
	FOREIGN KEY (tenant, gate) REFERENCES team.gates,
	FOREIGN KEY (tenant, sponsor) REFERENCES team.people (tenant, id)
);

CREATE TABLE team.bundles (
	tenant  text NOT NULL,
	serial  bigint NOT NULL,
	note    bytea NOT NULL,
	created timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (tenant, serial)
);

CREATE TABLE team.requests (
	tenant       text NOT NULL,
	id           text NOT NULL,
	gate         text NOT NULL,
	agent        text NOT NULL,
	sponsor      text NOT NULL,
	summary      text NOT NULL,
	body         bytea NOT NULL,
	signature    bytea NOT NULL,
	view_digest  bytea NOT NULL,
	fingerprint  bytea NOT NULL,
	need         jsonb NOT NULL,
	serial       bigint NOT NULL,
	state        text NOT NULL DEFAULT 'pending',
	version      bigint NOT NULL DEFAULT 1,
	asked        text[] NOT NULL,
	excluded     text[] NOT NULL,
	decision     bytea, -- JSON, byte for byte
	ended_by     jsonb,
	news         bigint,
	created      timestamptz NOT NULL DEFAULT now(),
	changed      timestamptz NOT NULL DEFAULT now(),
	escalates_at timestamptz,
	expires_at   timestamptz,
	PRIMARY KEY (tenant, id)
) WITH (fillfactor = 80);
-- None of these has the tenant or the id in front: before there are statistics, the planner would take one of them in
-- place of the primary key.
CREATE INDEX requests_open ON team.requests (created) WHERE state = 'pending';
CREATE INDEX requests_created ON team.requests (created);
CREATE INDEX requests_changed ON team.requests (changed);
CREATE INDEX requests_escalate ON team.requests (escalates_at) WHERE state = 'pending';
CREATE INDEX requests_expire ON team.requests (expires_at) WHERE state = 'pending';
CREATE UNIQUE INDEX requests_news ON team.requests (gate, news, tenant) WHERE news IS NOT NULL;

CREATE TABLE team.votes (
	tenant   text NOT NULL,
	request  text NOT NULL,
	person   text NOT NULL,
	vote     bytea NOT NULL, -- JSON, byte for byte: arguments in it have a digest
	decision bytea NOT NULL,
	at       timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (tenant, request, person)
);

-- A counter for each gate: its row is held until the settling transaction ends, so numbers become
-- visible in their order and a cursor misses none.
CREATE TABLE team.news (
	tenant  text NOT NULL,
	gate    text NOT NULL,
	last    bigint NOT NULL DEFAULT 0,
	changed timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (tenant, gate)
) WITH (fillfactor = 50);
CREATE INDEX ON team.news (changed);

CREATE TABLE team.streams (
	tenant     text NOT NULL,
	gate       text NOT NULL,
	id         text NOT NULL,
	seq        bigint NOT NULL,
	hash       bytea NOT NULL,
	-- The record before the oldest that is kept.
	first_seq  bigint NOT NULL,
	first_hash bytea NOT NULL,
	PRIMARY KEY (tenant, gate, id)
) WITH (fillfactor = 50);

-- The guard row in streams keeps (gate, stream, seq) unique; the time is in the key so that the table
-- can be partitioned by it.
CREATE TABLE team.events (
	tenant  text NOT NULL,
	gate    text NOT NULL,
	stream  text NOT NULL,
	seq     bigint NOT NULL,
	at      timestamptz NOT NULL DEFAULT now(),
	prev    bytea NOT NULL,
	hash    bytea NOT NULL,
	numbers bigint[] NOT NULL,
	texts   text[] NOT NULL,
	body    bytea NOT NULL,
	PRIMARY KEY (tenant, gate, stream, seq, at)
);
CREATE INDEX events_at ON team.events USING brin (at);

CREATE TABLE team.leaves (
	tenant text NOT NULL,
	n      bigint NOT NULL,
	gate   text NOT NULL,
	stream text NOT NULL,
	seq    bigint NOT NULL,
	hash   bytea NOT NULL,
	PRIMARY KEY (tenant, n),
	UNIQUE (tenant, gate, stream, seq)
);

CREATE TABLE team.tree (
	tenant text NOT NULL,
	n      bigint NOT NULL,
	hash   bytea NOT NULL,
	PRIMARY KEY (tenant, n)
);

CREATE TABLE team.checkpoints (
	tenant  text NOT NULL,
	size    bigint NOT NULL,
	root    bytea NOT NULL,
	note    text NOT NULL,
	created timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (tenant, size)
);

CREATE TABLE team.web_sessions (
	tenant  text NOT NULL,
	hash    bytea NOT NULL,
	data    bytea NOT NULL,
	expires timestamptz NOT NULL,
	PRIMARY KEY (tenant, hash)
);
CREATE INDEX ON team.web_sessions (tenant, expires);

CREATE TABLE team.outbox (
	tenant       text NOT NULL,
	id           bigint GENERATED ALWAYS AS IDENTITY,
	kind         text NOT NULL,
	subject      text NOT NULL,
	body         bytea NOT NULL,
	created      timestamptz NOT NULL DEFAULT now(),
	tries        integer NOT NULL DEFAULT 0,
	next_at      timestamptz NOT NULL DEFAULT now(),
	problem      text NOT NULL DEFAULT '',
	PRIMARY KEY (tenant, id)
);
CREATE INDEX outbox_next ON team.outbox (tenant, next_at);
`, `
-- Of two keys with one public half the second would keep every later bundle from being published.
DELETE FROM team.credentials c USING team.credentials first
	WHERE first.tenant = c.tenant AND first.public = c.public AND (first.created, first.id) < (c.created, c.id);
ALTER TABLE team.credentials ADD UNIQUE (tenant, public);

-- A web session is of the era in which it began; disabling a person ends theirs for good.
ALTER TABLE team.people ADD COLUMN era bigint NOT NULL DEFAULT 0;

-- What one touch has signed makes one invitation.
ALTER TABLE team.invitations ADD COLUMN nonce text, ADD UNIQUE (tenant, made_by, nonce);

-- As the vote says, for lists.
ALTER TABLE team.votes ADD COLUMN expires timestamptz;
`}
