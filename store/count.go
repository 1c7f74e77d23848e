package store

import (
	"encoding/binary"
	"os"
)

// A count tells, for two small system calls, whether any process has written to
// the store. It is a number in the file of the turn. Who has the turn makes it odd
// before a change can be seen and even after. So who finds it even, and as it was,
// has missed nothing; whoever is killed in between leaves it odd, and until the
// next write everybody asks SQLite instead.
type count struct {
	path string
	file *os.File
}

// now returns the count, and whether it can be believed.
func (c *count) now() (n uint64, ok bool) {
	if c.file != nil && !sameFile(c.file, c.path) {
		c.close() // it was removed, and others count in a new one
	}
	if c.file == nil {
		f, err := os.Open(c.path)
		if err != nil {
			return 0, false
		}
		c.file = f
	}
	n, ok = readCount(c.file)
	return n, ok && n%2 == 0
}

func (c *count) close() {
	if c.file != nil {
		c.file.Close() // it was only read
		c.file = nil
	}
}

// readCount reads a count; false if there is none yet.
func readCount(f *os.File) (uint64, bool) {
	var b [8]byte
	if n, _ := f.ReadAt(b[:], 0); n < len(b) {
		return 0, false
	}
	return binary.BigEndian.Uint64(b[:]), true
}
