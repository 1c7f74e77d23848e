package gitconfig

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
)

// An IndexEntry is what an index says about a file that git tracks, as far as it is of use without git.
type IndexEntry struct {
	MTime           [2]uint32 // seconds, nanoseconds
	Ino, Mode, Size uint32    // the low halves of the kernel's numbers
}

var errIndex = errors.New("this index cannot be read")

// ReadIndex calls each for every name of an index of version 2, 3 or 4, whose object names have hashSize bytes. Shared
// names the file beside it, as sharedindex.NAME, that has the rest of a split index; it is empty for others. A name
// may come more than once.
func ReadIndex(data []byte, hashSize int, each func(name string, e IndexEntry)) (shared string, err error) {
	if len(data) < 12+hashSize || string(data[:4]) != "DIRC" {
		return "", errIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	body := data[:len(data)-hashSize]
	if version < 2 || version > 4 {
		return "", errIndex
	}
	var name []byte
	at := 12
	for range count {
		start := at
		if at += 42 + hashSize; at > len(body) {
			return "", errIndex
		}
		word := func(i int) uint32 { return binary.BigEndian.Uint32(body[start+4*i:]) }
		if body[start+40+hashSize]&0x40 != 0 { // further flags
			at += 2
		}
		strip := len(name)
		if version == 4 {
			n, used := offset(body[min(at, len(body)):])
			if used == 0 || n > len(name) {
				return "", errIndex
			}
			strip, at = n, at+used
		}
		end := bytes.IndexByte(body[min(at, len(body)):], 0)
		if end < 0 {
			return "", errIndex
		}
		name = append(name[:len(name)-strip], body[at:at+end]...)
		if at += end + 1; version < 4 {
			at = start + (at-start+7)/8*8
		}
		if len(name) > 0 { // otherwise the shared index has it
			each(string(name), IndexEntry{[2]uint32{word(2), word(3)}, word(5), word(6), word(9)})
		}
	}
	return sharedIndex(body, at, hashSize)
}

// sharedIndex finds the extension that says where the rest of a split index is.
func sharedIndex(body []byte, at, hashSize int) (string, error) {
	for at+8 <= len(body) {
		size := int(binary.BigEndian.Uint32(body[at+4:]))
		if size > len(body)-at-8 {
			return "", errIndex
		}
		if string(body[at:at+4]) == "link" && size >= hashSize {
			return hex.EncodeToString(body[at+8 : at+8+hashSize]), nil
		}
		at += 8 + size
	}
	if at != len(body) {
		return "", errIndex
	}
	return "", nil
}

// offset reads a number as git's packs write offsets; used is 0 if there is none.
func offset(b []byte) (n, used int) {
	for i, c := range b[:min(len(b), 5)] {
		if i > 0 {
			n++
		}
		if n = n<<7 | int(c&0x7f); c&0x80 == 0 {
			return n, i + 1
		}
	}
	return 0, 0
}
