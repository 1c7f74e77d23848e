package runs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/trust"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
	"github.com/assent-dev/assent/tool"
)

// killedTree is a worker that calls one that calls a third. Each has calls that run freely
// and calls that wait for a person.
var killedTree = map[string]string{
	"lead.worker":           "---\nmodel: script:lead.script\nallow_workers: [middle]\n---\n",
	"workers/middle.worker": "---\nmodel: script:middle.script\nallow_workers: [deep]\n---\n",
	"workers/deep.worker":   "---\nmodel: script:deep.script\n---\n",
	"lead.script":           "turns:\n  - calls: [{id: a, tool: free, args: {n: a}}, {id: b, tool: asked, args: {n: b}}, {id: go, tool: worker_call, args: {worker: middle, input: Go.}}, {id: c, tool: free, args: {n: c}}]\n  - calls: [{id: d, tool: asked, args: {n: d}}]\n  - say: Done.\n",
	"workers/middle.script": "turns:\n  - calls: [{id: down, tool: worker_call, args: {worker: deep, input: Go.}}, {id: e, tool: free, args: {n: e}}]\n  - say: Done.\n",
	"workers/deep.script":   "turns:\n  - calls: [{id: f, tool: free, args: {n: f}}, {id: g, tool: asked, args: {n: g}}]\n  - calls: [{id: h, tool: free, args: {n: h}}]\n  - say: Done.\n",
	"effects.log":           "",
	"told.log":              "",
}

// within says which calls had to be answered before those of another worker could run.
var within = map[string]string{"down": "go", "e": "go", "f": "down", "g": "down", "h": "down"}

// A killer ends a program at one of its boundaries: nothing after it happens.
type killer struct {
	left int
	die  func()
}

// boundary is a point between two steps: of the gate, the store, a tool or the run.
func (k *killer) boundary() {
	if k.left--; k.left == 0 {
		k.die()
	}
}

// killedRecorder has a boundary before and after each record.
type killedRecorder struct {
	approval.DetailRecorder
	*killer
}

func (r killedRecorder) RecordFull(ctx context.Context, e approval.Event) error {
	r.boundary()
	err := r.DetailRecorder.RecordFull(ctx, e)
	r.boundary()
	return err
}

// killedAside has a boundary before and after each save, collection and posting.
type killedAside struct {
	worker.RunStore
	*killer
}

func (a killedAside) Save(ctx context.Context, data []byte) error {
	a.boundary()
	err := a.RunStore.Save(ctx, data)
	a.boundary()
	return err
}

func (a killedAside) Collect(ctx context.Context, b *approval.Batch) error {
	a.boundary()
	err := a.RunStore.Collect(ctx, b)
	a.boundary()
	return err
}

func (a killedAside) Post(ctx context.Context, b *approval.Batch) error {
	a.boundary()
	err := a.RunStore.Post(ctx, b)
	a.boundary()
	return err
}

