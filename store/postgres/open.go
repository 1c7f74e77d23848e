package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/group"
	"github.com/assent-dev/assent/store/kept"
	"github.com/assent-dev/assent/store/sessions"
)

// Options say how a store is used. The zero Options are the defaults.
type Options struct {
	// Stream is the chain that events are added to; "" is one of this handle alone. Several may add to one, at the
	// price that they wait for each other.
	Stream string
	// RuleLimit is how many rules are kept; 0 means [approval.DefaultRuleLimit].
	RuleLimit int
	// Detail is how much of calls, views and notes is kept in records.
	Detail approval.Detail
	// Lease is how long this process counts as alive after it was heard of last; 0 means a minute.
	Lease time.Duration
	// Poll is how often is looked for what no notification told of; 0 means a second.
	Poll time.Duration
	// Patience is how long a record may take; 0 means 10 seconds.
	Patience time.Duration
	// Clock tells the time; nil means the database's clock.
	Clock func() time.Time
	// Warn is told what does not work as it should and is made up for; nil means nobody.
	Warn func(error)
}

func (o Options) withDefaults() Options {
	o.RuleLimit = cmp.Or(o.RuleLimit, approval.DefaultRuleLimit)
	o.Lease = cmp.Or(o.Lease, time.Minute)
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	return o
}

// A Store is where the processes of many machines meet. It is safe for concurrent use. Make one with [Open] or [New].
type Store struct {
	pool    *pgxpool.Pool
	ownPool bool // it ends with the store
	opt     Options
	owner   sessions.Process
	clock   clock
	hub     hub
	leases  leases
	seen    seenRequests
	log     eventLog
	events  *group.Committer[[]*kept.Record]

	mu          sync.Mutex
	rules       ruleCache
	preferences cached[map[string]string]
	grants      map[string]cached[*policy.GrantSet]
}

var (
	_ approval.MemoryStore    = (*Store)(nil)
	_ approval.Notifier       = (*Store)(nil)
	_ sessions.Store          = (*Store)(nil)
	_ approval.OwnerStore     = (*Store)(nil)
	_ approval.OpenPager      = (*Store)(nil)
	_ approval.RequestWatcher = (*Store)(nil)
	_ approval.ClaimStore     = (*Store)(nil)
	_ sessions.RunStore       = (*Store)(nil)
	_ approval.AuditLog       = (*Store)(nil)
	_ approval.DetailRecorder = (*Store)(nil)
)

// Open connects to a database and makes the tables if they are not there.
func Open(ctx context.Context, dsn string, opt Options) (*Store, error) {
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("the store's database: %w", err)
	}
	s, err := New(ctx, pool, opt)
	if err != nil {
		pool.Close()
		return nil, err
	}
	s.ownPool = true
	return s, nil
}

// New is [Open] over connections that are there. They stay open when the store is closed.
func New(ctx context.Context, pool *pgxpool.Pool, opt Options) (*Store, error) {
	s := &Store{pool: pool, opt: opt.withDefaults(), grants: map[string]cached[*policy.GrantSet]{}}
	s.owner = newOwner()
	if s.opt.Stream == "" {
		s.opt.Stream = s.owner.Host + "/" + s.owner.Started
	}
	s.clock.fixed = s.opt.Clock
	s.hub.init(s)
	s.leases.init(s)
	s.events = group.New(maxGroup, s.commitEvents)
	if err := Migrate(ctx, pool, component, schema); err != nil {
		return nil, err
	}
	return s, s.observeClock(ctx)
}

// newOwner identifies a store that is open, and so the process that opened it.
func newOwner() sessions.Process {
	host, _ := os.Hostname()
	return sessions.Process{Host: host, ID: os.Getpid(), Started: rand.Text()}
}

// Owner implements [approval.OwnerStore].
func (s *Store) Owner() approval.Process { return approval.Process(s.owner) }

// Stream is the name of the chain that events are added to.
func (s *Store) Stream() string { return s.opt.Stream }

// Close waits until all events are committed, gives up the leases and ends the listening.
func (s *Store) Close() error {
	s.events.Close()
	s.hub.close()
	err := s.leases.close()
	if s.ownPool {
		s.pool.Close()
	}
	return err
}

// processKey is the name of a process in the tables; "" for none.
func processKey(p sessions.Process) string {
	if p == (sessions.Process{}) {
		return ""
	}
	key, err := json.Marshal(p)
	if err != nil {
		panic(err) // two texts and a number
	}
	return string(key)
}

func processOf(key string) (p sessions.Process, err error) {
	if key != "" {
		err = json.Unmarshal([]byte(key), &p)
	}
	return p, err
}
