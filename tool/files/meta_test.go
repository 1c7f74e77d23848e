package files

import (
	"strings"
	"testing"
)

func TestWhoMayReplaceAFile(t *testing.T) {
	me := user{uid: 1000, groups: []int{1000, 27}}
	for name, c := range map[string]struct {
		u    user
		m    meta
		want string
	}{
		"a new file":             {me, meta{}, ""},
		"our own":                {me, meta{known: true, uid: 1000, gid: 1000}, ""},
		"of a group of ours":     {me, meta{known: true, uid: 1000, gid: 27}, ""},
		"of another group":       {me, meta{known: true, uid: 1000, gid: 33}, "gid 33"},
		"of another user":        {me, meta{known: true, uid: 33, gid: 1000}, "uid 33"},
		"of root":                {me, meta{known: true}, "uid 0"},
		"root may keep an owner": {user{}, meta{known: true, uid: 33, gid: 33}, ""},
	} {
		err := c.u.mayReplace(c.m)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACopyIsNeverWider(t *testing.T) {
	got := meta{known: true, mode: 0o4640, uid: 5, gid: 6}.copied()
	if got.mode != 0o640 || got.uid != -1 {
		t.Errorf("%+v", got)
	}
}
