package files_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

// A world is real files behind a real gate, and a person who answers.
type world struct {
	t     *testing.T
	dir   string
	set   *roots.Set
	undo  *files.UndoFolder
	gate  *tool.Gate
	asked []*approval.Request
	views []present.View
	// answer is what the person says; nil means yes.
	answer func(*approval.Request) approval.Decision
	// meanwhile runs while the person reads, before the answer.
	meanwhile func()
}

type setup struct {
	tree    map[string]string // content by name below the folder
	roots   []roots.Root      // Host is below the folder
	options files.Options
	rules   []string
	mode    policy.Mode
}

func newWorld(t *testing.T, s setup) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	w := &world{t: t, dir: dir, undo: &files.UndoFolder{Dir: filepath.Join(dir, "undo")}}
	for name, content := range s.tree {
		w.writeHost(name, content)
	}
	for i := range s.roots {
		s.roots[i].Host = filepath.Join(dir, s.roots[i].Host)
		if _, err := os.Stat(s.roots[i].Host); err != nil {
			must(t, os.MkdirAll(s.roots[i].Host, 0o755))
		}
	}
	w.set, err = roots.New(roots.Options{}, s.roots...)
	must(t, err)
	t.Cleanup(func() { w.set.Close() })
	if s.options.Undo == nil {
		s.options.Undo = w.undo
	}
	cfg := approval.Config{Approver: approval.ApproverFunc(w.approve), Mode: s.mode, Policy: approvaltest.Rules(t, s.rules...)}
	w.gate, err = tool.Guard(cfg, files.Tools(w.set, s.options)...)
	must(t, err)
	return w
}

// notes is a world with one writable root.
func notes(t *testing.T, tree map[string]string) *world {
	t.Helper()
	below := map[string]string{}
	for name, content := range tree {
		below["notes/"+name] = content
	}
	return newWorld(t, setup{tree: below, roots: []roots.Root{{Name: "notes", Host: "notes", Mode: roots.ModeReadWrite}}})
}

func (w *world) approve(ctx context.Context, r *approval.Request) (approval.Decision, error) {
	view, err := r.View(ctx)
	if err != nil {
		return approval.Decision{}, err
	}
	if err := view.Validate(); err != nil {
		w.t.Errorf("%s: %v", r.Summary, err)
	}
	w.asked, w.views = append(w.asked, r), append(w.views, view)
	if w.meanwhile != nil {
		w.meanwhile()
	}
	if w.answer != nil {
		return w.answer(r), nil
	}
	return r.Approve(""), nil
}

func no(r *approval.Request) approval.Decision { return r.Deny("") }

type args map[string]any

func callOf(name string, a args) policy.Call {
	raw, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return policy.Call{Tool: name, Arguments: raw}
}

func (w *world) call(name string, a args) tool.Result {
	w.t.Helper()
	r := tool.Call(context.Background(), w.gate, callOf(name, a))
	if strings.Contains(r.Text, w.dir) {
		w.t.Errorf("%s shows a host path: %s", name, r.Text)
	}
	return r
}

// ok calls a tool that must succeed.
func (w *world) ok(name string, a args) tool.Result {
	w.t.Helper()
	r := w.call(name, a)
	if r.Err != nil {
		w.t.Fatalf("%s %v: %v", name, a, r.Err)
	}
	return r
}

// fails calls a tool that must run and fail, without anybody being asked.
func (w *world) fails(name string, a args, want string) {
	w.t.Helper()
	before := len(w.asked)
	r := w.call(name, a)
	if e := (*tool.FailedError)(nil); !errors.As(r.Err, &e) || !strings.Contains(r.Text, want) {
		w.t.Errorf("%s %v: %v, want a failure with %q", name, a, r.Err, want)
	}
	if len(w.asked) != before {
		w.t.Errorf("%s %v: somebody was asked: %s", name, a, w.asked[before].Summary)
	}
}

// blocked calls a tool that policy must refuse, without anybody being asked.
func (w *world) blocked(name string, a args, want string) {
	w.t.Helper()
	before := len(w.asked)
	r := w.call(name, a)
	if !errors.Is(r.Err, approval.ErrBlocked) || !strings.Contains(r.Text, want) {
		w.t.Errorf("%s %v: %v, want it blocked with %q", name, a, r.Err, want)
	}
	if len(w.asked) != before {
		w.t.Errorf("%s %v: somebody was asked", name, a)
	}
}

func (w *world) invalid(name string, a args, want string) {
	w.t.Helper()
	r := w.call(name, a)
	if !errors.Is(r.Err, approval.ErrInvalid) || !strings.Contains(r.Text, want) {
		w.t.Errorf("%s %v: %v, want it invalid with %q", name, a, r.Err, want)
	}
}

func (w *world) writeHost(name, content string) {
	w.t.Helper()
	at := filepath.Join(w.dir, name)
	must(w.t, os.MkdirAll(filepath.Dir(at), 0o755))
	must(w.t, os.WriteFile(at, []byte(content), 0o644))
}

// has checks a file on the host; "-" means that there is none.
func (w *world) has(name, want string) {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	switch {
	case want == "-" && !errors.Is(err, os.ErrNotExist):
		w.t.Errorf("%s is there: %q, %v", name, data, err)
	case want != "-" && (err != nil || string(data) != want):
		w.t.Errorf("%s has %q (%v), want %q", name, data, err, want)
	}
}

// clean checks that nothing was left aside.
func (w *world) clean() {
	w.t.Helper()
	must(w.t, filepath.WalkDir(w.dir, func(name string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(name), ".assent-") {
			w.t.Errorf("%s was left behind", name)
		}
		return err
	}))
}

// lastAsked returns the last request and its view.
func (w *world) lastAsked() (*approval.Request, present.View) {
	w.t.Helper()
	if len(w.asked) == 0 {
		w.t.Fatal("nobody was asked")
	}
	return w.asked[len(w.asked)-1], w.views[len(w.views)-1]
}

func (w *world) wantAsked(n int) {
	w.t.Helper()
	if len(w.asked) != n {
		w.t.Errorf("asked %d times, want %d", len(w.asked), n)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ask(accesses ...roots.Access) map[roots.Access]policy.Verdict {
	return verdicts(policy.VerdictAsk, accesses...)
}

func verdicts(v policy.Verdict, accesses ...roots.Access) map[roots.Access]policy.Verdict {
	out := map[roots.Access]policy.Verdict{}
	for _, a := range accesses {
		out[a] = v
	}
	return out
}

func decodeArgs(t *testing.T, c policy.Call) args {
	t.Helper()
	var a args
	must(t, json.Unmarshal(c.Arguments, &a))
	return a
}

func writeFile(name, content string) error { return os.WriteFile(name, []byte(content), 0o644) }
