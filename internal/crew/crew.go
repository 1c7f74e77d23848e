package crew

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// MaxDepth is how many workers a chain of callers may have.
const MaxDepth = 5

// A Crew is all workers of one run. All fields but Connect, Watch, Aside
// and Stop are needed.
type Crew struct {
	// Folders are where workers are found by name, in order. Created ones go to the first,
	// the project's.
	Folders []string
	// Configure says what holds for a worker of the crew.
	Configure func(ctx context.Context, f *config.File) (*config.Configuration, error)
	// Tools opens the tools of a worker.
	Tools func(cfg *config.Configuration, t open.Tools) (*toolbox.Box, error)
	// Gate puts a gate in front of the tools of a chain of workers.
	Gate func(chain []string, rules config.Rules, tools []tool.Tool) (*tool.Gate, error)
	// Model opens the model of a worker.
	Model func(ctx context.Context, w *config.Worker) (worker.Talker, error)
	// Connect returns the tools of connectors, which run already. Nil means that none do.
	Connect func(of []config.Connector) []tool.Tool
	// Watch returns who sees what a chain of workers does. May be nil.
	Watch func(chain []string) worker.Watcher
	// Store is where the run is put while it waits for answers. May be nil: then the gates
	// ask, and a worker that is called runs inside the call.
	Store worker.RunStore
	// Dependencies are those of the gates.
	Dependencies *Dependencies
	// Stop ends the whole run. May be nil.
	Stop context.CancelCauseFunc
	// Looking is for a crew that runs nothing: no folder is made.
	Looking bool
	// Limits and StopOnDeny are for every worker of the crew.
	Limits     worker.Limits
	StopOnDeny bool

	mu      sync.Mutex
	created map[string]policy.Digest // files that a person agreed to in this run
}

// Agreed reports whether a person saw exactly this file when it was created in this run.
func (c *Crew) Agreed(f *config.File) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	d, ok := c.created[f.Path]
	return ok && d == policy.DigestOf(f.Data)
}

// Created returns the files that a person agreed to in this run, for a run that goes on in
// another process.
func (c *Crew) Created() map[string]policy.Digest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.created)
}

// Recall takes up what [Crew.Created] returned.
func (c *Crew) Recall(created map[string]policy.Digest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.created = maps.Clone(created)
}

func (c *Crew) agree(path string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.created == nil {
		c.created = map[string]policy.Digest{}
	}
	c.created[path] = policy.DigestOf(data)
}

// A Member is a worker that is ready to run. Close it when it has ended.
type Member struct {
	Worker *config.Worker
	Box    *toolbox.Box
	Gate   *tool.Gate
	// Chain is who called whom, this worker last.
	Chain []string

	crew       *Crew
	rules      config.Rules
	connectors []config.Connector
	caller     *Member
	turn       turnState
	run        *worker.Run // the last one
	inside     *child      // what this member is to its caller, if the run may be put aside
}

// Open opens the worker that a person named.
func (c *Crew) Open(cfg *config.Configuration) (*Member, error) { return c.open(cfg, nil) }

func (c *Crew) open(cfg *config.Configuration, caller *Member) (*Member, error) {
	m := &Member{Worker: cfg.Worker, crew: c, caller: caller, rules: cfg.InForce(), connectors: cfg.Connectors,
		Chain: []string{cfg.Worker.Name}}
	var tools open.Tools
	if caller != nil {
		m.Chain = slices.Concat(caller.Chain, m.Chain)
		tools.Parent = caller.Box
		if err := caller.distinct(cfg.Worker); err != nil {
			return nil, err
		}
		m.connectors = caller.connectorsFor(cfg.Connectors)
		var err error
		if m.rules, err = common(caller.rules, m.rules); err != nil {
			return nil, err
		}
	}
	tools.Rules, tools.Further = m.rules, m.tools()
	if c.Connect != nil {
		tools.Further = append(tools.Further, c.Connect(m.connectors)...)
	}
	var err error
	if m.Box, err = c.Tools(cfg, tools); err != nil {
		return nil, err
	}
	offered := slices.DeleteFunc(slices.Clone(m.Box.Tools), func(t tool.Tool) bool {
		return slices.Contains(cfg.Worker.Manual, t.Spec().FullName())
	})
	if m.Gate, err = c.Gate(m.Chain, m.rules, offered); err != nil {
		return nil, err
	}
	return m, nil
}

