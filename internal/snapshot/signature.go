package snapshot

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// nonBlocking opens a file without waiting for whoever holds the other end of a pipe.
const nonBlocking = unix.O_NONBLOCK

// A sig is what the kernel says about a file. Two equal ones of a file that is not young mean
// that nothing was written between: programs cannot set the time of the last change.
type sig struct {
	dev, ino     uint64
	size         int64
	mtime, ctime int64 // in nanoseconds
	mode         uint32
	uid, gid     uint32
}

func sigOf(st *unix.Stat_t) sig {
	return sig{
		dev: uint64(st.Dev), ino: st.Ino, size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
		mode: uint32(st.Mode), uid: st.Uid, gid: st.Gid,
	}
}

func sigOfInfo(info fs.FileInfo) sig {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return sig{}
	}
	return sig{
		dev: uint64(st.Dev), ino: st.Ino, size: st.Size, mtime: info.ModTime().UnixNano(), ctime: changeTime(st),
		mode: uint32(st.Mode), uid: st.Uid, gid: st.Gid,
	}
}

// settles is how long ago a file must have changed for its next change to bear another time,
// with room for a clock that is set and for file systems that count in seconds.
const settles = 2 * time.Second

// young reports whether the file changed so recently that its times may stay the same when it
// changes again.
func (s *sig) young(now time.Time) bool { return s.ctime > now.Add(-settles).UnixNano() }

// An identity names one content of a file: it is another one when the file is written.
type identity struct {
	dev, ino uint64
	size     int64
	ctime    int64
}

func (s *sig) identity() identity { return identity{s.dev, s.ino, s.size, s.ctime} }

// A kind is what lies at a path.
type kind uint8

const (
	none kind = iota
	file
	link
	folder
	special
	ignoredFile   // git ignores it; written through
	ignoredFolder // and all below it
)

func (s *sig) kind() kind {
	switch s.mode & unix.S_IFMT {
	case unix.S_IFREG:
		return file
	case unix.S_IFLNK:
		return link
	case unix.S_IFDIR:
		return folder
	}
	return special
}

// perm are the bits that chmod sets.
func (s *sig) perm() uint32 { return s.mode & 0o7777 }
