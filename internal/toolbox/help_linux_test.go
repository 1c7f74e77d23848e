package toolbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/network"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/internal/snapshot"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/bwrap"
	"github.com/assent-dev/assent/sandbox/rpc"
	"github.com/assent-dev/assent/sandbox/stage"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/shell/analysis"
	shellinside "github.com/assent-dev/assent/tool/shell/inside"
)

// The test program is also the processes that run inside and beside the sandbox.
func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{
		"inner": reexec.Exits(func(args []string) int {
			switch args[0] {
			case "shell":
				return shellinside.Main(args[1:], os.Stderr)
			case "stage":
				return stage.Main(args[1:])
			}
			if err := innerMain(args[0]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 125
			}
			return 0
		}),
	})
	os.Exit(m.Run())
}

func innerMain(word string) error {
	switch word {
	case "serve":
		s := rpc.NewServer()
		for name, h := range files.Handlers() {
			s.Handle(name, h)
		}
		return s.Serve(os.Stdin, os.Stdout)
	case "sweep":
		return bwrap.Sweep(os.Stdin)
	}
	return errors.New("unknown word " + word)
}

// A world is a project with a box of tools for it, held by bubblewrap.
type world struct {
	later   string // which deny came after the box was opened
	t       testing.TB
	top     string // the project is below it, and much that it must not reach
	box     *toolbox.Box
	hold    func(*config.Policy) (toolbox.Hold, error)
	read    func(text, dir string, world analysis.World) (*analysis.Script, error)
	without toolbox.Layers
	dialer  network.Dialer
	// requests is where questions are kept; nil for nowhere.
	requests approval.RequestStore
	small    string // the program that interprets commands; empty for this one

	snapshots    *snapshot.Store
	ran, stopped int // commands

	mu     sync.Mutex
	events []approval.Event
}

func newWorld(t testing.TB, conf string, change ...func(*toolbox.Hold)) *world {
	t.Helper()
	// Not below /tmp: that is private inside.
	top, err := os.MkdirTemp("/var/tmp", "assent-box-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(top) })
	w := &world{t: t, top: top, snapshots: &snapshot.Store{Dir: top + "/state/undo", State: top + "/state", Git: "/usr/bin/git"}}
	must(t, os.MkdirAll(top+"/proj", 0o755))
	must(t, os.MkdirAll(top+"/out", 0o755))
	found, problem := bwrap.Find(t.Context(), bwrap.Candidates)
	if problem != nil {
		t.Fatal(problem.Cause)
	}
	runner := bwrap.New(found, reexec.Argv("inner", "sweep"))
	t.Cleanup(func() { must(t, runner.Close()) })
	w.hold = func(p *config.Policy) (toolbox.Hold, error) {
		profile, err := p.Profile(config.Setting{Limits: sandbox.DefaultLimits(), Resolve: filepath.EvalSymlinks, Home: top})
		h := toolbox.Hold{Runner: runner, Profile: profile, Serve: reexec.Argv("inner", "serve"), Steps: true}
		if !profile.Network.Off() {
			h.Stage = reexec.Argv("inner", "stage")
		}
		for _, f := range change {
			f(&h)
		}
		return h, err
	}
	w.box = w.open(conf, nil)
	return w
}

// open opens the box of a policy in which TOP is the folder of the test.
func (w *world) open(conf string, parent *toolbox.Box) *toolbox.Box {
	w.t.Helper()
	p, err := config.Load("policy.yaml", []byte(strings.ReplaceAll(conf, "TOP", w.top)), w.top)
	must(w.t, err)
	interprets := reexec.Argv("inner", "shell")
	if w.small != "" {
		interprets = []string{w.small}
	}
	box, err := toolbox.Open(p, toolbox.Options{
		State: w.top + "/state", Environ: []string{"PATH=/usr/bin:/bin", "HOME=" + w.top + "/home"}, Hold: w.hold, Parent: parent,
		Shell: interprets, Read: w.read, Without: w.without, Later: func() string { return w.later },
		Snapshots: w.snapshots, Dialer: w.dialer,
	})
	must(w.t, err)
	w.t.Cleanup(func() { must(w.t, box.Close()) })
	return box
}

// Record implements [approval.Recorder].
func (w *world) Record(_ context.Context, e approval.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
	return nil
}

// refusals are the events of the sandbox.
func (w *world) refusals() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, e := range w.events {
		if e.Kind == approval.EventConfined {
			out = append(out, e.Why)
		}
	}
	return out
}

// call takes a call through a gate whose person gives this answer; nil is nobody.
func (w *world) call(mode policy.Mode, person approval.Approver, name string, args map[string]any) tool.Result {
	w.t.Helper()
	g, err := tool.Guard(approval.Config{Mode: mode, Approver: person, Recorder: w, Session: "s", Policy: w.box.Policy.Rules, Requests: w.requests}, w.box.Tools...)
	must(w.t, err)
	defer g.Close()
	data, err := json.Marshal(args)
	must(w.t, err)
	return tool.Call(w.t.Context(), g, policy.Call{ID: "1", Tool: name, Arguments: data})
}

// shell runs a command that nobody can be asked about.
func (w *world) shell(command string) tool.Result {
	w.t.Helper()
	return w.call(policy.ModeStrict, nil, "shell", map[string]any{"command": command})
}

// yes is a person who says yes, or makes this choice.
func yes(choice string) approval.Approver {
	return approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		d := r.Approve("")
		d.Choice, d.By = choice, policy.Who{User: "ann", Via: policy.ViaTerminal}
		return d, nil
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) write(name, text string) {
	w.t.Helper()
	must(w.t, os.MkdirAll(filepath.Dir(w.top+"/"+name), 0o755))
	must(w.t, os.WriteFile(w.top+"/"+name, []byte(text), 0o644))
}
