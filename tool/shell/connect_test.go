package shell

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/shell/wire"
)

// connecting is a bench with a gate, whose commands make connections instead of running.
type connecting struct {
	*bench
	gate  *tool.Gate
	asked []*approval.Request
	// hosts are those that a command connects to, and errs what came of it.
	hosts []hosts.Connection
	errs  []error
}

func newConnecting(t *testing.T, network hosts.Policy, answer func(*approval.Request) approval.Decision) *connecting {
	t.Helper()
	c := &connecting{bench: newBench(t, Config{Network: network, Default: Default{Approval: tool.WordAllow}})}
	c.tool.opts.Run = func(ctx context.Context, cmd Command) (Result, error) {
		c.ran = append(c.ran, cmd)
		for _, h := range c.hosts {
			c.errs = append(c.errs, cmd.Connect(ctx, h, func() func() { return func() {} }))
		}
		return Result{ExitCode: 0, Note: "a note"}, nil
	}
	cfg := approval.Config{Session: "s"}
	if answer != nil {
		cfg.Approver = approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
			c.asked = append(c.asked, r)
			return answer(r), nil
		})
	}
	var err error
	if c.gate, err = tool.Guard(cfg, c.tool); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.gate.Close)
	return c
}

// run runs a command that connects to hosts, each NAME:PORT.
func (c *connecting) run(command string, to ...string) Result {
	c.t.Helper()
	c.hosts, c.errs = nil, nil
	for _, h := range to {
		name, port, _ := cutLast(h, ":")
		c.hosts = append(c.hosts, hosts.Connection{Host: name, Port: port, Program: "node"})
	}
	args, err := json.Marshal(arguments{Command: command})
	if err != nil {
		c.t.Fatal(err)
	}
	r := tool.Call(context.Background(), c.gate, policy.Call{Tool: "shell", Arguments: args})
	if r.Err != nil {
		c.t.Fatalf("%s: %v", command, r.Err)
	}
	return r.Value.(Result)
}

// A connection that is refused does not end the command; the result names it.
func TestConnectionsOfACommand(t *testing.T) {
	network := hosts.Policy{Allow: []string{"free.example"}, Deny: []string{"bad.example"}, Source: "policy.yaml:3", Staged: true}
	c := newConnecting(t, network, func(r *approval.Request) approval.Decision {
		if strings.Contains(r.Summary, "no.example") {
			return r.Deny("")
		}
		return r.Approve("")
	})
	result := c.run("echo hello", "free.example:443", "bad.example:443", "yes.example:443", "no.example:22", "yes.example:443", "10.0.0.1:80")
	var went []bool
	for _, err := range c.errs {
		went = append(went, err == nil)
	}
	if !slices.Equal(went, []bool{true, false, true, false, true, false}) {
		t.Errorf("%v", c.errs)
	}
	for _, want := range []string{"a note; connection to bad.example:443 refused", "(policy.yaml:3)", "connection to no.example:22 refused", "connection to 10.0.0.1:80 refused"} {
		if !strings.Contains(result.Note, want) {
			t.Errorf("%q does not say %q", result.Note, want)
		}
	}
	if result.Stopped != "" || len(c.asked) != 2 {
		t.Fatalf("stopped %q, asked %d", result.Stopped, len(c.asked))
	}
	r := c.asked[0]
	view, err := r.View(t.Context())
	if err != nil || r.Summary != "Connect to yes.example:443 for: echo hello" {
		t.Errorf("%q %v", r.Summary, err)
	}
	if want := "command:\n  echo hello\nprogram that connects:\n  node\nit was allowed to:\n  shell(echo hello)"; view.Content != want {
		t.Errorf("%q", view.Content)
	}
	if !r.YesOrNo || len(r.Choices) != 0 {
		t.Error("a connection cannot be changed")
	}
}

// What was approved with the command goes on; the command says nothing about other hosts.
func TestConnectionShownBefore(t *testing.T) {
	c := newConnecting(t, hosts.Policy{On: true}, func(r *approval.Request) approval.Decision { return r.Approve("") })
	c.run("curl https://shown.example/x", "shown.example:443")
	if len(c.asked) != 1 || c.errs[0] != nil {
		t.Errorf("asked %d, %v", len(c.asked), c.errs)
	}
	c.run("curl https://shown.example/x", "other.example:443", "shown.example:80")
	if len(c.asked) != 4 {
		t.Errorf("asked %d", len(c.asked))
	}
}

func TestConnectionNobodyAnswers(t *testing.T) {
	held := make(chan struct{})
	c := newConnecting(t, hosts.Policy{On: true}, func(r *approval.Request) approval.Decision { <-held; return r.Approve("") })
	c.tool.opts.hold = time.Nanosecond
	result := c.run("echo hello", "slow.example:443")
	if !strings.Contains(result.Note, "connection to slow.example:443 refused: waiting for an answer") || !strings.Contains(result.Note, "run it again") {
		t.Errorf("%q", result.Note)
	}
	close(held)
}

// On a stage a connection of the shell itself is judged there, and not twice.
func TestOwnConnectionOnAStage(t *testing.T) {
	for _, staged := range []bool{true, false} {
		c := newConnecting(t, hosts.Policy{On: true, Staged: staged}, nil)
		var answer wire.Answer
		c.tool.opts.Run = func(ctx context.Context, cmd Command) (Result, error) {
			answer = cmd.Judge(ctx, wire.Act{Kind: wire.Connect, Path: "a.example:443", Dir: c.dir}, func() func() { return func() {} })
			return Result{}, nil
		}
		c.run("echo hello")
		if (answer.Verdict == wire.Go) != staged {
			t.Errorf("staged %v: %+v", staged, answer)
		}
	}
}
