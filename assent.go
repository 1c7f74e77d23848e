// Package assent puts a person's consent between an agent and what its tools would do.
//
// [Open] gives a program what the assent program itself works with: the tools of a policy file
// over the folders that it names, a shell that the operating system's sandbox holds, a store that
// keeps rules, grants, questions and the audit log, and a gate in front of all of it.
//
//	a, err := assent.Open(ctx, assent.Options{Policy: "policy.yaml", Approver: terminal.New()})
//	if err != nil {
//		return err
//	}
//	defer a.Close()
//	result := a.Call(ctx, policy.Call{ID: "1", Tool: "shell", Arguments: args})
//
// A program adds tools of its own with [Options.Tools]; package tool says how they are written.
// What the model is told about the tools is in [Agent.Specs].
//
// # Asking now, or later
//
// [Agent.Call] and [Agent.Calls] wait for the approver. A program that cannot wait reviews the
// calls of a turn, saves the batch and ends; later, perhaps in another process, it restores the
// batch, which has the answers by then, and finishes it:
//
//	batch := a.Review(ctx, calls...)        // never waits
//	saved, err := json.Marshal(batch)       // with Options.KeepSession the program may end here
//
//	batch, err := a.Restore(ctx, saved)     // opened with Options.Session
//	err = batch.Resolve(ctx, batch.Pending()[0].Approve("go ahead"))
//	results, err := a.Finish(ctx, batch)
//
// # The program as its own helper
//
// What runs inside the sandbox is this very program, started once more: importing this package is
// enough for that. So a command line that begins with the word assent-inner belongs to it.
package assent

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/selfexec"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/terminal"
	"github.com/assent-dev/assent/tool"
)

func init() { selfexec.Main() }

// Options say what to open. The zero Options are what holds in the current folder, with nobody
// to ask.
type Options struct {
	// Policy is the policy file, which the program trusts. Empty means what assent itself would
	// find: the project's policy as far as the user trusts it, the user's own, and the careful
	// default. The administrator's word holds in any case.
	Policy string
	// Dir is the folder that calls come from; empty means the current one.
	Dir string
	// State is the folder with store, audit log and undo; empty means the user's own, where
	// assent inbox, rules and audit look.
	State string
	// Approver is asked what nothing remembered answers, such as terminal.New(). Nil means that
	// nobody is: Call refuses what would be asked, and Review leaves it waiting.
	Approver approval.Approver
	// Inbox also posts questions in the store, for assent inbox and assent approve. The first
	// answer counts. On a machine of a team it is needed for what the people of the team decide
	// about: the process assent bridge, which such a program does not start, takes them from there.
	Inbox bool
	// Mode says who answers what nothing remembered does; nil means what the config says.
	Mode *policy.Mode
	// Tools are the program's own. The policy file has a word on them by name.
	Tools []tool.Tool
	// Session goes on with a session that was kept; empty begins one.
	Session string
	// KeepSession leaves the session alive when the agent is closed, so that a saved batch and
	// its grants can be gone on with.
	KeepSession bool
}

// An Agent is what the calls of an agent go through. It is safe for concurrent use. Close it when
// the last call has ended.
type Agent struct {
	// Gate reviews, restores and asks: see [approval.Gate].
	*tool.Gate
	base    *open.Base
	box     *toolbox.Box
	servers *open.Connections
}

// Open opens what the options say. If the policy requires a sandbox and there is none, it is an
// error, and nothing is made.
func Open(ctx context.Context, o Options) (a *Agent, err error) {
	s, err := o.setup(ctx)
	if err != nil {
		return nil, err
	}
	a = &Agent{}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
			a = nil
		}
	}()
	a.base, err = open.Open(ctx, s, open.Order{
		Use: open.Run, Mode: o.Mode, Steps: o.Approver != nil, Session: o.Session, Kept: o.KeepSession,
	})
	if err != nil {
		return a, err
	}
	if a.box, err = a.base.Box(s.Configuration, open.Tools{Further: o.Tools}); err != nil {
		return a, err
	}
	cfg := a.base.Gate(s.InForce())
	cfg.Approver, cfg.Recorder = o.approver(a.base.Store), a.base.Store
	if a.servers, err = a.base.Connect(ctx, s.Connectors, open.Servers{Gate: cfg}); err != nil {
		return a, err
	}
	foreign, _, err := tool.Configure(s.Tools, a.servers.Tools(s.Connectors)...)
	if err != nil {
		return a, err
	}
	if a.Gate, err = tool.Guard(cfg, append(a.box.Tools, foreign...)...); err != nil {
		return a, err
	}
	if asks, ok := o.Approver.(interface{ Use(terminal.Coverer) }); ok {
		asks.Use(a.Gate) // so that a prompt can say what else a lasting answer settles
	}
	return a, nil
}

