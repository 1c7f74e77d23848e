package files_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

// newWorldAt returns a gate for one root named dot at a host path.
func newWorldAt(t testing.TB, host string, rules ...string) *tool.Gate {
	t.Helper()
	set, err := roots.New(roots.Options{}, roots.Root{Name: ".", Host: host, Mode: roots.ModeReadWrite})
	must(t, err)
	t.Cleanup(func() { set.Close() })
	var list []policy.Rule
	for _, text := range rules {
		r, err := policy.ParseRule(text)
		must(t, err)
		list = append(list, r)
	}
	conf, err := policy.CompileRules(list)
	must(t, err)
	gate, err := tool.Guard(approval.Config{Policy: conf}, files.Tools(set, files.Options{})...)
	must(t, err)
	return gate
}

// BenchmarkPrompt is what happens before a person sees the edit of a 1 MB file.
func BenchmarkPrompt(b *testing.B) {
	dir := b.TempDir()
	var text strings.Builder
	for i := 0; text.Len() < 1<<20; i++ {
		fmt.Fprintf(&text, "line %d of the file\n", i)
	}
	must(b, writeFile(dir+"/a.txt", text.String()))
	gate := newWorldAt(b, dir)
	raw, err := json.Marshal(args{"path": "a.txt", "old_text": "line 777 of", "new_text": "LINE 777 of"})
	must(b, err)
	for b.Loop() {
		batch := gate.Review(b.Context(), policy.Call{Tool: "edit_file", Arguments: raw})
		r := batch.Pending()[0]
		if _, err := r.View(b.Context()); err != nil {
			b.Fatal(err)
		}
		must(b, batch.Resolve(b.Context(), r.Deny("")))
	}
}
