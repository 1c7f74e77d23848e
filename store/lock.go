package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
	"time"
)

// A writeLock is taken by one process after another that wants to write. SQLite's own
// lock is asked for again and again, with pauses; where many write, some would
// wait forever. The system's lock on a file of its own is handed on at once.
//
// The file holds a count of the writes, and what the last one has changed: see [commitCount].
type writeLock struct {
	path     string
	patience time.Duration
	of       string      // the file that is written
	opened   os.FileInfo // as it was found; nil before

	mu      sync.Mutex // only one of a process waits, or has the lock
	file    countFile
	waiting chan error // for a lock that was asked for and did not come in time
	count   uint64     // how many writes there were, for who has the lock
}

var errNoTurn = errors.New("another process has been writing")

// take waits for the lock, not forever. Give gives it on.
func (t *writeLock) take() (give func(), err error) {
	t.mu.Lock()
	if err = t.acquire(); err != nil {
		t.mu.Unlock()
		return nil, err
	}
	give = func() {
		_ = syscall.Flock(int(t.file.Fd()), syscall.LOCK_UN) // fails for a closed file only
		t.mu.Unlock()
	}
	if t.opened != nil && !sameFile(t.of, t.opened) {
		give()
		return nil, errMoved
	}
	return give, nil
}

// errMoved refuses writes that nobody would find.
var errMoved = errors.New("the file was moved, removed or replaced while it was open; put it back, or end this program " +
	"and start it again")

func sameFile(path string, was os.FileInfo) bool {
	now, err := os.Stat(path)
	return err == nil && os.SameFile(now, was)
}

// acquire locks the file that others lock too: one that was removed meanwhile
// keeps nobody out.
func (t *writeLock) acquire() error {
	for {
		if err := t.lock(); err != nil {
			return err
		}
		if t.file.isAt(t.path) {
			t.count = t.file.begin()
			return nil
		}
		if err := t.file.close(); err != nil {
			return err
		}
	}
}

func (t *writeLock) lock() error {
	if err := t.file.open(t.path, os.O_CREATE|os.O_RDWR); err != nil {
		return err
	}
	if t.waiting == nil {
		if err := syscall.Flock(int(t.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return nil
		}
		t.waiting = make(chan error, 1)
		go func(fd int, got chan<- error) { got <- flock(fd) }(int(t.file.Fd()), t.waiting)
	}
	timer := time.NewTimer(t.patience)
	defer timer.Stop()
	select {
	case err := <-t.waiting:
		t.waiting = nil
		return err
	case <-timer.C:
		return fmt.Errorf("%w for %v", errNoTurn, t.patience)
	}
}

// flock waits for the lock as long as it takes.
func flock(fd int) error {
	for {
		err := syscall.Flock(fd, syscall.LOCK_EX)
		if err != syscall.EINTR {
			return err
		}
	}
}

// writing runs commit, which makes a change visible, between raising the count to
// an odd number and to the next even one. After is the head that it commits; nil if
// watchers are to ask SQLite. Only who has the lock may call it.
func (t *writeLock) writing(after *head, commit func() error) error {
	t.count |= 1
	if err := t.file.write(t.count, nil); err != nil {
		return err
	}
	err := commit()
	if err != nil {
		after = nil
	}
	if t.file.write(t.count+1, after) == nil { // otherwise it stays odd, and nobody believes it
		t.count++
		t.file.ring()
	}
	return err
}

// close gives up the file, unless a lock on it is still being waited for: then
// the end of the process does.
func (t *writeLock) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting != nil {
		return nil
	}
	return t.file.close()
}

// A commitCount tells, for two small system calls, whether any process has written to
// the store. It is a number in the file of the lock. Who has the lock makes it odd
// before a change can be seen and even after. So who finds it even, and as it was,
// has missed nothing; whoever is killed in between leaves it odd, and until the
// next write everybody asks SQLite instead.
type commitCount struct {
	path   string
	file   countFile
	looked time.Time // when it was last looked whether the file is still at the path
}

// lookEvery is how soon it is noticed that the file was moved away. That it was removed is
// noticed at once.
const lookEvery = 100 * time.Millisecond

// now returns the count, and whether it can be believed.
func (c *commitCount) now() (n uint64, ok bool) {
	if !c.open() {
		return 0, false
	}
	n, ok = c.file.read()
	return n, ok && n%2 == 0
}

