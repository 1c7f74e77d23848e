package files_test

import (
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

// A yes for the folder of a file at the top of the root "." reaches the files of
// other roots and the secrets beside it.
func TestAFolderGrantAtTheTopReachesNeitherOtherRootsNorSecrets(t *testing.T) {
	w := newWorld(t, setup{
		tree: map[string]string{"project/a.md": "a", "project/.env": "KEY=1", "ssh/config": "x"},
		roots: []roots.Root{{Name: ".", Host: "project", Mode: roots.ModeReadWrite},
			{Name: "keys", Host: "ssh", Mode: roots.ModeReadWrite}},
	})
	w.answer = func(r *approval.Request) approval.Decision { return r.Approve("").ForSession(policy.ReachPrefix) }
	w.ok("write_file", args{"path": "a.md", "content": "b"})
	w.ok("write_file", args{"path": "c/d.md", "content": "c"})
	w.wantAsked(1)
	w.answer = no
	w.call("write_file", args{"path": "keys/config", "content": "evil"})
	w.wantAsked(2)
	w.call("write_file", args{"path": ".env", "content": "evil"})
	w.wantAsked(3)
	w.has("ssh/config", "x")
	w.has("project/.env", "KEY=1")
}