// distinct refuses a file that is called like that of a caller: an exception of one would
// lift denies of the other.
func (m *Member) distinct(w *config.Worker) error {
	for c := m; c != nil; c = c.caller {
		if c.Worker.File == w.File {
			return fmt.Errorf("worker %s: its file is called %s, as is that of %s; rename one", w.Name, w.File,
				c.Worker.Name)
		}
	}
	return nil
}

// connectorsFor are those that a worker shares with its caller: the same servers, by the
// same names. It reaches no others.
func (m *Member) connectorsFor(theirs []config.Connector) []config.Connector {
	same := func(a, b config.Connector) bool {
		a.Source = b.Source
		return reflect.DeepEqual(a, b)
	}
	return slices.DeleteFunc(slices.Clone(m.connectors), func(c config.Connector) bool {
		return !slices.ContainsFunc(theirs, func(t config.Connector) bool { return same(c, t) })
	})
}

// Close gives back what the member holds.
func (m *Member) Close() error {
	m.Gate.Close()
	return m.Box.Close()
}

// common are the rules of a worker that was called: what either denies, and what both
// allow. They change when those of either do.
func common(caller, callee config.Rules) (r config.Rules, err error) {
	if r.Set, err = commonOf(caller.Set, callee.Set); err != nil || caller.Now == nil && callee.Now == nil {
		return r, err
	}
	var mu sync.Mutex
	theirs, ours, both := caller.Set, callee.Set, r.Set
	r.Now = func() (*policy.RuleSet, error) {
		t, err := caller.Current()
		if err != nil {
			return nil, err
		}
		o, err := callee.Current()
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		if t == theirs && o == ours {
			return both, nil
		}
		fresh, err := commonOf(t, o)
		if err == nil {
			theirs, ours, both = t, o, fresh
		}
		return fresh, err
	}
	return r, nil
}

func commonOf(caller, callee *policy.RuleSet) (*policy.RuleSet, error) {
	theirs, ours := caller.Rules(), callee.Rules()
	has := func(rules []policy.Rule, r policy.Rule) bool {
		return slices.ContainsFunc(rules, func(o policy.Rule) bool { return o.String() == r.String() })
	}
	var out []policy.Rule
	for _, r := range theirs {
		if r.Effect != policy.EffectAllow || has(ours, r) {
			out = append(out, r)
		}
	}
	for _, r := range ours {
		if r.Effect != policy.EffectAllow && !has(out, r) {
			out = append(out, r)
		}
	}
	return policy.CompileRules(out)
}

// Specs are the tools that the model of the member is shown.
func (m *Member) Specs() []tool.Spec {
	return slices.DeleteFunc(m.Gate.Specs(), func(s tool.Spec) bool { return s.Connector == "" && m.hidden(s.Name) })
}

// hidden reports whether a tool of the gate would be of no use to the model.
func (m *Member) hidden(name string) bool {
	network := m.Box.Policy.Shell.Network
	switch name {
	case policy.ActShareFile:
		return true
	case policy.ActHTTPRequest:
		return !network.On && len(network.Allow) == 0
	case policy.ActWorkerCall, listWorkers:
		return len(m.Worker.AllowWorkers) == 0
	}
	return false
}

// Run returns a run of the member.
func (m *Member) Run(ctx context.Context) (*worker.Run, error) {
	talker, err := m.crew.Model(ctx, m.Worker)
	if err != nil {
		return nil, fmt.Errorf("worker %s: %w", m.Worker.Name, err)
	}
	limits := m.crew.Limits
	if limits.Steps == 0 || m.Worker.MaxSteps > 0 && m.Worker.MaxSteps < limits.Steps {
		limits.Steps = m.Worker.MaxSteps
	}
	m.run = &worker.Run{
		Talker: talker, Gate: m.Gate, Workers: m.Chain, Instructions: m.Worker.Instructions, Tools: m.Specs(),
		Limits: limits, StopOnDeny: m.crew.StopOnDeny, Expand: m.expand, Store: m.store(), Inner: inner{m},
	}
	if m.caller != nil {
		m.run.Before = m.caller.run.Before.Add(m.caller.run.Usage())
	}
	if m.crew.Watch != nil {
		m.run.Watcher = m.crew.Watch(m.Chain)
	}
	return m.run, nil
}

// projectFolder is where created workers go.
func (c *Crew) projectFolder() string { return filepath.Clean(c.Folders[0]) }
