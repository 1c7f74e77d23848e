package db

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype/zeronull"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assent-dev/assent/store/postgres"
)

// What can be wrong with what was asked for; match with [errors.Is].
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("it exists already")
	ErrSettled  = errors.New("the request was answered already")
	ErrVoid     = errors.New("the vote does not count")
	ErrChanged  = errors.New("a row of the database is not what was written")
	ErrGap      = errors.New("records are missing")
	ErrFork     = errors.New("the server has other records with these numbers")
	ErrSpent    = errors.New("the code is unknown, used or expired; ask for a new one")
	ErrPruned   = errors.New("the server has removed it: it is older than keep_days of the team's policy")
	ErrLong     = errors.New("too many records for one proof; prove a later one")
	ErrSerial   = errors.New("the bundle's serial is not the next")
)

// A DB is the tables of one team. It is safe for concurrent use.
type DB struct {
	pool   *pgxpool.Pool
	tenant string

	known   requestCache
	votes   group[*pendingVote]
	records group[*pendingRecords]
	hub     *hub
}

// longestCommit bounds a transaction: what polls for changes looks back further than this.
const longestCommit = 5 * time.Second

// connections is how many a replica holds at most, unless the DSN has pool_max_conns.
const connections = 16

// lanes is how many commits of one kind are under way at once: while one waits for the disk, another counts.
const lanes = 4

// unreached is the error of a database that cannot be reached.
type unreached struct {
	why string
	err error
}

func (u *unreached) Error() string {
	return u.why + "; is PostgreSQL running, and is its address right?"
}

func (u *unreached) Unwrap() error { return u.err }

// Open connects to the database and brings its tables up to date. The tenant is the team whose rows
// are read and written.
func Open(ctx context.Context, dsn, tenant string) (*DB, error) {
	if tenant == "" {
		return nil, errors.New("team database: the name of the team is missing")
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("team database: %w", unread(err))
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		config.MaxConns = connections
	}
	limits := config.ConnConfig.RuntimeParams
	for name, value := range map[string]time.Duration{
		"idle_in_transaction_session_timeout": longestCommit, "statement_timeout": 30 * time.Second,
	} {
		if limits[name] == "" {
			limits[name] = fmt.Sprint(value.Milliseconds())
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("team database: %w", err)
	}
	if err := postgres.Migrate(ctx, pool, "team", steps); err != nil {
		pool.Close()
		if refused := new(pgconn.ConnectError); errors.As(err, &refused) { // its text can have several lines
			return nil, &unreached{strings.Join(strings.Fields(refused.Error()), " "), err}
		}
		return nil, fmt.Errorf("team database: %w", err)
	}
	d := &DB{pool: pool, tenant: tenant}
	d.votes = group[*pendingVote]{commit: d.commitVotes, lanes: lanes}
	d.records = group[*pendingRecords]{commit: d.commitRecords, lanes: lanes}
	d.hub = newHub(d)
	return d, nil
}

// unread says why a connection string cannot be used. What the parser says may have the password in it: it hides only what
// it takes for one.
func unread(err error) error {
	if file := (*fs.PathError)(nil); errors.As(err, &file) {
		return fmt.Errorf("the connection string: %w", file)
	}
	return errors.New("the connection string cannot be read: " +
		"write postgres://USER:PASSWORD@HOST:PORT/NAME, in which %2F stands for /, or NAME=VALUE with white space between them")
}

// Close waits for what is being written and closes all connections.
func (d *DB) Close() {
	d.votes.close()
	d.records.close()
	d.hub.close()
	d.pool.Close()
}

// Tenant is the team whose rows these are.
func (d *DB) Tenant() string { return d.tenant }

// Ping reports why the database does not answer.
func (d *DB) Ping(ctx context.Context) error { return d.pool.Ping(ctx) }

// Now is the time by the database's clock.
func (d *DB) Now(ctx context.Context) (now time.Time, err error) {
	err = d.pool.QueryRow(ctx, `SELECT now()`).Scan(&now)
	return now, err
}

// in runs f in a transaction. What it changed is told to everybody who watches, once it is committed.
func (d *DB) in(ctx context.Context, changes Changes, f func(tx pgx.Tx) error) error {
	err := pgx.BeginFunc(ctx, d.pool, f)
	if err == nil {
		d.hub.tell(changes)
	}
	return err
}

// exec runs one statement that must touch a row.
func (d *DB) exec(ctx context.Context, what string, statement string, args ...any) error {
	tag, err := d.pool.Exec(ctx, statement, args...)
	switch {
	case err == nil && tag.RowsAffected() == 0:
		err = ErrNotFound
	case uniqueViolation(err):
		err = ErrExists
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// one reads one row.
func one[T any](ctx context.Context, d *DB, what string, read func(pgx.CollectableRow) (T, error), query string, args ...any) (T, error) {
	rows, err := d.pool.Query(ctx, query, args...)
	var out T
	if err == nil {
		out, err = pgx.CollectExactlyOneRow(rows, read)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return out, fmt.Errorf("%s: %w", what, err)
	}
	return out, nil
}

// all reads rows.
func all[T any](ctx context.Context, d *DB, what string, read func(pgx.CollectableRow) (T, error), query string, args ...any) ([]T, error) {
	rows, err := d.pool.Query(ctx, query, args...)
	var out []T
	if err == nil {
		out, err = pgx.CollectRows(rows, read)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return out, nil
}

// A moment is a time that may be missing: then it is the zero time.
func moment(t *time.Time) *zeronull.Timestamptz { return (*zeronull.Timestamptz)(t) }

// newID returns an identifier that nobody can guess.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// hashOf is all that is kept of a secret.
func hashOf(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

func uniqueViolation(err error) bool { return code(err) == "23505" }

// again reports whether a transaction failed only because of another one.
func again(err error) bool { return code(err) == "40001" || code(err) == "40P01" }

// errInvalid says that a caller gave what no honest one does.
var errInvalid = errors.New("it is not valid")

// Invalid reports whether the caller gave what the database cannot store, such as a NUL byte: trying again does not help.
func Invalid(err error) bool {
	return errors.Is(err, errInvalid) || strings.HasPrefix(code(err), "22") // the class of data exceptions
}

func code(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return failed.Code
	}
	return ""
}