// setup finds out what holds.
func (o Options) setup(ctx context.Context) (*setup.Setup, error) {
	places, err := setup.Here(o.State)
	if err != nil {
		return nil, err
	}
	if o.Dir == "" {
		o.Dir = "."
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	return setup.Resolve(ctx, setup.Order{Places: places, Dir: o.Dir, File: o.Policy, Default: o.Policy == "", Careful: true})
}

func (o Options) approver(s *store.Store) approval.Approver {
	switch {
	case o.Inbox && o.Approver != nil:
		return approval.First(o.Approver, approval.Queue(s))
	case o.Inbox:
		return approval.Queue(s)
	}
	return o.Approver
}

// Profile derives what commands may reach under a policy. It opens and makes nothing.
func Profile(ctx context.Context, o Options) (p sandbox.Profile, err error) {
	s, err := o.setup(ctx)
	if err != nil {
		return p, err
	}
	base, err := open.Open(ctx, s, open.Order{Use: open.Look, Held: true})
	if err != nil {
		return p, err
	}
	found, err := base.CommandProfile(false)
	return found.Profile, errors.Join(err, base.Close())
}

// own makes calls those of the agent's session, whatever they say: in what a model wrote, another one
// would leave behind what was denied for this session, or have what was granted to others.
func (a *Agent) own(calls []policy.Call) []policy.Call {
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].Session = a.Session()
	}
	return calls
}

// Call takes one call through the gate and, if it is allowed, runs it. It waits for the approver. Whatever
// the call says, it is one of the agent's session.
func (a *Agent) Call(ctx context.Context, call policy.Call) tool.Result {
	return a.Calls(ctx, call)[0]
}

// Calls takes the calls of one turn of the model through the gate and runs what is allowed, in
// order, after all are answered.
func (a *Agent) Calls(ctx context.Context, calls ...policy.Call) []tool.Result {
	return tool.Calls(ctx, a.Gate, a.own(calls)...)
}

// Review settles what can be settled without a person, and leaves the rest pending: see
// [approval.Gate.Review].
func (a *Agent) Review(ctx context.Context, calls ...policy.Call) *approval.Batch {
	return a.Gate.Review(ctx, a.own(calls)...)
}

// Finish runs what is allowed of a batch that was reviewed and answered: see [tool.Finish].
func (a *Agent) Finish(ctx context.Context, b *approval.Batch) ([]tool.Result, error) {
	return tool.Finish(ctx, a.Gate, b)
}

// Store is where rules, grants, questions and the audit log are kept.
func (a *Agent) Store() *store.Store { return a.base.Store }

// Sandbox says in a few words what holds the tools: the name of a sandbox, or none and why.
func (a *Agent) Sandbox() string { return a.base.Sandbox.Words() }

// Warnings are what to know about the policy, and why a connector's server was not reached.
func (a *Agent) Warnings() []string {
	out := slices.Clone(a.box.Warnings) // it is safe for concurrent use
	for _, c := range a.servers.All {
		if err := c.Err(); err != nil {
			out = append(out, err.Error())
		}
	}
	return out
}

// Close ends the servers and the session, unless it is kept, and gives everything back.
func (a *Agent) Close() error {
	var errs []error
	if a.Gate != nil {
		a.Gate.Close()
	}
	if a.servers != nil {
		errs = append(errs, a.servers.Close())
	}
	if a.box != nil {
		errs = append(errs, a.box.Close())
	}
	if a.base != nil {
		errs = append(errs, a.base.Close())
	}
	return errors.Join(errs...)
}
