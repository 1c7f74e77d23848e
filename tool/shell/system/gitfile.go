package system

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/internal/gitconfig"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

const (
	maxGitFile    = 1 << 20 // a larger file of settings is not read
	maxGitEntries = 512     // files that are remembered
	// settled is the age from which a change of a file is certain to change its
	// times too, however coarse the clock of its disk.
	settled = 2 * time.Second
)

// A gitFile is what one file of git's configuration says. Its settings are shared and
// not to be changed.
type gitFile struct {
	settings []analysis.Setting
	ok       bool // it was read, or is not there
}

// signature tells versions of a file apart.
type signature struct {
	device, inode, size   uint64
	modified, changedMeta unix.Timespec
}

// gitFiles remembers files of git's configuration for the life of the process, for as
// long as their signature stays the same.
var gitFiles struct {
	mu     sync.Mutex
	byPath map[string]gitEntry
}

type gitEntry struct {
	signature signature
	file      gitFile
}

// readGitFile returns what a file of git's configuration says.
func readGitFile(path string) gitFile {
	var st unix.Stat_t
	switch err := unix.Stat(path, &st); err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR:
		return gitFile{ok: true}
	default:
		return gitFile{}
	}
	if file, ok := remembered(path, sign(&st)); ok {
		return file
	}
	file, sig := loadGitFile(path)
	if sig.oldAt(time.Now()) {
		keepGitFile(path, gitEntry{sig, file})
	}
	return file
}

func remembered(path string, sig signature) (gitFile, bool) {
	gitFiles.mu.Lock()
	defer gitFiles.mu.Unlock()
	entry, ok := gitFiles.byPath[path]
	return entry.file, ok && entry.signature == sig
}

func keepGitFile(path string, entry gitEntry) {
	gitFiles.mu.Lock()
	defer gitFiles.mu.Unlock()
	if gitFiles.byPath == nil || len(gitFiles.byPath) >= maxGitEntries {
		gitFiles.byPath = make(map[string]gitEntry)
	}
	gitFiles.byPath[path] = entry
}

// loadGitFile reads and parses; the signature is of the very file that was read.
func loadGitFile(path string) (gitFile, signature) {
	text, sig, ok := readRegular(path, maxGitFile)
	if !ok {
		return gitFile{}, sig
	}
	parsed, ok := gitconfig.Parse(text)
	var settings []analysis.Setting
	for _, s := range parsed {
		settings = append(settings, analysis.Setting{Key: s.Key, Value: s.Value})
	}
	return gitFile{settings, ok}, sig
}

// readRegular reads a file of at most max bytes. It does not wait for the other end
// of a pipe.
func readRegular(path string, max int64) (text []byte, sig signature, ok bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, sig, false
	}
	defer f.Close()
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil || uint32(st.Mode)&unix.S_IFMT != unix.S_IFREG {
		return nil, sig, false
	}
	text, err = io.ReadAll(io.LimitReader(f, max+1))
	return text, sign(&st), err == nil && int64(len(text)) <= max
}

// readBegin reads the first bytes of a regular file.
func readBegin(path string, most int64) (text []byte, ok bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil || uint32(st.Mode)&unix.S_IFMT != unix.S_IFREG {
		return nil, false
	}
	text, err = io.ReadAll(io.LimitReader(f, most))
	return text, err == nil
}

func sign(st *unix.Stat_t) signature {
	return signature{uint64(st.Dev), st.Ino, uint64(st.Size), st.Mtim, st.Ctim}
}

// oldAt reports whether a change at that moment or later would show in the signature.
func (s signature) oldAt(now time.Time) bool {
	return s != signature{} && now.Sub(time.Unix(s.changedMeta.Unix())) > settled
}
