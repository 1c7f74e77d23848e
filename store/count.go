package store

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"syscall"
)

// A count tells, for two small system calls, whether any process has written to
// the store. It is a number in the file of the turn. Who has the turn makes it odd
// before a change can be seen and even after. So who finds it even, and as it was,
// has missed nothing; whoever is killed in between leaves it odd, and until the
// next write everybody asks SQLite instead.
type count struct {
	path string
	file counted
}

// now returns the count, and whether it can be believed.
func (c *count) now() (n uint64, ok bool) {
	if c.file.File != nil && !c.file.isAt(c.path) {
		_ = c.file.close() // it was removed, and others count in a new one; this one was only read
	}
	if c.file.open(c.path, os.O_RDONLY) != nil {
		return 0, false
	}
	n, ok = c.file.read()
	return n, ok && n%2 == 0
}

// A counted file holds a count.
type counted struct {
	*os.File
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
	c.File, c.dev, c.ino = f, uint64(info.Dev), info.Ino
	return nil
}

// isAt reports whether the file is still the one at a path.
func (c *counted) isAt(path string) bool {
	var there syscall.Stat_t
	return syscall.Stat(path, &there) == nil && uint64(there.Dev) == c.dev && there.Ino == c.ino
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