// appendLine adds a line to a file at once, so that it is there whoever is killed.
func appendLine(file, line string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// effect is a tool whose effect is a line in a file.
func (k *killer) effect(dir, name string) tool.Tool {
	return tool.Func(name, "Does it.", func(_ context.Context, in struct {
		N string `json:"n"`
	}) (string, error) {
		k.boundary()
		err := appendLine(filepath.Join(dir, "effects.log"), in.N)
		k.boundary()
		return "did " + in.N, err
	})
}

// telling is who is told the results.
type telling struct {
	Printer
	dir string
}

func (w telling) Results(results []tool.Result) {
	for _, r := range results {
		if err := appendLine(filepath.Join(w.dir, "told.log"), r.ID+" "+string(r.Stage)); err != nil {
			panic(err)
		}
	}
}

// tree runs or resumes the tree in a folder, until it ends, waits or is killed.
func tree(ctx context.Context, dir string, k *killer) error {
	state := filepath.Join(dir, "state")
	s, err := leadOf(ctx, state, dir)
	if err != nil {
		return err
	}
	run, begun, err := theRun(ctx, s)
	if err != nil {
		return err
	}
	// Without a sandbox: no tool of the story needs one.
	order := open.Order{Use: open.Run, NoTools: true, Session: run.Session, Kept: true}
	d, err := Open(ctx, s, order, 0, nil)
	if err != nil {
		return err
	}
	d.KeepSession = true
	defer d.Close()
	d.shown.next = killedRecorder{d.shown.next, k}
	all := (&Options{}).crew(d, nil)
	all.Watch = func([]string) worker.Watcher { return telling{Printer{out: io.Discard}, dir} }
	all.Gate = func(chain []string, conf config.Rules, tools []tool.Tool) (*tool.Gate, error) {
		return d.Guard(chain, conf, append(tools, k.effect(dir, "free"), tool.NeedsApproval(true, k.effect(dir, "asked"))[0]))
	}
	m, err := all.Open(s.Configuration)
	if err != nil {
		return err
	}
	defer m.Close()
	j := &job{all, m, d, NewView(io.Discard, io.Discard, false, exitStatus)}
	a := &savedRun{job: j, id: "r", saved: Saved{Version: savedVersion, Worker: s.File.Path, Folder: s.Dir, OnDeny: "continue"}}
	all.Store = killedAside{a, k}
	err = j.do(ctx, func(ctx context.Context, r *worker.Run) (worker.Round, error) {
		if !begun {
			return r.Say(ctx, worker.Message{Text: "Go."})
		}
		saved, err := Load(run)
		if err != nil {
			return worker.Round{}, err
		}
		a.version = run.Version
		return r.Resume(ctx, saved.Run)
	})
	return err
}

// leadOf resolves what holds for the first worker, which is trusted.
func leadOf(ctx context.Context, state, dir string) (*setup.Setup, error) {
	order, err := setup.OrderHere("", state)
	if err != nil {
		return nil, err
	}
	order.Dir, order.Worker = dir, filepath.Join(dir, "lead.worker")
	order.Trust = func(context.Context, *config.File) (bool, error) { return true, nil }
	return setup.Resolve(ctx, order)
}

// theRun is the only run that is kept, if one is.
func theRun(ctx context.Context, of *setup.Setup) (run sessions.SavedRun, begun bool, err error) {
	s, err := open.ReadStore(ctx, of.Places, of.Person)
	if errors.Is(err, open.ErrNoStore) {
		return run, false, nil
	}
	if err != nil {
		return run, false, err
	}
	defer s.Close()
	runs, err := s.Runs(ctx)
	if err != nil || len(runs) == 0 {
		return run, false, err
	}
	run, err = s.LoadRun(ctx, runs[0].ID)
	return run, true, err
}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"killed": killedMain})
}

const exitPaused = 5

// exitStatus says how a program ends whose run ended so.
func exitStatus(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.As(err, new(*worker.PausedError)):
		return exitPaused
	}
	return 1
}

// killedMain is the program `killed DIR N`: the tree, that kills itself at boundary N.
func killedMain() {
	k := &killer{die: func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}}
	var err error
	if k.left, err = strconv.Atoi(os.Args[2]); err == nil {
		err = tree(context.Background(), os.Args[1], k)
	}
	if status := exitStatus(err); status != 0 && status != exitPaused {
		fmt.Fprintln(os.Stderr, err)
	}
	fmt.Println(k.left)
	os.Exit(exitStatus(err))
}

// killedInside plays the tree in this process, where dying is the end of a goroutine. It
// returns the boundaries that were left.
func killedInside(t *testing.T, dir string, n int) (left int, err error) {
	t.Helper()
	k := &killer{left: n, die: runtime.Goexit}
	ended := make(chan struct{})
	err = errKilled
	go func() {
		defer close(ended)
		err = tree(t.Context(), dir, k)
	}()
	<-ended
	return k.left, err
}

// killedProcess plays the tree in a process of its own. It ends with a signal, or with the
// status of a run.
func killedProcess(t *testing.T, dir string, n int) (left int, err error) {
	t.Helper()
	c := exec.Command("killed", dir, strconv.Itoa(n))
	c.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	c.Stderr = os.Stderr
	out, err := c.Output()
	left, _ = strconv.Atoi(strings.TrimSpace(string(out)))
	var exit *exec.ExitError
	switch {
	case err == nil:
		return left, nil
	case !errors.As(err, &exit):
		return 0, err
	case exit.ExitCode() == exitPaused:
		return left, &worker.PausedError{}
	case exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		return 0, errKilled
	}
	return 0, err
}

var errKilled = errors.New("killed")

