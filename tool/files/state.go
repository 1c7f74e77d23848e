package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"slices"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

// A state is what lies under a name: nothing, or the bytes of a file.
type state struct {
	exists bool
	data   []byte
	meta   meta
}

func fileOf(data []byte) state { return state{exists: true, data: data} }

// digest binds an answer to the state. That of nothing is not that of an empty
// file.
func (s state) digest() policy.Digest {
	if !s.exists {
		return policy.DigestOf(nil)
	}
	h := newStateHash()
	h.Write(s.data)
	return policy.Digest(h.Sum(nil))
}

// newStateHash returns the hash of a file, to be given its data.
func newStateHash() hash.Hash {
	h := sha256.New()
	h.Write([]byte("file\n"))
	return h
}

// same reports whether the two show the same.
func (s state) same(o state) bool { return s.exists == o.exists && bytes.Equal(s.data, o.data) }

// binary reports whether the content is no text.
func (s state) binary() bool { return !utf8.Valid(s.data) || bytes.IndexByte(s.data, 0) >= 0 }

// unreadable reports whether the content is shown as bytes. A text with a few
// bytes that are none is shown as text, with those made visible: else one odd
// byte would hide all the rest.
func (s state) unreadable() bool {
	odd := bytes.Count(s.data, []byte{0})
	for rest := s.data; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 {
			odd++
		}
		rest = rest[n:]
	}
	return odd*20 > len(s.data)
}

func (s state) lines() int { return countLines(s.data) }

func countLines(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// look returns what lies at a place: what earlier calls of the turn would leave
// there, else what is on disk. A folder, a device and what is too large are
// errors; that there is nothing is not.
func (t *toolset) look(ctx context.Context, p roots.Place) (state, error) {
	switch e, ok, err := overlayOf(ctx).at(p); {
	case err != nil:
		return state{}, err
	case ok && e.folder:
		return state{}, errIsFolder
	case ok:
		return e.state, nil
	}
	switch {
	case p.Info == nil:
		return state{}, nil
	case p.Info.IsDir():
		return state{}, errIsFolder
	case !p.Info.Mode().IsRegular():
		return state{}, errSpecial
	}
	if err := t.fits(p, p.Info.Size()); err != nil {
		return state{}, err
	}
	s, err := t.ops.load(ctx, p, t.opts.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	if err != nil {
		return state{}, roots.Plain(err)
	}
	return s, t.fits(p, int64(len(s.data)))
}

// fits refuses a file that is too large for its root or for the tools.
func (t *toolset) fits(p roots.Place, size int64) error {
	if err := p.Fits(size); err != nil {
		return err
	}
	if size > t.opts.MaxBytes {
		return tooLarge(p.Name(), size, t.opts.MaxBytes)
	}
	return nil
}

// existing looks at a place where a file must be.
func (t *toolset) existing(ctx context.Context, p roots.Place) (state, error) {
	s, err := t.look(ctx, p)
	if err == nil && !s.exists {
		err = errMissing
	}
	return s, err
}

// vacant looks at a place where nothing may be.
func (t *toolset) vacant(ctx context.Context, p roots.Place) error {
	e, ok, err := overlayOf(ctx).at(p)
	if err == nil && (ok && e.exists() || !ok && p.Info != nil) {
		err = errExists
	}
	return err
}

// meta is what a file keeps when its content is replaced. It is no part of what
// is shown. The zero meta means that of a new file.
type meta struct {
	known    bool
	mode     uint32
	uid, gid int // uid -1 means that of a new file
}

func metaOf(st unix.Stat_t) meta {
	return meta{known: true, mode: uint32(st.Mode) & 0o7777, uid: int(st.Uid), gid: int(st.Gid)}
}

// copied is the meta of a copy: it can be used by nobody who could not use the
// file, and belongs to whoever copies it.
func (m meta) copied() meta {
	return meta{known: m.known, mode: m.mode & 0o777, uid: -1, gid: -1}
}

// remark tells a person what is special about a file that would be changed.
func (m meta) remark() string {
	if m.known && m.mode&0o222 == 0 {
		return ", which is marked read-only"
	}
	return ""
}

// A user is who we are to the file system.
type user struct {
	uid    int
	groups []int
}

func currentUser() user {
	groups, _ := os.Getgroups() // then only our own group is known to be ours
	return user{uid: os.Geteuid(), groups: append(groups, os.Getegid())}
}

// mayReplace reports why a file cannot be replaced as it is: a new file in its
// place would belong to somebody else, who could read it, or to us, so that its
// owner could not.
func (u user) mayReplace(m meta) error {
	switch {
	case !m.known || u.uid == 0:
		return nil
	case m.uid != u.uid:
		return fmt.Errorf("it belongs to another user (uid %d), and would not when it is replaced; ask its owner", m.uid)
	case !slices.Contains(u.groups, m.gid):
		return fmt.Errorf("it belongs to a group that you are not in (gid %d), and would not when it is replaced; "+
			"change its group first", m.gid)
	}
	return nil
}
