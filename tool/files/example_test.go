package files_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

// File tools in a program of one's own: consent per folder as the roots say, and
// per tool as the config by name says.
func Example() {
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"notes", "cache"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			log.Fatal(err)
		}
	}

	// Per folder: notes ask before a write, the cache does not.
	set, err := roots.New(roots.Options{},
		roots.Root{Name: "notes", Host: filepath.Join(dir, "notes"), Mode: roots.ModeReadWrite},
		roots.Root{Name: "cache", Host: filepath.Join(dir, "cache"), Mode: roots.ModeReadWrite,
			Approval: map[roots.Access]policy.Verdict{roots.AccessWrite: policy.VerdictFree}},
	)
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()

	// Per tool: folders may be made anywhere, nothing is ever deleted.
	tools, _, err := tool.Configure(tool.Config{Tools: []tool.Named{
		{Name: "make_dir", Approval: tool.WordAllow},
		{Name: "delete_file", Approval: tool.WordDeny, Reason: "nothing is deleted here"},
	}}, files.Tools(set, files.Options{})...)
	if err != nil {
		log.Fatal(err)
	}

	person := approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		fmt.Println("asked:", r.Summary)
		return r.Approve(""), nil
	})
	gate, err := tool.Guard(approval.Config{Approver: person}, tools...)
	if err != nil {
		log.Fatal(err)
	}

	for _, call := range []policy.Call{
		{Tool: "write_file", Arguments: json.RawMessage(`{"path": "cache/x.json", "content": "{}"}`)},
		{Tool: "write_file", Arguments: json.RawMessage(`{"path": "notes/a.md", "content": "# Plan\n"}`)},
		{Tool: "edit_file", Arguments: json.RawMessage(`{"path": "notes/a.md", "old_text": "Plan", "new_text": "Plan B"}`)},
		{Tool: "make_dir", Arguments: json.RawMessage(`{"path": "notes/old"}`)},
		{Tool: "delete_file", Arguments: json.RawMessage(`{"path": "notes/a.md"}`)},
		{Tool: "read_file", Arguments: json.RawMessage(`{"path": "../secret"}`)},
	} {
		fmt.Println(tool.Call(context.Background(), gate, call).Text)
	}
	// Output:
	// Done: Create cache/x.json (2 bytes, 1 line).
	// asked: Create notes/a.md (7 bytes, 1 line)
	// Done: Create notes/a.md (7 bytes, 1 line).
	// asked: Edit notes/a.md (+1 −1 lines)
	// Done: Edit notes/a.md (+1 −1 lines).
	// Done: Create folder notes/old.
	// [BLOCKED] delete_file did not run. Policy forbids it and nobody can approve it: nothing is deleted here. Do not retry it; find another way.
	// [BLOCKED] read_file did not run. Policy forbids it and nobody can approve it: "../secret" leads out of every root. Do not retry it; find another way.
}