// answerAll says yes to whatever waits.
func answerAll(t *testing.T, state string) {
	t.Helper()
	s, err := store.Open(t.Context(), state, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	waiting, err := s.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range waiting {
		if err := s.Answer(t.Context(), p.Request.Approve("")); err != nil {
			t.Fatal(err)
		}
	}
}

// Wherever the program is killed, once or twice, and resumed: no effect happens twice, no
// call is lost, and one that may have started is reported so.
func TestKilledAndResumedNothingRunsTwice(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	const never = 1 << 20
	left := killTwice(t, killedInside, never, 0)
	boundaries := never - left
	t.Logf("%d boundaries", boundaries)
	once := rounds.N(12, boundaries)
	for i := range once {
		if killTwice(t, killedInside, 1+i*boundaries/once, 0) != 0 {
			t.Errorf("round %d reached no boundary", i)
		}
	}
	for i := range rounds.N(8, 200) {
		killTwice(t, killedInside, 1+(i*13)%boundaries, 1+(i*7)%boundaries)
	}
	// The same with processes and kill -9, at boundaries spread over the story.
	n := rounds.N(5, 200)
	for i := range n {
		killTwice(t, killedProcess, 1+i*boundaries/n, (i*5)%boundaries)
	}
}

// killTwice plays the story with kills at two boundaries, the second counted from the first
// resumption; 0 is none. It returns how far away the last was when the story ended.
func killTwice(t *testing.T, play func(*testing.T, string, int) (int, error), first, second int) (left int) {
	t.Helper()
	dir := trustedTree(t)
	what := fmt.Sprintf("killed at %d and %d", first, second)
	kills := []int{first, second}
	for range 20 {
		n := 0
		if len(kills) > 0 {
			n, kills = kills[0], kills[1:]
		}
		left, err := play(t, dir, n)
		left = max(left, 0)
		var paused *worker.PausedError
		switch {
		case errors.Is(err, errKilled):
		case errors.As(err, &paused):
			if left > 0 { // not reached yet
				kills = append([]int{left}, kills...)
			}
			answerAll(t, filepath.Join(dir, "state"))
		case err != nil:
			t.Fatalf("%s: %v", what, err)
		default:
			checkEffects(t, what, dir)
			return left
		}
	}
	t.Fatalf("%s: it does not end", what)
	return 0
}

// trustedTree makes the folder of a tree whose workers are trusted.
func trustedTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range killedTree {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".worker") {
			trusted(t, filepath.Join(dir, "state", "trust"), path)
		}
	}
	return dir
}

// trusted has a file trusted as it is.
func trusted(t *testing.T, folder, path string) {
	t.Helper()
	f, err := config.Read(path, "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := trust.Of(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := trust.Folder(folder).Put(t.Context(), trust.Record{Path: b.Path, Parts: b.Parts}); err != nil {
		t.Fatal(err)
	}
}

// lines reads a file of ours.
func lines(t *testing.T, file string) (out []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		out = append(out, s.Text())
	}
	return out
}

func checkEffects(t *testing.T, what, dir string) {
	t.Helper()
	done, told := map[string]int{}, map[string]approval.Stage{}
	for _, l := range lines(t, filepath.Join(dir, "effects.log")) {
		done[l]++
	}
	for _, l := range lines(t, filepath.Join(dir, "told.log")) {
		id, stage, _ := strings.Cut(l, " ")
		told[id] = approval.Stage(stage)
	}
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		switch stage := told[id]; {
		case done[id] > 1:
			t.Errorf("%s: %s happened %d times", what, id, done[id])
		case stage == approval.StageCompleted && done[id] != 1:
			t.Errorf("%s: %s is told as completed and happened %d times", what, id, done[id])
		case stage == approval.StageCompleted, stage == approval.StageUnknown:
		case stage == "" && lostWithCaller(told, id):
		default:
			t.Errorf("%s: %s is told as %q, and happened %d times", what, id, stage, done[id])
		}
	}
}

// lostWithCaller reports whether the fate of a call is that of the call it was made in: one
// whose end was not seen.
func lostWithCaller(told map[string]approval.Stage, id string) bool {
	for up := within[id]; up != ""; up = within[up] {
		if told[up] == approval.StageUnknown {
			return true
		}
	}
	return false
}
