package files_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/policy"
)

// What somebody else does to notes/d/a while an approved call runs. Each leaves
// the text unseen, or a link, that nobody was shown.
var meddling = map[string]func(dir, unseen string) error{
	"content": func(dir, unseen string) error {
		return os.WriteFile(dir+"/notes/d/a", []byte(unseen), 0o644)
	},
	"another file": func(dir, unseen string) error {
		if err := os.WriteFile(dir+"/notes/other", []byte(unseen), 0o644); err != nil {
			return err
		}
		return os.Rename(dir+"/notes/other", dir+"/notes/d/a")
	},
	"link": func(dir, _ string) error {
		if err := os.Symlink(dir+"/outside/victim", dir+"/notes/link"); err != nil {
			return err
		}
		return os.Rename(dir+"/notes/link", dir+"/notes/d/a")
	},
	"folder": func(dir, _ string) error {
		if err := os.Rename(dir+"/notes/d", dir+"/notes/old"); err != nil {
			return err
		}
		return os.Symlink(dir+"/outside", dir+"/notes/d")
	},
}

var racingCalls = []policy.Call{
	callOf("write_file", args{"path": "notes/d/a", "content": "written\n"}),
	callOf("edit_file", args{"path": "notes/d/a", "old_text": "shown", "new_text": "edited"}),
	callOf("delete_file", args{"path": "notes/d/a"}),
	callOf("move_file", args{"source": "notes/d/a", "destination": "notes/d/b"}),
}

// Nothing outside the root is touched, and nothing unseen is lost.
func TestRace(t *testing.T) {
	for what, meddle := range meddling {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			for i := range rounds.N(20, 1000) {
				raceOnce(t, racingCalls[i%len(racingCalls)], what, fmt.Sprintf("unseen %d\n", i), meddle)
			}
		})
	}
}

func raceOnce(t *testing.T, call policy.Call, what, unseen string, meddle func(dir, unseen string) error) {
	w := notes(t, map[string]string{"d/a": "shown\n"})
	w.writeHost("outside/victim", "mine\n")
	w.writeHost("outside/a", "mine too\n")
	done := make(chan error, 1)
	w.meanwhile = func() {
		if len(w.asked) > 1 {
			return
		}
		go func() {
			for range rand.IntN(2000) {
				runtime.Gosched()
			}
			done <- meddle(w.dir, unseen)
		}()
	}
	w.answer = func(r *approval.Request) approval.Decision {
		if len(w.asked) == 1 {
			return r.Approve("")
		}
		return r.Deny("")
	}
	result := w.call(call.Tool, decodeArgs(t, call))
	err := <-done
	w.has("outside/victim", "mine\n")
	w.has("outside/a", "mine too\n")
	if names, err := os.ReadDir(w.dir + "/outside"); err != nil || len(names) != 2 {
		t.Errorf("outside there is %v, %v", names, err)
	}
	if err != nil {
		return // what it wanted to change was gone already
	}
	if !w.finds(what, unseen) {
		t.Errorf("%s is lost after %s: %v", what, call.Tool, result.Text)
	}
}

// finds looks for what the other one left, under whatever name.
func (w *world) finds(what, unseen string) (found bool) {
	w.t.Helper()
	must(w.t, filepath.WalkDir(w.dir+"/notes", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(name)
			found = found || (what == "link" || what == "folder") && strings.Contains(target, "/outside")
			return nil
		}
		if d.Type().IsRegular() {
			data, err := os.ReadFile(name)
			found = found || string(data) == unseen
			return err
		}
		return nil
	}))
	return found
}
