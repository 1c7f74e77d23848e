package snapshot

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Every version of the index is read as git itself reads it.
func TestIndexAsGitReadsIt(t *testing.T) {
	l := newRepo(t)
	l.sh("mkdir -p src/deep/er && for i in $(seq 1 300); do echo $i > src/deep/er/file$i; done; printf x > 'odd name\n'; git add -A; git rm -q --cached doc/d.md; git add -N doc/d.md; git update-index --skip-worktree src/a.go")
	for _, version := range []string{"2", "3", "4"} {
		l.sh("git update-index --index-version " + version)
		data, err := os.ReadFile(l.dir + "/.git/index")
		must(t, err)
		x, err := parseIndex(data, 20)
		must(t, err)
		cmd := exec.Command("git", "ls-files", "-s", "-z")
		cmd.Dir = l.dir
		out, err := cmd.Output()
		must(t, err)
		var want, got []string
		for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			fields, name, _ := strings.Cut(line, "\t")
			want = append(want, strings.Fields(fields)[1]+" "+name)
		}
		for name, e := range x.files {
			got = append(got, hexOf(e.blob)+" "+name)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("version %s: %d entries, git has %d", version, len(got), len(want))
		}
		damage(t, data)
	}
}

// damage changes an index in many ways: it must be refused or read, and never end the program.
func damage(t *testing.T, data []byte) {
	t.Helper()
	if _, err := parseIndex(append(slices.Clone(data[:40]), data[41:]...), 20); err == nil {
		t.Error("a wrong checksum is taken")
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 2000 {
		bad := slices.Clone(data)
		if i%2 == 0 {
			bad = bad[:r.IntN(len(bad))]
		}
		for range 1 + r.IntN(4) {
			if len(bad) > 0 {
				bad[r.IntN(len(bad))] = byte(r.IntN(256))
			}
		}
		if len(bad) > 20 {
			copy(bad[len(bad)-20:], bytes.Repeat([]byte{0}, 20)) // as with index.skipHash
		}
		_, _ = parseIndex(bad, 20) // whatever it says, it says it
	}
}

// What changed when the index was written, or later, is not taken for git's by its times.
func TestRacyEntries(t *testing.T) {
	e := indexed{mtime: [2]uint32{10, 5}, ctime: [2]uint32{10, 5}, mode: 0o100644, size: 3, ino: 7}
	s := sig{mtime: 10e9 + 5, ctime: 10e9 + 5, size: 3, ino: 7}
	if !e.unchanged(&s, 10e9+6) {
		t.Error("it is unchanged")
	}
	for _, written := range []int64{10e9 + 5, 10e9 + 4, 0} {
		if e.unchanged(&s, written) {
			t.Errorf("taken with an index of %d", written)
		}
	}
	for _, other := range []sig{
		{mtime: 10e9 + 4, ctime: 10e9 + 5, size: 3, ino: 7}, {mtime: 10e9 + 5, ctime: 10e9 + 4, size: 3, ino: 7},
		{mtime: 10e9 + 5, ctime: 10e9 + 5, size: 4, ino: 7}, {mtime: 10e9 + 5, ctime: 10e9 + 5, size: 3, ino: 8},
	} {
		if e.unchanged(&other, 11e9) {
			t.Errorf("taken: %+v", other)
		}
	}
}
