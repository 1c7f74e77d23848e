package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/group"
	"github.com/assent-dev/assent/store/kept"
	"github.com/assent-dev/assent/store/sessions"
)

// FileName is the name of the store in the state folder.
const FileName = "assent.db"

// Options say how a store is used. The zero Options are the defaults.
type Options struct {
	// RuleLimit is how many rules are kept; 0 means [approval.DefaultRuleLimit].
	RuleLimit int
	// Detail is how much of calls, views and notes is kept in records.
	Detail approval.Detail
	// SyncAll makes every record wait for the disk. Otherwise one waits that a
	// person's answer led to, and others reach the disk within 100 ms.
	SyncAll bool
	// Brief is for a process that ends soon: what is read in small comes over the
	// connection that writes, so that no second one is opened. If it ends without
	// [Store.Close], what did not wait for the disk is left to the system.
	Brief bool
	// Patience is how long another process may hold the store; 0 means 5 seconds.
	Patience time.Duration
	// Posted is called after requests of a team were posted: somebody has to send them on. Nil calls nothing.
	Posted func()
	// Clock tells the time; nil means that of the system.
	Clock func() time.Time
	// Alive reports whether a process is there; nil means to ask the system.
	Alive func(sessions.Process) bool
}

func (o Options) withDefaults() Options {
	if o.RuleLimit == 0 {
		o.RuleLimit = approval.DefaultRuleLimit
	}
	if o.Patience == 0 {
		o.Patience = 5 * time.Second
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Alive == nil {
		o.Alive = processAlive
	}
	return o
}

// A Store is where the processes of a user meet. It is safe for concurrent use.
// Make one with [Open].
type Store struct {
	path      string
	opt       Options
	schema    schema
	mark      mark
	db        *sql.DB     // for reading
	writer    *statements // for whoever has put something into writing
	writing   chan struct{}
	written   writtenHead // for the same
	lock      writeLock
	closed    atomic.Bool
	cache     headCache
	log       eventLog
	events    *group.Committer[[]*kept.Record]
	disk      disk
	listeners listeners
	seen      seenRequests

	mu          sync.Mutex
	rules       cached[*policy.RuleSet]
	preferences cached[map[string]string]
	grants      map[string]cached[sessionGrants]
}

var (
	_ approval.MemoryStore    = (*Store)(nil)
	_ approval.Notifier       = (*Store)(nil)
	_ sessions.Store          = (*Store)(nil)
	_ approval.OpenPager      = (*Store)(nil)
	_ approval.ClaimStore     = (*Store)(nil)
	_ sessions.RunStore       = (*Store)(nil)
	_ approval.AuditLog       = (*Store)(nil)
	_ approval.DetailRecorder = (*Store)(nil)
)

// Made reports whether a store was ever made in a folder. One whose file is gone has left its mark, and
// [Open] says so: nobody may take it for one that never was.
func Made(folder string) bool {
	path := filepath.Join(folder, FileName)
	for _, name := range []string{path, path + markSuffix} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// Open opens the store in a folder, and makes both if they are not there, for
// this user alone. Errors are of type [*Error] where the store itself is wrong.
func Open(ctx context.Context, folder string, opt Options) (*Store, error) {
	return openWith(ctx, folder, opt, schemaNow)
}

func openWith(ctx context.Context, folder string, opt Options, known schema) (*Store, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, FileName)
	s := &Store{
		path: path, opt: opt.withDefaults(), schema: known, mark: mark{path + markSuffix},
		writing: make(chan struct{}, 1), grants: map[string]cached[sessionGrants]{},
	}
	s.disk.log = path + logSuffix
	s.lock = writeLock{path: path + "-lock", patience: s.opt.Patience}
	s.cache.count.path = s.lock.path
	s.events = group.New(maxGroup, s.commitGroup)
	if err := makePrivate(path); err != nil {
		return nil, &Error{Path: path, Kind: ErrUnwritable, Err: err, Do: makeWritable}
	}
	if s.db, err = sql.Open("sqlite", s.dsn()); err != nil {
		return nil, s.fault(err)
	}
	s.db.SetMaxOpenConns(8)
	s.db.SetMaxIdleConns(4)
	opened, err := os.Stat(path) // from before it is opened: should it be replaced now, nothing is written
	if err != nil {
		return nil, errors.Join(s.fault(err), s.db.Close())
	}
	if err := s.connect(ctx); err != nil {
		if s.writer != nil {
			s.writer.close()
		}
		return nil, errors.Join(s.fault(err), s.db.Close())
	}
	s.lock.of, s.lock.opened = path, opened
	return s, nil
}

// dsn says how connections are opened.
func (s *Store) dsn() string {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", s.opt.Patience.Milliseconds()),
		"synchronous(normal)", // what must be on the disk we bring there: see disk.go
		"cell_size_check(1)",
		"wal_autocheckpoint(4000)", // 16 MB: moving the log into the file costs two waits for the disk
	}}
	u := url.URL{Scheme: "file", OmitHost: true, Path: s.path, RawQuery: q.Encode()}
	return u.String()
}

// connect opens the writing connection and brings the schema up to date.
func (s *Store) connect(ctx context.Context) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	s.writer = newStatements(conn)
	if err := s.prepareFile(ctx, conn); err != nil {
		return err
	}
	seen, err := s.mark.read() // before the head, which may go on meanwhile
	if err != nil {
		return err
	}
	h, err := s.currentHead(ctx, s.writer)
	if err != nil {
		return err
	}
	s.listeners.told = h
	return s.mark.check(h, seen)
}

// makePrivate makes the folder and the file, or takes what others may do away
// from them.
func makePrivate(path string) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return errors.Join(tighten(folder, 0o700), tighten(path, 0o600))
}

func tighten(path string, mode fs.FileMode) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&^mode == 0 {
		return err
	}
	return os.Chmod(path, info.Mode().Perm()&mode)
}

// Path returns where the store is.
func (s *Store) Path() string { return s.path }

// Close brings everything to the disk and ends the listening. Who still uses the
// store gets an error.
func (s *Store) Close() error {
	s.listeners.close()
	s.events.Close()
	s.writing <- struct{}{} // nobody writes any more
	defer func() { <-s.writing }()
	if s.closed.Swap(true) {
		return nil
	}
	return errors.Join(s.disk.close(), s.lock.close(), s.cache.close(), s.writer.close(), s.db.Close())
}