// last returns the count, and the counters of the head that the last write left; ok is false if the file does
// not say. It is for watchers, which look again after each write.
func (c *commitCount) last() (n uint64, h head, ok bool) {
	c.looked = time.Time{}
	if !c.open() {
		return 0, head{}, false
	}
	return c.file.readHead()
}

func (c *commitCount) open() bool {
	if c.file.File != nil && !c.isThere() {
		_ = c.file.close() // it was removed, and others count in a new one; this one was only read
	}
	return c.file.open(c.path, os.O_RDONLY) == nil
}

// isThere reports whether the file is still the one that others count in. What has a name
// is, as a rule, and that is cheaper to ask for than to follow the path.
func (c *commitCount) isThere() bool {
	if now := time.Now(); now.Sub(c.looked) > lookEvery {
		c.looked = now
		return c.file.isAt(c.path)
	}
	return c.file.isNamed()
}

// A countFile holds a count.
type countFile struct {
	*os.File
	fd       int
	dev, ino uint64
}

// open opens the file, unless it is open.
func (c *countFile) open(path string, flags int) error {
	if c.File != nil {
		return nil
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	var info syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &info); err != nil {
		f.Close()
		return err
	}
	c.File, c.fd, c.dev, c.ino = f, int(f.Fd()), uint64(info.Dev), info.Ino
	return nil
}

// isAt reports whether the file is still the one at a path.
func (c *countFile) isAt(path string) bool {
	var there syscall.Stat_t
	return syscall.Stat(path, &there) == nil && uint64(there.Dev) == c.dev && there.Ino == c.ino
}

// isNamed reports whether the file has a name.
func (c *countFile) isNamed() bool {
	var open syscall.Stat_t
	return syscall.Fstat(c.fd, &open) == nil && open.Nlink > 0
}

// read returns the count; false if there is none yet.
func (c *countFile) read() (uint64, bool) {
	var b [8]byte
	if n, _ := c.ReadAt(b[:], 0); n < len(b) {
		return 0, false
	}
	return binary.BigEndian.Uint64(b[:]), true
}

// begin returns the count. A new file begins anywhere, so that no count of one that
// was removed comes again.
func (c *countFile) begin() uint64 {
	if n, ok := c.read(); ok {
		return n
	}
	return rand.Uint64() >> 2 << 1
}

// write writes the count, and with a head its counters and a sum of all of it. So nobody believes older counters
// after a program that writes the count alone, or what was read in the middle of a write.
func (c *countFile) write(n uint64, h *head) error {
	data := binary.BigEndian.AppendUint64(nil, n)
	if h != nil {
		for _, counter := range h.counters() {
			data = binary.BigEndian.AppendUint64(data, uint64(*counter))
		}
		data = binary.BigEndian.AppendUint64(data, checksum(data))
	}
	_, err := c.WriteAt(data, 0)
	return err
}

// ring wakes watchers once for each change. They do not wait for writes to the file or to the log: of those each change has
// several, and the first come before it can be seen. If it fails they look a second later.
func (c *countFile) ring() { _ = c.Chmod(0o600) }

// counters are those that watchers go by.
func (h *head) counters() [4]*int64 {
	return [...]*int64{&h.policy, &h.grants, &h.requests, &h.seq}
}

// readHead returns the count and the counters of the head; ok is false while somebody writes, or if they do not
// belong together.
func (c *countFile) readHead() (n uint64, h head, ok bool) {
	counters := h.counters()
	const size = 8 * (1 + len(counters))
	var b [size + 8]byte
	if read, _ := c.ReadAt(b[:], 0); read < len(b) {
		return 0, h, false
	}
	n = binary.BigEndian.Uint64(b[:])
	for i, counter := range counters {
		*counter = int64(binary.BigEndian.Uint64(b[8*(1+i):]))
	}
	return n, h, n%2 == 0 && checksum(b[:size]) == binary.BigEndian.Uint64(b[size:])
}

func checksum(data []byte) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write(data) // which cannot fail
	return sum.Sum64()
}

func (c *countFile) close() error {
	if c.File == nil {
		return nil
	}
	err := c.Close()
	c.File = nil
	return err
}
