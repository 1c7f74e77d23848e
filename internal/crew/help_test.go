package crew_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// team is a crew in a folder, whose models say what a test wants and whose person answers
// as a test wants.
type team struct {
	*crew.Crew
	t   *testing.T
	dir string

	mu     sync.Mutex
	models map[string][]worker.Turn
	heard  map[string][]worker.Message // what each model was told
	asked  []string                    // summaries, with who asked
	answer func(*approval.Request) approval.Decision
	log    approvaltest.Recorder
}

// newTeam makes the folder from files by name.
func newTeam(t *testing.T, files map[string]string) *team {
	t.Helper()
	tm := &team{t: t, dir: t.TempDir(), models: map[string][]worker.Turn{}, heard: map[string][]worker.Message{}}
	tm.answer = func(r *approval.Request) approval.Decision { return r.Approve("") }
	for _, name := range slices.Sorted(maps.Keys(files)) {
		tm.put(name, files[name])
	}
	ties := &crew.Dependencies{}
	tm.Crew = &crew.Crew{
		Folders: []string{filepath.Join(tm.dir, "workers")}, Dependencies: ties,
		Tools: func(cfg *config.Configuration, t open.Tools) (*toolbox.Box, error) {
			return toolbox.Open(cfg.Policy, toolbox.Options{
				State: filepath.Join(tm.dir, "state"), Protected: cfg.Files, Environ: os.Environ(), Parent: t.Parent, Further: t.Further,
				Folder: cfg.Worker.Folder, File: cfg.Worker.File,
			})
		},
		Configure: func(_ context.Context, f *config.File) (*config.Configuration, error) { return trusted(f) },
		Gate: func(_ []string, rules config.Rules, tools []tool.Tool) (*tool.Gate, error) {
			return tool.Guard(approval.Config{
				Session: "s", Policy: rules.Set, Fixed: rules.Now, Approver: ties.Approver(approval.ApproverFunc(tm.approve)), Recorder: ties.Recorder(full{&tm.log}),
			}, tools...)
		},
		Model: func(_ context.Context, w *config.Worker) (worker.Talker, error) { return model{tm, w.Name}, nil },
	}
	return tm
}

// trusted is what holds for a worker whose file is trusted, and nothing else.
func trusted(f *config.File) (*config.Configuration, error) {
	e, err := config.Combine(nil, config.Tier{Kind: config.Project, Policy: f.Policy, Trusted: true})
	return &config.Configuration{Effective: e, User: &config.User{}, Worker: f.Worker, Files: []string{f.Path}}, err
}

func (tm *team) put(name, text string) {
	tm.t.Helper()
	path := filepath.Join(tm.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		tm.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tm.t.Fatal(err)
	}
}

func (tm *team) approve(_ context.Context, r *approval.Request) (approval.Decision, error) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	tm.asked = append(tm.asked, strings.Join(r.Call.Workers, ">")+": "+r.Summary)
	return tm.answer(r), nil
}

// model says the turns of a worker.
type model struct {
	*team
	name string
}

func (m model) Talk(_ context.Context, p worker.Prompt, _ worker.Listener) (worker.Turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	round := p.Rounds[len(p.Rounds)-1]
	if len(round.Steps) == 0 {
		m.heard[m.name] = append(m.heard[m.name], round.Message)
	}
	if turns := m.models[m.name]; len(round.Steps) < len(turns) {
		return turns[len(round.Steps)], nil
	}
	return worker.Turn{Text: m.name + " is done."}, nil
}

// full is a recorder that is given everything.
type full struct{ *approvaltest.Recorder }

func (f full) RecordFull(ctx context.Context, e approval.Event) error { return f.Record(ctx, e) }

// call is a call of a model.
func call(id, name string, args any) worker.Call {
	data, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return worker.Call{ID: id, Tool: name, Arguments: data}
}

type args map[string]any

// member opens the worker of a file, which is trusted.
func (tm *team) member(file string) *crew.Member {
	tm.t.Helper()
	f, err := config.Read(filepath.Join(tm.dir, file), config.WorkerFile)
	if err != nil {
		tm.t.Fatal(err)
	}
	cfg, err := trusted(f)
	if err != nil {
		tm.t.Fatal(err)
	}
	m, err := tm.Open(cfg)
	if err != nil {
		tm.t.Fatal(err)
	}
	return m
}

// run runs the worker of a file, with these calls in its first turn, and returns their
// results.
func (tm *team) run(file string, calls ...worker.Call) []worker.Result {
	tm.t.Helper()
	m := tm.member(file)
	defer m.Close()
	tm.models[m.Worker.Name] = []worker.Turn{{Calls: calls}}
	run, err := m.Run(tm.t.Context())
	if err != nil {
		tm.t.Fatal(err)
	}
	round, err := run.Say(tm.t.Context(), worker.Message{Text: "Go on."})
	if err != nil {
		tm.t.Fatal(err)
	}
	return round.Steps[0].Results
}

// wants checks how a call ended and what the model was told.
func wants(t *testing.T, r worker.Result, state policy.State, says ...string) {
	t.Helper()
	if r.Outcome.State != state {
		t.Errorf("%s is %s, want %s: %s", r.ID, r.Outcome.State, state, r.Text)
	}
	for _, s := range says {
		if !strings.Contains(r.Text, s) {
			t.Errorf("%s does not say %q: %s", r.ID, s, r.Text)
		}
	}
}
