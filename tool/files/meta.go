package files

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

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
		return fmt.Errorf("it belongs to a group that you are not in (gid %d), and would not when it is replaced; change its group first", m.gid)
	}
	return nil
}
