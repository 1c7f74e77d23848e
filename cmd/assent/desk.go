package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
)

// A desk is everything that a run is asked and recorded with: the gate, its tools, and
// where things are kept.
type desk struct {
	gate   *tool.Gate
	grants *approval.Memory
	rules  *store.RuleFile
	undo   *files.UndoFolder
	box    *toolbox.Box
	events *eventLog
	status *term.Status // nil where it cannot be drawn
	shown  *progress
}

// openDesk wires a policy file to a state folder. The approver is made once there is
// something to show in it; nil means that nobody is asked.
func openDesk(policyFile, state string, flags askFlags, approver func(*desk) approval.Approver) (*desk, error) {
	policy, err := readPolicy(policyFile)
	if err != nil {
		return nil, err
	}
	d := &desk{grants: approval.NewMemory(0), events: &eventLog{}, undo: undoFolder(state, policyFile), status: term.NewStatus(os.Stderr, nil)}
	d.shown = &progress{next: d.events, status: d.status}
	if d.rules, err = store.OpenRules(filepath.Join(state, "rules.json"), 0); err != nil {
		return nil, err
	}
	d.box, err = toolbox.Open(policy, toolbox.Options{
		State: state, Protected: []string{policyFile}, Environ: os.Environ(), Undo: d.undo, Denied: d.denied(policy),
	})
	if err != nil {
		return nil, err
	}
	for _, w := range d.box.Warnings {
		fmt.Fprintln(os.Stderr, "assent: warning:", present.SafeLine(w))
	}
	cfg := approval.Config{Mode: flags.mode(), Rules: d.rules, Grants: d.grants, Policy: policy.Rules, Recorder: d.shown}
	asked := approver(d)
	cfg.Approver = flags.limited(asked)
	if d.gate, err = tool.Guard(cfg, d.box.Tools...); err != nil {
		return nil, errors.Join(err, d.box.Close())
	}
	if t, ok := asked.(*term.Approver); ok {
		t.Use(d.gate.Gate)
	}
	return d, nil
}

// readPolicy reads a policy file. The model is told which line of it decided, and no path of
// this machine, so the file goes by its own name.
func readPolicy(file string) (*config.Policy, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return config.Load(filepath.Base(file), data, filepath.Dir(file))
}

// denied tells lists and searches which files are denied, by a rule or for this session.
func (d *desk) denied(policy *config.Policy) func(context.Context, approval.Act) bool {
	return func(ctx context.Context, act approval.Act) bool {
		session := d.gate.Session()
		rules, rulesErr := d.rules.Rules(ctx)
		grants, grantsErr := d.grants.Grants(ctx, session)
		if rulesErr != nil || grantsErr != nil {
			return true
		}
		call := approval.Call{Tool: act.Name, Session: session}
		p := approval.Policy{Rules: rules, Fixed: policy.Rules, Grants: grants}
		q := approval.Question{Call: &call, Proposal: &approval.Proposal{Acts: []approval.Act{act}}, Now: time.Now()}
		return p.Judge(q).State == approval.AutoDenied
	}
}

// terminal asks the person at the terminal. Stop is told if they end the run there.
func (d *desk) terminal(stop context.CancelCauseFunc) *term.Approver {
	return term.New(term.Config{Grants: d.grants, Who: whoami(), History: d.events.history, Status: d.status, Stop: stop})
}

func whoami() approval.Who {
	var who approval.Who
	if u, err := user.Current(); err == nil {
		who.User = u.Username
	}
	who.Host, _ = os.Hostname()
	return who
}

func (d *desk) close() error {
	d.shown.close()
	d.gate.Close()
	return d.box.Close()
}

// An eventLog keeps the events of a run in memory.
type eventLog struct {
	mu   sync.Mutex
	list []approval.Event
}

// Record implements [approval.Recorder].
func (l *eventLog) Record(_ context.Context, e approval.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, e)
	return nil
}

// history tells how the calls of a session ended. A run has one session.
func (l *eventLog) history(context.Context, string) ([]approval.Event, error) {
	return l.ended(), nil
}

// ended returns how each call ended, in the order in which it did.
func (l *eventLog) ended() []approval.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []approval.Event
	for _, e := range l.list {
		if e.Kind == approval.Ended {
			out = append(out, e)
		}
	}
	return out
}

// inOrder returns how each call of the steps ended, in the model's order: a denial is
// recorded before the calls beside it have run.
func (l *eventLog) inOrder(steps []worker.Step) []approval.Event {
	rest := l.ended()
	var out []approval.Event
	for _, s := range steps {
		for _, r := range s.Results {
			if i := slices.IndexFunc(rest, func(e approval.Event) bool { return e.CallID == r.ID }); i >= 0 {
				out = append(out, rest[i])
				rest = slices.Delete(rest, i, i+1)
			}
		}
	}
	return append(out, rest...)
}
