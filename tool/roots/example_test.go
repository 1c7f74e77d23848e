package roots_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
)

func Example() {
	dir, err := os.MkdirTemp("", "roots")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"notes", "docs"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			log.Fatal(err)
		}
	}

	set, err := roots.New(roots.Options{},
		roots.Root{
			Name: "notes", Host: filepath.Join(dir, "notes"), Mode: roots.ModeReadWrite, Suffixes: []string{".md"},
			Approval: map[roots.Access]policy.Verdict{roots.AccessDelete: policy.VerdictBlock},
			Reason:   "notes are kept", Source: "policy.yaml:4",
		},
		roots.Root{Name: "docs", Host: filepath.Join(dir, "docs")}, // read-only
	)
	if err != nil {
		log.Fatal(err)
	}
	defer set.Close()

	for _, name := range []string{"notes/a.md", "/notes/../docs/b.md", "notes/c.exe"} {
		place, err := set.Resolve(name)
		if err != nil {
			log.Fatal(err)
		}
		for _, access := range []roots.Access{roots.AccessRead, roots.AccessWrite, roots.AccessDelete} {
			act := place.Act(access)
			fmt.Println(act, act.Verdict)
		}
	}
	_, err = set.Resolve("../etc/passwd")
	fmt.Println(err)
	// Output:
	// read_file(notes/a.md) free
	// write_file(notes/a.md) ask
	// delete_file(notes/a.md) block
	// read_file(docs/b.md) free
	// write_file(docs/b.md) block
	// delete_file(docs/b.md) block
	// read_file(notes/c.exe) block
	// write_file(notes/c.exe) block
	// delete_file(notes/c.exe) block
	// "../etc/passwd" leads out of every root
}
