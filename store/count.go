package store

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"syscall"
	"time"
)

// A count tells, for two small system calls, whether any process has written to
// the store. It is a number in the file of the turn. Who has the turn makes it odd
// before a change can be seen and even after. So who finds it even, and as it was,
// has missed nothing; whoever is killed in between leaves it odd, and until the
// next write everybody asks SQLite instead.
type count struct {
	path   string
	file   counted
	looked time.Time // when it was last looked whether the file is still at the path
}

// lookEvery is how soon it is noticed that the file was moved away. That it was removed is
// noticed at once.
const lookEvery = 100 * time.Millisecond

// now returns the count, and whether it can be believed.
func (c *count) now() (n uint64, ok bool) {
	if c.file.File != nil && !c.isThere() {
		_ = c.file.close() // it was removed, and others count in a new one; this one was only read
	}
	if c.file.open(c.path, os.O_RDONLY) != nil {
		return 0, false
	}
	n, ok = c.file.read()
	return n, ok && n%2 == 0
}

// isThere reports whether the file is still the one that others count in. What has a name
// is, as a rule, and that is cheaper to ask for than to follow the path.
func (c *count) isThere() bool {
	if now := time.Now(); now.Sub(c.looked) > lookEvery {
		c.looked = now
		return c.file.isAt(c.path)
	}
	return c.file.isNamed()
}

// A counted file holds a count.
type counted struct {
	*os.File
	fd       int
	dev, ino uint64
}

// open opens the file, unless it is open.
func (c *counted) open(path string, flags int) error {
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
func (c *counted) isAt(path string) bool {
	var there syscall.Stat_t
	return syscall.Stat(path, &there) == nil && uint64(there.Dev) == c.dev && there.Ino == c.ino
}

// isNamed reports whether the file has a name.
func (c *counted) isNamed() bool {
	var open syscall.Stat_t
	return syscall.Fstat(c.fd, &open) == nil && open.Nlink > 0
}

// read returns the count; false if there is none yet.
func (c *counted) read() (uint64, bool) {
	var b [8]byte
	if n, _ := c.ReadAt(b[:], 0); n < len(b) {
		return 0, false
	}
	return binary.BigEndian.Uint64(b[:]), true
}

// begin returns the count. A new file begins anywhere, so that no count of one that
// was removed comes again.
func (c *counted) begin() uint64 {
	if n, ok := c.read(); ok {
		return n
	}
	return rand.Uint64() >> 2 << 1
}

func (c *counted) write(n uint64) error {
	_, err := c.WriteAt(binary.BigEndian.AppendUint64(nil, n), 0)
	return err
}

func (c *counted) close() error {
	if c.File == nil {
		return nil
	}
	err := c.Close()
	c.File = nil
	return err
}
