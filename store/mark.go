package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// A mark is a small file beside the store that says how many changes of rules,
// grants, preferences, claims and runs have been made durable. SQLite takes a
// write-ahead log that was cut for a shorter one, and would go back in time
// without a word: a rule that was removed would hold again. The mark notices.
type mark struct{ path string }

// read returns how many changes the store must have; 0 if there is no mark.
func (m mark) read() (int64, error) {
	data, err := os.ReadFile(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return parseMark(data)
}

func parseMark(data []byte) (int64, error) {
	if len(data) == 0 {
		return 0, nil // made, and not written yet
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	if err != nil || n < 0 {
		return 0, damage("its mark file is not what was written")
	}
	return n, nil
}

// raise notes that the store has at least n changes. A mark never goes down.
func (m mark) raise(n int64) error {
	f, err := os.OpenFile(m.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		return err
	}
	if now, err := parseMark(data); err != nil || now >= n {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%020d\n", n), 0) // one write of a fixed length
	return err
}

// check compares a head with the mark that was read before it.
func (m mark) check(h head, seen int64) error {
	if h.generation >= seen {
		return nil
	}
	return damage("%d of its last changes are missing: its write-ahead log was cut, or it is an older copy "+
		"(if that is what you want, remove %s)", seen-h.generation, m.path)
}
