package shell

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// A recorded is an Undo that notes what it is asked for.
type recorded struct {
	before  []Change
	after   int
	fail    error
	onEntry func()
	kept    Kept
}

func (r *recorded) Before(_ context.Context, c Change) (func(context.Context) (Kept, error), error) {
	r.before = append(r.before, c)
	if r.onEntry != nil {
		r.onEntry()
	}
	return func(context.Context) (Kept, error) { r.after++; return r.kept, nil }, r.fail
}

func (r *recorded) Covers(_ context.Context, c Change) string {
	if slices.ContainsFunc(c.Paths, func(name string) bool { return strings.HasSuffix(name, "/far") }) {
		return "it is outside"
	}
	return ""
}

func (r *recorded) Through(context.Context, Change) ([]string, error) { return nil, nil }

// run runs a command as if somebody had said yes.
func (b *bench) run(command string) (Result, error) {
	b.t.Helper()
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		b.t.Fatal(err)
	}
	everybody := approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) { return r.Approve(""), nil })
	g, err := tool.Guard(approval.Config{Mode: policy.ModeAsk, Approver: everybody, Session: "s"}, b.tool)
	if err != nil {
		b.t.Fatal(err)
	}
	defer g.Close()
	r := tool.Call(b.t.Context(), g, policy.Call{ID: "1", Tool: "shell", Arguments: args})
	out, ok := r.Value.(Result)
	if !ok {
		return out, errors.New(r.Text)
	}
	return out, nil
}

// What is known before decides what is kept: nothing, the files that are named, or everything.
func TestWhatIsKept(t *testing.T) {
	b := newBench(t, Config{})
	u := &recorded{}
	b.tool.opts.Undo = u
	file := func(name string) string { return b.dir + "/" + name }
	for command, want := range map[string]*Change{
		"ls":                       nil,
		"cat README.md | wc -l":    nil,
		"echo hi > /dev/null":      nil,
		"rm README.md":             {Paths: []string{file("README.md")}},
		"echo x > new":             {Paths: []string{file("new")}},
		"mv README.md src/":        {Paths: []string{file("README.md"), file("src/README.md")}},
		"rm -rf src":               {Paths: []string{file("src")}},
		"rm src/*.go":              {Paths: []string{file("src/a.go"), file("src/b.go")}},
		"sh run.sh":                {Whole: true},
		"make":                     {Whole: true},
		"rm $(cat list)":           {Whole: true},
		"git commit -m x":          {Whole: true},
		"go test ./...":            {Whole: true},
		"python3 -c 'print(1)'":    {Whole: true},
		"cp README.md copy; ./xyz": {Whole: true},
	} {
		u.before = nil
		if _, err := b.run(command); err != nil {
			t.Errorf("%s: %v", command, err)
			continue
		}
		switch {
		case want == nil && len(u.before) > 0:
			t.Errorf("%s: kept %+v", command, u.before)
		case want != nil && (len(u.before) != 1 || u.before[0].Whole != want.Whole || !slices.Equal(u.before[0].Paths, want.Paths)):
			t.Errorf("%s: kept %+v, want %+v", command, u.before, *want)
		}
	}
	if u.after == 0 {
		t.Error("nobody looked afterwards")
	}
}

func TestUndoNoteAndFailure(t *testing.T) {
	b := newBench(t, Config{})
	u := &recorded{kept: Kept{ID: "abc", Note: "One is too large."}}
	b.tool.opts.Undo = u
	if r, err := b.run("make"); err != nil || r.Note != "Undo id: abc. One is too large." {
		t.Errorf("%+v %v", r, err)
	}
	ran := len(b.ran)
	u.fail = errors.New("disk full")
	if _, err := b.run("make"); err == nil || !strings.Contains(err.Error(), "the command was not run: the files that it may change cannot be saved for undo; make room or set undo: off in the policy: disk full") {
		t.Error(err)
	}
	if len(b.ran) != ran {
		t.Error("it ran")
	}
	b.tool.cfg.UndoOff = "policy.yaml:1"
	if r, err := b.run("make"); err != nil || r.Note != "" {
		t.Errorf("%+v %v", r, err)
	}
}

// A script that is exchanged while files are kept does not run with the answer to the old one.
func TestExchangedWhileKeeping(t *testing.T) {
	b := newBench(t, Config{})
	n := 0
	b.tool.opts.Undo = &recorded{onEntry: func() {
		n++
		if err := os.WriteFile(b.dir+"/run.sh", []byte(strings.Repeat("#", n)), 0o600); err != nil {
			t.Error(err)
		}
	}}
	if _, err := b.run("sh run.sh"); err == nil || len(b.ran) > 0 {
		t.Errorf("it ran: %v %v", b.ran, err)
	}
}

// What undo does not cover is said; what changes nothing needs none.
func TestUncovered(t *testing.T) {
	b := newBench(t, Config{})
	read := func(command string) string {
		script, err := b.tool.opts.Read(command, b.dir, b.tool.opts.World(b.dir))
		if err != nil {
			t.Fatal(err)
		}
		return b.tool.uncovered(t.Context(), script)
	}
	if read("ls") != "" || read("make") == "" {
		t.Error("without undo")
	}
	b.tool.opts.Undo = &recorded{}
	if read("make") != "" || read("rm far") != "it is outside" || read("rm /outside/far") != "" {
		t.Error("with undo")
	}
	b.tool.opts.Undo, b.tool.cfg.UndoOff = nil, "policy.yaml:1"
	if read("make") != "" {
		t.Error("with undo: off")
	}
}
