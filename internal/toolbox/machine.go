package toolbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/network"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/bwrap"
	"github.com/assent-dev/assent/sandbox/rpc"
	"github.com/assent-dev/assent/sandbox/stage"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/runner"
	"github.com/assent-dev/assent/tool/shell/runner/shim"
	"github.com/assent-dev/assent/tool/shell/system"
	"github.com/assent-dev/assent/tool/shell/wire"
)

// maxOutput is how much a command may print before it is ended.
const maxOutput = 256 << 20

// unlimited is the time of a command that somebody else ends.
const unlimited = 10 * 365 * 24 * time.Hour

// A machine is where commands run: held by a sandbox, if there is one.
type machine struct {
	shell     []string // interprets commands
	env       runner.Environment
	entries   []string
	folder    string // for the shim and for output that is kept
	hold      Hold
	found     Found
	autoAllow shell.AutoAllow
	later     func() string // which deny came after it was found out; may be nil
	tmp       string        // the folder that is /tmp for all commands; empty gives each its own
	left      escalations
	staying   background
	chains    sync.Map // see [programList]
	without   Layers
	network   hosts.Policy
	dialer    network.Dialer
}

func newMachine(environ, names []string, folder string) *machine {
	env := runner.NewEnvironment(environ, names)
	return &machine{env: env, entries: env.Entries(), folder: folder}
}

// world is what a command in the folder finds.
func (m *machine) world(dir string) analysis.World { return system.New(dir, m.entries) }

// Profile implements [shell.Sandbox].
func (m *machine) Profile(c shell.Command) policy.Digest {
	return policy.Digest(m.profile(c).Hash())
}

// AutoAllow implements [shell.Sandbox].
func (m *machine) AutoAllow() shell.AutoAllow {
	alone := m.autoAllow
	if alone == (shell.AutoAllow{}) && m.later != nil {
		alone.Open = m.later()
	}
	return alone
}

// profile is what a command is held to: what the policy says, without secrets where nobody
// was asked, and with what a person let this command reach.
func (m *machine) profile(c shell.Command) sandbox.Profile {
	w := m.wall(c)
	if len(m.left.granted(c)) > 0 {
		w = sandbox.Wall{Why: "a person let it reach further than it was read to"}
	}
	p := m.behind(m.reach(c), w)
	if w.Why == "" && !c.Connects && !m.without.Wall {
		p.Network = sandbox.Network{} // it was read to talk to nobody
	}
	return p.Sorted()
}

// reach is that without what the command was judged to do.
func (m *machine) reach(c shell.Command) sandbox.Profile {
	p := m.hold.Profile
	switch {
	case m.hold.Proxy:
		p.Network = p.Network.Staged()
	case c.Sandboxed && p.Network.On:
		p.Network = sandbox.Network{Source: "nobody was asked about the command"}
	}
	if c.Hide {
		p = m.found.Hide(p)
	}
	for _, r := range m.left.granted(c) {
		if usable(r) { // it may have gone since
			p, _ = r.Widen(p)
		}
	}
	if c.GitWrites && !c.GitMixed && p.GitSource == "" { // the policy does not say otherwise
		p.GitWrite, p.GitSource = true, "the command writes to the repository"
	}
	return p
}

// Private implements [shell.Sandbox]. Only bubblewrap gives a command folders of its own. Where a
// root or the home folder lies in /tmp, what lies beside it there is taken for a person's.
func (m *machine) Private(path string) bool {
	if m.hold.Runner == nil || m.hold.Runner.Name() != bwrap.Name {
		return false // others show the machine's own /tmp
	}
	for _, top := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		rest, below := strings.CutPrefix(path, top+"/")
		if !below {
			continue
		}
		first, _, _ := strings.Cut(rest, "/")
		near := func(other string) bool {
			return sandbox.Below(filepath.Join(top, first), other) || sandbox.Below(other, path)
		}
		return first != "" && !near(m.world("/").Home()) &&
			!slices.ContainsFunc(m.hold.Profile.Roots, func(r sandbox.Root) bool { return near(r.Path) }) &&
			!slices.ContainsFunc(m.hold.Profile.Sockets, func(e sandbox.Entry) bool { return near(e.Path) })
	}
	return false
}

// run runs a command that was approved.
func (m *machine) run(ctx context.Context, c shell.Command) (shell.Result, error) {
	o := runner.Options{Env: m.env, Call: rand.Text(), Progress: tool.Progress(ctx), MaxOutput: maxOutput,
		Shell: m.shell}
	if s, ok := shell.StreamsOf(ctx); ok {
		o.Stdout, o.Stderr, o.Signals, c.Timeout, o.MaxOutput = s.Stdout, s.Stderr, s.Signals, unlimited, 0
	}
	if c.EndOthers {
		m.staying.end()
	}
	c.Stay = c.Stay && m.staying.room()
	if m.without.Running {
		c.Judge = func(context.Context, wire.Act, func() func()) wire.Answer { return wire.Answer{Verdict: wire.Go} }
	}
	if err := m.confine(ctx, c, &o); err != nil {
		return shell.Result{}, err
	}
	if c.HardenGit {
		if err := m.harden(&c, &o); err != nil {
			return shell.Result{}, fmt.Errorf("git cannot be run without what the repository would make it run: %w", err)
		}
	}
	if c.Keep {
		folder := filepath.Join(m.folder, "output")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return shell.Result{}, fmt.Errorf("the output cannot be kept: %w", err)
		}
		o.File = filepath.Join(folder, o.Call+".txt")
	}
	r, err := runner.Run(m.connecting(ctx, c, &o), c, o)
	if err != nil {
		return shell.Result{}, err
	}
	out := result(r)
	out.Note = note(r, o.Sandbox != nil, o.Stdout != nil)
	if o.Sandbox != nil {
		m.staying.add(r.Running)
		if r.Running != nil {
			out.Gone, out.End = r.Running.Gone(), r.Running.End
		}
		err = errors.Join(m.explain(ctx, c, o.Profile, &out), reportLeft(ctx, r))
	}
	if r.Ending == runner.Cancelled {
		err = errors.Join(context.Cause(ctx), err)
	}
	return out, err
}

