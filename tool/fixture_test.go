package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// A fixture is a gate with somebody in front of it, and everything that happens at
// it is kept.
type fixture struct {
	t      testing.TB
	gate   *tool.Gate
	memory *approval.Memory

	mu     sync.Mutex
	asked  []*approval.Request
	events []approval.Event
	ids    int
}

const session = "a session"

// newFixture returns a fixture where every question is answered so; nil means that
// nobody is there.
func newFixture(t testing.TB, answer func(*approval.Request) approval.Decision, tools ...tool.Tool) *fixture {
	t.Helper()
	d := &fixture{t: t, memory: approval.NewMemory(0)}
	cfg := approval.Config{
		Session: session, Rules: d.memory, Grants: d.memory, Recorder: d,
		Clock: func() time.Time { return time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC) },
		NewID: d.newID,
	}
	if answer != nil {
		cfg.Approver = approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
			d.mu.Lock()
			d.asked = append(d.asked, r)
			d.mu.Unlock()
			return answer(r), nil
		})
	}
	gate, err := tool.Guard(cfg, tools...)
	if err != nil {
		t.Fatalf("the gate: %v", err)
	}
	d.gate = gate
	t.Cleanup(gate.Close)
	return d
}

func (d *fixture) newID() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ids++
	return fmt.Sprintf("id-%d", d.ids)
}

func (d *fixture) Record(_ context.Context, e approval.Event) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, e)
	return nil
}

func (d *fixture) call(name, args string) tool.Result {
	return tool.Call(context.Background(), d.gate, callOf(name, args))
}

func callOf(name, args string) policy.Call {
	return policy.Call{Tool: name, Arguments: json.RawMessage(args)}
}

func (d *fixture) allow(rules ...string) {
	d.t.Helper()
	for _, text := range rules {
		rule, err := policy.ParseRule(text)
		if err == nil {
			err = d.memory.AddRules(context.Background(), rule)
		}
		if err != nil {
			d.t.Fatalf("rule %q: %v", text, err)
		}
	}
}

func (d *fixture) wantAsked(n int) {
	d.t.Helper()
	if len(d.asked) != n {
		d.t.Errorf("asked %d times, want %d", len(d.asked), n)
	}
}

// history returns the events as short texts.
func (d *fixture) history() []string {
	var out []string
	for _, e := range d.events {
		out = append(out, fmt.Sprintf("%s %s %s", e.Kind, e.State, e.Stage))
	}
	return out
}

// grants returns what is remembered for the session.
func (d *fixture) grants() []policy.Grant {
	set, err := d.memory.Grants(context.Background(), session)
	if err != nil {
		d.t.Fatalf("grants: %v", err)
	}
	return set.Grants()
}

func no(r *approval.Request) approval.Decision { return r.Deny("") }

// A probe is a tool that keeps what it did. Its parts can be replaced.
type probe struct {
	name    string
	spec    func() tool.Spec
	prepare func(args json.RawMessage, do tool.Do) (tool.Action, error)
	do      func(ctx context.Context, args json.RawMessage) (any, error)

	mu  sync.Mutex
	ran []string
}

// asks returns a probe that asks for every call.
func asks(name string) *probe {
	return &probe{name: name, prepare: func(_ json.RawMessage, do tool.Do) (tool.Action, error) {
		return tool.Ask(do), nil
	}}
}

// frees returns a probe that is free.
func frees(name string) *probe { return &probe{name: name} }

func (p *probe) Spec() tool.Spec {
	if p.spec != nil {
		return p.spec()
	}
	return tool.Spec{Name: p.name}
}

func (p *probe) Prepare(_ context.Context, args json.RawMessage) (tool.Action, error) {
	do := func(ctx context.Context) (any, error) {
		p.mu.Lock()
		p.ran = append(p.ran, string(args))
		p.mu.Unlock()
		if p.do != nil {
			return p.do(ctx, args)
		}
		return "did " + string(args), nil
	}
	if p.prepare != nil {
		return p.prepare(args, do)
	}
	return tool.Free(do), nil
}

func (p *probe) wantRan(t testing.TB, args ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Equal(p.ran, args) {
		t.Errorf("%s ran with %q, want %q", p.name, p.ran, args)
	}
}
