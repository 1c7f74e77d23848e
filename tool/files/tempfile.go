package files

import (
	"crypto/rand"
	"encoding/hex"
	"io"
	"strings"
	"time"

	"github.com/assent-dev/assent/policy"
)

// tempPrefix begins the names of what must wait beside a file.
const tempPrefix = ".assent-"

// tempName returns a new name for what must wait beside a file. It tells which
// contents nobody misses: the new one, which is not in place yet, and the one
// that a person has agreed to replace or delete.
func tempName(known ...state) string {
	name := tempPrefix + strings.ToLower(rand.Text()[:16])
	for _, s := range known {
		if s.exists {
			name += "-" + mark(s.digest())
		}
	}
	return name
}

// mark is a digest, short enough for a name.
func mark(d policy.Digest) string { return hex.EncodeToString(d[:10]) }

// staleAfter is how long something has lain aside if whoever put it there ended
// before it was done.
const staleAfter = time.Hour

// maxSwept is how many names of a folder are looked at.
const maxSwept = 20_000

// sweep removes what a process that was killed left aside in the folder. What
// nobody was shown stays, whatever its age: it is somebody's.
func (d *dir) sweep(now time.Time) {
	again, err := d.sub(".") // a position of its own
	if err != nil {
		return
	}
	defer again.close()
	names, _ := again.f.Readdirnames(maxSwept)
	for _, name := range names {
		if strings.HasPrefix(name, tempPrefix) && d.stale(name, now) {
			_ = d.unlink(name) // else somebody sweeps later
		}
	}
}

// stale reports whether a file that lies aside is old, and its content one
// that its name says nobody misses.
func (d *dir) stale(name string, now time.Time) bool {
	f, st, err := d.open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	sec, nsec := st.Ctim.Unix()
	if now.Sub(time.Unix(sec, nsec)) < staleAfter || beingWritten(f) {
		return false
	}
	h := newStateHash()
	if _, err := io.Copy(h, f); err != nil {
		return false
	}
	_, marks, _ := strings.Cut(strings.TrimPrefix(name, tempPrefix), "-")
	own := mark(policy.Digest(h.Sum(nil)))
	for m := range strings.SplitSeq(marks, "-") {
		if m == own {
			return true
		}
	}
	return false
}
