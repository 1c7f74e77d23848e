//go:build teame2e && linux

package e2e

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// The tools: somebody decides about deploy; look is allowed.
const (
	toolDeploy = "deploy"
	toolLook   = "look"
)

// taken is how a gate says that it has a call, and goes on with it after a crash.
const taken = "taken "

// A gateSetup is what a gate process is told when it starts.
type gateSetup struct {
	Name, State, Trust string
	Runs               string        // the file that the tool appends a line to each time it runs
	Saved              string        // where calls that wait are saved, to go on after a crash; empty saves none
	Skew               time.Duration // of its clock
}

// A ran is one line of the file that the tool writes.
type ran struct {
	Call, Request, Tool string
	At                  int64 // nanoseconds
}

// A said is what a gate says about the end of a call.
type said struct {
	Call, Request string
	State         policy.State
	Stage         approval.Stage
	Why           string
}

// A gateProcess is a program with an agent: it reads calls from its input, runs what may run, and says how each ended.
type gateProcess struct {
	gateSetup
	gate  *approval.Gate
	tools *approvaltest.Tools
	mu    sync.Mutex // for the output
}

// gateRole is one gate in a process of its own.
func gateRole(args []string) error {
	g := &gateProcess{tools: approvaltest.NewTools(toolDeploy)}
	if err := json.Unmarshal([]byte(args[0]), &g.gateSetup); err != nil {
		return err
	}
	ctx := context.Background()
	clock := func() time.Time { return time.Now().Add(g.Skew) }
	g.tools.Set(toolLook, approval.Proposal{Acts: []policy.Act{{Name: toolLook, Known: true, Verdict: policy.VerdictFree,
		Target: policy.TextTarget("here")}}})
	s, err := store.Open(ctx, g.State, store.Options{Clock: clock})
	if err != nil {
		return err
	}
	g.gate, err = approval.New(approval.Config{
		Preparer: g.tools, Approver: approval.Queue(s), Requests: s, Rules: s, Grants: s, Recorder: s, Claims: s,
		Team: member.Load(g.State, config.Team{Trust: g.Trust, Name: tenant}, clock), NewID: rand.Text, Session: g.Name, Clock: clock,
	})
	if err != nil {
		return err
	}
	if err := g.resume(ctx); err != nil {
		return err
	}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		tool, id, _ := strings.Cut(in.Text(), " ")
		go func() {
			b := g.gate.Review(ctx, policy.Call{ID: id, Tool: tool, Arguments: json.RawMessage(fmt.Sprintf(`{"n":%q}`, id))})
			if err := g.save(b, id); err != nil {
				g.say(said{Call: id, State: policy.StateDenied, Why: "it cannot be saved: " + err.Error()})
				return
			}
			g.print(taken + id)
			g.run(ctx, b)
		}()
	}
	return nil
}

// resume goes on with the calls that a process before this one left.
func (g *gateProcess) resume(ctx context.Context) error {
	if g.Saved == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(g.Saved, g.Name+".*.json"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		b, err := g.gate.Restore(ctx, data)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		go g.run(ctx, b)
	}
	return err
}

func (g *gateProcess) file(call string) string {
	return filepath.Join(g.Saved, g.Name+"."+call+".json")
}

func (g *gateProcess) save(b *approval.Batch, call string) error {
	if g.Saved == "" {
		return nil
	}
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := os.WriteFile(g.file(call)+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(g.file(call)+".new", g.file(call))
}

// run asks about a call and runs it if it may.
func (g *gateProcess) run(ctx context.Context, b *approval.Batch) {
	err := approval.Again(func() error {
		g.gate.Ask(ctx, b)
		o := b.Outcome(0)
		if !o.Runs() {
			return nil
		}
		p, err := g.tools.Prepare(ctx, o.Call)
		if err != nil {
			return err
		}
		x, err := b.Start(ctx, 0, p)
		if err != nil {
			return err
		}
		if err := appendLine(g.Runs, ran{o.Call.ID, o.Request, o.Call.Tool, time.Now().UnixNano()}); err != nil {
			return x.End(ctx, approval.StageFailed, err)
		}
		return x.End(ctx, approval.StageCompleted, nil)
	})
	o := b.Outcome(0)
	end := said{o.Call.ID, o.Request, o.State, o.Stage, o.Why}
	if err != nil {
		end.Why = strings.TrimPrefix(end.Why+"; "+err.Error(), "; ")
	}
	g.say(end)
	if g.Saved != "" {
		_ = os.Remove(g.file(o.Call.ID)) // if it stays, the call is claimed and does not run again
	}
}

func (g *gateProcess) say(end said) {
	data, err := json.Marshal(end)
	if err != nil {
		panic(err)
	}
	g.print(string(data))
}

func (g *gateProcess) print(line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	fmt.Println(line)
}

// appendLine writes one line at once: lines of several processes do not mix.
func appendLine(file string, line any) error {
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(data, '\n'))
	return err
}