// confine puts a command into its sandbox, as far as the person who was asked left it there.
func (m *machine) confine(ctx context.Context, c shell.Command, o *runner.Options) error {
	if !m.hold.held() {
		return nil
	}
	if c.Step != "" {
		step, err := m.left.take(c)
		if err != nil {
			return err
		}
		what := "a person let it leave the sandbox: " + step.Label
		if err := tool.RunningIn(ctx).Report(ctx, approval.EventConfined, what); err != nil {
			return err
		}
		if step.ID == stepOutside {
			return nil
		}
	}
	o.Sandbox, o.Profile, o.Tmp = m.hold.Runner, m.profile(c), m.tmp
	if len(m.shell) > 0 {
		o.Profile = rpc.Visible(o.Profile, m.shell[0])
	}
	o.Env = o.Env.With(o.Profile.Env.Set)
	if flags := o.Env.Get("GOFLAGS"); !strings.Contains(flags, "-buildvcs") && !inRepository(c.Dir) {
		// Where a repository may not be made, a folder of its name stands: go would take it for one.
		o.Env = o.Env.With(map[string]string{"GOFLAGS": strings.TrimSpace(flags + " -buildvcs=false")})
	}
	return nil
}

// connecting has the connections of a command decided about by name, if its profile says so: on a
// stage, or by a proxy.
func (m *machine) connecting(ctx context.Context, c shell.Command, o *runner.Options) context.Context {
	if o.Sandbox == nil || !o.Profile.Network.ByName {
		return ctx
	}
	o.Clock = &runner.Clock{}
	client := network.InCall(ctx, m.network, m.dialer, func(ctx context.Context, to hosts.Connection) error {
		return c.Connect(ctx, to, o.Clock.Pause)
	})
	if m.hold.Proxy && !c.Bash {
		o.Proxy, o.Env = client.Proxy, o.Env.With(stage.ProxyVariables(runner.ProxyAddress))
	}
	return network.WithClient(ctx, client)
}

// harden puts the git that runs nothing else first in PATH, where the command sees it.
func (m *machine) harden(c *shell.Command, o *runner.Options) error {
	dir, err := m.shim(c.Dir)
	if err != nil {
		return err
	}
	o.Env = o.Env.First(dir)
	c.Judge = behindShim(c.Judge, dir, m.world(c.Dir).Program("git"))
	if o.Sandbox == nil {
		return nil
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	o.Profile.Roots = append(slices.Clip(o.Profile.Roots),
		sandbox.Root{Path: dir, Mode: sandbox.ModeReadOnly, Source: "the git that runs nothing else"})
	return nil
}

// behindShim judges the git that runs nothing else as the git that it stands before.
func behindShim(judge shell.Judge, shim, git string) shell.Judge {
	return func(ctx context.Context, act wire.Act, pause func() func()) wire.Answer {
		if act.Kind == wire.Start && filepath.Dir(act.Path) == shim {
			act.Path, act.Real = git, ""
		}
		return judge(ctx, act, pause)
	}
}

// shim returns the folder with the git that runs nothing else.
func (m *machine) shim(dir string) (string, error) {
	bash, err := runner.Bash()
	if err != nil {
		return "", err
	}
	git := m.world(dir).Program("git")
	if git == "" {
		return "", fmt.Errorf("git is not on the PATH")
	}
	return shim.Install(filepath.Join(m.folder, "shim"), bash, git)
}

func result(r runner.Result) shell.Result {
	return shell.Result{
		Stdout: r.Stdout.Text, StdoutTruncated: r.Stdout.Truncated,
		Stderr: r.Stderr.Text, StderrTruncated: r.Stderr.Truncated,
		ExitCode: r.ExitCode, Dir: r.Dir, Stopped: r.Stopped, TimedOut: r.Ending == runner.TimedOut, Output: r.File,
	}
}

// note says what the exit code does not, in lines.
func note(r runner.Result, held, streamed bool) string {
	var lines []string
	if r.Ending != runner.Exited || r.ExitCode > 125 && !streamed { // who reads streams knows the status
		lines = append(lines, r.Problem())
	}
	switch {
	case r.Left != "" && held:
		lines = append(lines, leftHeld(r, streamed))
	case r.Left != "":
		lines = append(lines, "still running: "+r.Left+"; what comes from there is not seen")
	case r.Background:
		lines = append(lines, "a process that it started kept the output open; what it prints since is not seen")
	}
	return strings.Join(lines, "\n")
}

// leftHeld says what became of what a command left in the background of its sandbox.
func leftHeld(r runner.Result, streamed bool) string {
	switch {
	case r.Running != nil && streamed:
		return "still running in the sandbox: " + r.Left + "; it ends with this session"
	case r.Running != nil:
		return "still running in the sandbox: " + r.Left + "; it ends with this session, or with a call that has end_background"
	}
	return "ended with the command: " + r.Left
}

// reportLeft records that for the person.
func reportLeft(ctx context.Context, r runner.Result) error {
	if r.Left == "" {
		return nil
	}
	return tool.RunningIn(ctx).Report(ctx, approval.EventConfined, leftHeld(r, true))
}
