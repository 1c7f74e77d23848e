package snapshot

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"strings"
)

// A blobID is the name of a blob in git: 20 bytes, or 32 in a repository that uses SHA-256.
type blobID struct {
	id [32]byte
	n  uint8
}

func (b blobID) bytes() []byte { return b.id[:b.n] }

func newBlobID(sum []byte) blobID {
	b := blobID{n: uint8(len(sum))}
	copy(b.id[:], sum)
	return b
}

// gitHash is the hash of a repository whose names have n bytes.
func gitHash(n uint8) hash.Hash {
	if n == sha256.Size {
		return sha256.New()
	}
	return sha1.New()
}

// An indexed is a file as git last saw it: what the kernel said about it, and its blob.
type indexed struct {
	ctime, mtime [2]uint32 // seconds, nanoseconds
	ino, size    uint32    // their low halves
	uid, gid     uint32
	mode         uint32
	blob         blobID
}

// An index is what git tracks, by paths below the top of the repository.
type index struct {
	files map[string]*indexed
	dirs  map[string]bool // folders with something tracked below them
}

var errIndex = errors.New("this index cannot be read")

// maxIndex bounds the index that is read.
const maxIndex = 512 << 20

// parseIndex reads an index of version 2, 3 or 4, with names of hashSize bytes. What it cannot
// read as a whole is an error: then nothing counts as git's. Of a split index most entries
// stand in another file, which is not read.
func parseIndex(data []byte, hashSize uint8) (*index, error) {
	n := int(hashSize)
	if len(data) < 12+n || string(data[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), int(binary.BigEndian.Uint32(data[8:]))
	body, sum := data[:len(data)-n], data[len(data)-n:]
	if version < 2 || version > 4 || count > len(data)/(40+n) {
		return nil, errIndex
	}
	h := gitHash(hashSize)
	h.Write(body)
	if !bytes.Equal(h.Sum(nil), sum) && !bytes.Equal(sum, make([]byte, n)) { // zeros with index.skipHash
		return nil, errIndex
	}
	entries := make([]indexed, 0, count)
	out := &index{files: make(map[string]*indexed, count), dirs: map[string]bool{"": true}}
	text := string(body) // one copy for all names
	var name, dir string
	at := 12
	for range count {
		start := at
		if at+42+n > len(body) {
			return nil, errIndex
		}
		word := func(i int) uint32 { return binary.BigEndian.Uint32(body[start+4*i:]) }
		e := indexed{
			ctime: [2]uint32{word(0), word(1)}, mtime: [2]uint32{word(2), word(3)}, ino: word(5), mode: word(6),
			uid: word(7), gid: word(8), size: word(9), blob: newBlobID(body[start+40 : start+40+n]),
		}
		flags := binary.BigEndian.Uint16(body[start+40+n:])
		at += 42 + n
		if flags&0x4000 != 0 {
			at += 2
		}
		if version == 4 {
			strip, used := offsetVarint(body[min(at, len(body)):])
			if used == 0 || strip > len(name) {
				return nil, errIndex
			}
			at += used
			end := bytes.IndexByte(body[at:], 0)
			if end < 0 {
				return nil, errIndex
			}
			name = name[:len(name)-strip] + text[at:at+end]
			at += end + 1
		} else {
			end := bytes.IndexByte(body[min(at, len(body)):], 0)
			if end < 0 {
				return nil, errIndex
			}
			name = text[at : at+end]
			at += end + 1
			at = start + (at-start+7)/8*8
		}
		if stage := flags >> 12 & 3; stage != 0 || name == "" {
			continue // of a conflict: git has no one content of it
		}
		entries = append(entries, e)
		out.files[name] = &entries[len(entries)-1]
		if d := parent(name); d != dir {
			for dir = d; !out.dirs[d]; d = parent(d) {
				out.dirs[d] = true
			}
		}
	}
	return out, extensions(body, at)
}

// extensions refuses an index that needs another file to be understood.
func extensions(body []byte, at int) error {
	for at+8 <= len(body) {
		size := int(binary.BigEndian.Uint32(body[at+4:]))
		if string(body[at:at+4]) == "link" || size > len(body)-at-8 {
			return errIndex
		}
		at += 8 + size
	}
	if at != len(body) {
		return errIndex
	}
	return nil
}

// offsetVarint reads a number as git's packs write offsets; used is 0 if there is none.
func offsetVarint(b []byte) (n, used int) {
	for i, c := range b {
		if i > 4 {
			break
		}
		if i > 0 {
			n++
		}
		n = n<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return n, i + 1
		}
	}
	return 0, 0
}

// parent is the folder of a path; the top is empty.
func parent(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return ""
}

// unchanged reports whether a file is what git saw, by what the kernel says, as git itself
// does it. What changed when the index was written, or later, may have changed once more
// within the same tick of the clock, so that its times say nothing.
func (e *indexed) unchanged(s *sig, written int64) bool {
	sec := func(ns int64) [2]uint32 { return [2]uint32{uint32(ns / 1e9), uint32(ns % 1e9)} }
	return e.mode&0o170000 == 0o100000 && s.mtime < written && s.ctime < written &&
		e.size == uint32(s.size) && e.ino == uint32(s.ino) && e.uid == s.uid && e.gid == s.gid &&
		e.mtime == sec(s.mtime) && e.ctime == sec(s.ctime)
}
