package shell

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/wire"
)

//go:embed shell.md
var words string

// Options are what the tool works with. World and Run are needed.
type Options struct {
	// World returns what a command in the folder would find on this machine.
	World func(dir string) analysis.World
	// Run runs a command. Nil makes a tool that only says what would happen.
	Run Runner
	// Denied reports whether an act is denied by something that the tool does
	// not know, such as a rule. It is asked about files that a command names
	// many at once. May be nil.
	Denied func(ctx context.Context, act policy.Act) bool
	// Sandbox is what holds the commands that Run runs; nil if nothing does.
	Sandbox Sandbox
	// Steps are the ways out of it that a person may be asked for; nil if there
	// are none.
	Steps Steps
	// Unsupported names the construct of a text that our shell cannot interpret, so that
	// bash has to run it; empty if there is none. Nil means that others run the commands,
	// which nothing judges while they run.
	Unsupported func(text string) string
	// Read reads a command; nil is [analysis.Read]. It is for those who want to see what
	// the judgement of a running command holds alone.
	Read func(text, dir string, world analysis.World) (*analysis.Script, error)
	// Undo keeps what commands change. May be nil.
	Undo Undo
	// Timeout ends commands that name none; 0 means two minutes. MaxTimeout is
	// the longest that a call may ask for; 0 means an hour.
	Timeout, MaxTimeout time.Duration
	// hold is how long a connection waits for an answer; 0 is [hosts.DefaultHold].
	hold time.Duration
}

// A Runner runs one command that was approved.
type Runner func(context.Context, Command) (Result, error)

// A Command is what was judged: a text, where it runs, and what the judgement allows it while it
// does. Whoever runs it makes a [sandbox.Command] of it: the program that is started to interpret
// the text, and the profile that holds that.
type Command struct {
	Text string // in canonical form
	// Judge decides about each thing that the text does as it runs.
	Judge Judge
	// Connect decides about each connection that the command makes on a stage; nil lets it go
	// on. It calls pause while a person is asked. A refused connection does not end the command.
	Connect func(ctx context.Context, c hosts.Connection, pause func() (resume func())) error
	// Ask are the builtins that Judge wants to see.
	Ask []string
	// Bash says that bash itself runs the text, and Judge is not asked.
	Bash    bool
	Dir     string // a host path
	Timeout time.Duration
	// HardenGit says that git is to run no program that a repository names.
	HardenGit bool
	// Keep asks for the whole output in a file.
	Keep bool
	// Sandboxed says that it runs without a question only because it is sandboxed.
	Sandboxed bool
	// Hide says that the sandbox is to hide secrets: nobody was asked about it.
	Hide bool
	// Wall is what it was judged to do, for the kernel to hold it to.
	Wall Wall
	// Stay says that programs which it leaves in the background may go on: somebody allowed the
	// command, or undo covers what they then do.
	Stay bool
	// EndOthers ends first what earlier commands left in the background.
	EndOthers bool
	// Step is the way out of the sandbox that a person chose; empty for none.
	Step string
	// Named are the files that it is known to touch, GitWrites whether it changes
	// a repository, Connects whether it talks to hosts: what a failure may be
	// explained by.
	Named     []NamedFile
	GitWrites bool
	Connects  bool
	// GitMixed says that something else runs besides git of which not every effect is known.
	GitMixed bool
}

// A Judge decides about an act of a command that runs. It may take its time; while it waits for a
// person it calls pause, and the command's time limit stands still until it resumes. Several acts
// may be judged at a time.
type Judge func(ctx context.Context, act wire.Act, pause func() (resume func())) wire.Answer

// A NamedFile is a file that a command is known to touch.
type NamedFile struct {
	Path  string
	Write bool
}

// A Result is how a command ended; the model is given it as JSON.
type Result struct {
	Stdout          string `json:"stdout"`
	Stderr          string `json:"stderr"`
	ExitCode        int    `json:"exit_code"`
	StdoutTruncated bool   `json:"stdout_truncated,omitempty"`
	StderrTruncated bool   `json:"stderr_truncated,omitempty"`
	TimedOut        bool   `json:"timed_out,omitempty"`
	// Stopped is why the command was ended before its end.
	Stopped string `json:"stopped,omitempty"`
	// Ran are the programs that had been started by then.
	Ran []string `json:"ran,omitempty"`
	// Output is the file with the whole output, if it was asked for.
	Output string `json:"output_file,omitempty"`
	// Note says what the output does not: why it ended, what would help.
	Note string `json:"note,omitempty"`
	// Dir is the folder that it was in at its end; empty if that is not known.
	Dir string `json:"-"`
	// Gone is closed when what it left in the background has ended, and End ends that; both are
	// nil if it left nothing.
	Gone <-chan struct{} `json:"-"`
	End  func()          `json:"-"`
}

// A Tool is the shell tool. Make one with [New].
type Tool struct {
	cfg   Config
	rules []rule
	roots *roots.Set
	cwd   roots.Place
	opts  Options
	spec  func() tool.Spec // made when it is asked for: a hook never does
	late  *lateAnswers
	// background is what is kept of what programs in the background change.
	background *sync.WaitGroup
	// exposed says that a folder in which programs are looked for can be
	// written by tools.
	exposed bool
}

type arguments struct {
	Command string  `json:"command" jsonschema:"the command, for bash"`
	Timeout float64 `json:"timeout,omitempty" jsonschema:"seconds after which it is ended; default 120"`
	Cwd     string  `json:"cwd,omitempty" jsonschema:"the folder to run in, as ROOT/PATH; default is the working folder"`
	Keep    bool    `json:"keep_output,omitempty" jsonschema:"keep the whole output in a file and return its name"`
	End     bool    `json:"end_background,omitempty" jsonschema:"first end what earlier commands left running in the background"`
}

// New returns the tool for the roots.
func New(cfg Config, set *roots.Set, opts Options) (*Tool, error) {
	rules, err := cfg.compile()
	if err != nil {
		return nil, err
	}
	if opts.World == nil {
		return nil, errors.New("shell: Options.World is needed")
	}
	if opts.Read == nil {
		opts.Read = analysis.Read
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 2 * time.Minute
	}
	if opts.MaxTimeout <= 0 {
		opts.MaxTimeout = time.Hour
	}
	t := &Tool{cfg: cfg, rules: rules, roots: set, opts: opts, late: &lateAnswers{}, background: &sync.WaitGroup{}}
	if t.cwd, err = home(cfg.Cwd, set); err != nil {
		return nil, &tool.ConfigError{Source: cfg.Source, Err: err}
	}
	searched, _ := opts.World(t.cwd.Key()).Variable("PATH")
	t.exposed = withinReach(set, searched)
	t.spec = sync.OnceValue(t.makeSpec)
	return t, nil
}

func (t *Tool) makeSpec() tool.Spec {
	if t.opts.Steps != nil {
		return tool.Func("shell", t.describe(), func(context.Context, escalating) (any, error) { return nil, nil }).Spec()
	}
	return tool.Func("shell", t.describe(), func(context.Context, arguments) (any, error) { return nil, nil }).Spec()
}

// home finds the folder that commands run in.
func home(name string, set *roots.Set) (roots.Place, error) {
	if name == "" {
		folders := set.Folders()
		switch {
		case slices.Contains(set.Names(), "."):
			name = "."
		case len(folders) == 1:
			name = folders[0]
		case len(folders) == 0:
			return roots.Place{}, errors.New("the shell has no folder to run commands in; add one under sandbox.paths")
		default:
			return roots.Place{}, fmt.Errorf("shell.cwd is missing: there are several folders (%s), "+
				"and none is named %q; set shell.cwd to one of them",
				strings.Join(folders, ", "), ".")
		}
	}
	p, err := set.Resolve(name)
	switch {
	case err != nil:
		return p, fmt.Errorf("shell.cwd: %w", err)
	case p.Info == nil || !p.Info.IsDir():
		return p, fmt.Errorf("shell.cwd: %s is not a folder", name)
	}
	return p, nil
}

// describe tells the model which folders there are: commands see host paths.
func (t *Tool) describe() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(words))
	b.WriteString("\n\nFolders:")
	for _, r := range t.roots.Roots() {
		mode := r.Mode
		if mode == "" {
			mode = roots.ModeReadOnly
		}
		fmt.Fprintf(&b, "\n- %s is %s (%s)", r.Name, r.Host, mode)
	}
	fmt.Fprintf(&b, "\nCommands run in %s.", t.cwd.Name())
	return b.String()
}

// Spec implements [tool.Tool].
func (t *Tool) Spec() tool.Spec { return t.spec() }

// Prepare implements [tool.Tool].
func (t *Tool) Prepare(ctx context.Context, args json.RawMessage) (tool.Action, error) {
	if u := unforeseenIn(ctx); u != nil {
		return u.action(ctx, t)
	}
	var in escalating
	if err := json.Unmarshal(args, &in); err != nil {
		return tool.Action{}, &tool.ArgumentError{Tool: "shell", Err: err}
	}
	timeout, err := t.timeout(in.Timeout)
	if err != nil {
		return tool.Action{}, err
	}
	dir, err := t.folder(in.Cwd)
	var refusal *roots.Refusal
	if errors.As(err, &refusal) {
		return tool.Block(refusal.Why), nil
	}
	if err != nil {
		return tool.Action{}, err
	}
	world := t.opts.World(dir.Key())
	script, err := t.opts.Read(in.Command, dir.Key(), world)
	if err != nil {
		return tool.Action{}, &tool.ArgumentError{Tool: "shell", Field: "command", Err: err}
	}
	inquiry := inquiry{ctx: ctx, script: script, world: world, dir: dir, timeout: timeout, keep: in.Keep,
		endOthers: in.End}
	if t.opts.Unsupported != nil {
		if construct := t.opts.Unsupported(script.Text.String()); construct != "" {
			if !script.Text.Printed() {
				err := fmt.Errorf("%s is for bash, and this text may mean something else to it; write it more plainly", construct)
				return tool.Action{}, &tool.ArgumentError{Tool: "shell", Field: "command", Err: err}
			}
			inquiry.bash = true
			script.Parts = append(script.Parts, analysis.Part{
				Kind: analysis.Unknown, Line: 1, Source: script.Text.String(), Opaque: true,
				Why: construct + " is for bash, which reads the command once more: what it then does is not judged as it runs",
			})
		}
	}
	a, err := t.action(t.judge(inquiry), inquiry)
	if err != nil || !in.Escalate {
		return a.Action, err
	}
	return t.escalate(a)
}

func (t *Tool) timeout(seconds float64) (time.Duration, error) {
	switch most := t.opts.MaxTimeout; {
	case seconds == 0:
		return t.opts.Timeout, nil
	case seconds < 0 || seconds > most.Seconds():
		err := fmt.Errorf("use a number between 0 and %.0f seconds", most.Seconds())
		return 0, &tool.ArgumentError{Tool: "shell", Field: "timeout", Err: err}
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// folder finds the folder that a call names, or the usual one.
func (t *Tool) folder(name string) (roots.Place, error) {
	if name == "" {
		return home(t.cfg.Cwd, t.roots)
	}
	p, err := t.roots.Resolve(name)
	if err == nil && (p.Info == nil || !p.Info.IsDir()) {
		err = &tool.ArgumentError{Tool: "shell", Field: "cwd", Err: fmt.Errorf("%s is not a folder", p.Name())}
	}
	return p, err
}

// action is what the judged script would do.
func (t *Tool) action(j *judging, in inquiry) (judged, error) {
	if len(j.acts) == 0 {
		return judged{}, &tool.ArgumentError{Tool: "shell", Field: "command", Err: errors.New("there is nothing to run")}
	}
	cmd := in.command()
	cmd.HardenGit, cmd.Hide = j.freeGit(), j.sandboxed || j.byPreset && !j.asksForSecrets()
	cmd.Wall = wall(j.script, in.world, in.bash)
	cmd.Sandboxed, cmd.Stay, cmd.EndOthers = j.sandboxed, !j.sandboxed || t.outlives(in.ctx), in.endOthers
	state, err := scriptState(in.ctx, j.script.Files)
	if err != nil {
		return judged{}, err
	}
	j.state = state
	a := tool.Ask(func(ctx context.Context) (any, error) { return t.run(ctx, cmd, j) }).
		On(j.acts...).Titled(j.summary()).ShowingView(view(j.script, in.dir)).
		Seeing(state).In(in.dir.Name(), t.cfg.Env...).Editing("command", ".sh")
	if t.opts.Sandbox != nil {
		a = a.Under(t.opts.Sandbox.Profile(cmd)).HeldTo(func() []string { return t.opts.Sandbox.Describe(cmd) })
	}
	if j.once {
		a = a.OncePerSession()
	}
	if j.away() {
		a = a.NeverAlways()
	}
	return judged{a, j, cmd}, nil
}

// judged is an action and what it was made from.
type judged struct {
	tool.Action
	*judging
	cmd Command
}

// asksForSecrets reports whether the command is known to read a secret: then whoever answers
// knows it.
func (j *judging) asksForSecrets() bool {
	return slices.ContainsFunc(j.acts, func(a policy.Act) bool { return a.Secret })
}

// run runs a command that was judged, and each thing that it does is judged once more.
func (t *Tool) run(ctx context.Context, cmd Command, j *judging) (any, error) {
	if t.opts.Run == nil {
		return nil, errors.New("commands are not run here")
	}
	if strings.Contains(tool.RunningIn(ctx).Basis(), policy.ActProjectCode+"(") && !j.asksForSecrets() {
		cmd.Hide = true // a yes to the project's code is none to its secrets
	}
	now := &running{judging: j, cmd: cmd, late: t.late.take(tool.RunningIn(ctx).Session(), cmd)}
	cmd.Judge, cmd.Ask = now.judge, now.builtins(ctx)
	cmd.Connect = func(inner context.Context, c hosts.Connection, pause func() (resume func())) error {
		return now.connect(tool.RunningIn(ctx).In(inner), c, pause)
	}
	r, err := t.keeping(ctx, j.script, func() (Result, error) {
		// What it runs is looked at once more: keeping files for undo takes time.
		if state, err := scriptState(ctx, j.script.Files); err != nil || state != j.state {
			return Result{}, errors.Join(err, fmt.Errorf("a program or script that the command runs: %w", approval.ErrChanged))
		}
		r, err := t.opts.Run(ctx, cmd)
		if r.Note == "" && r.ExitCode != 0 && refusedBySystem(r.Stderr) {
			r.Note = "folders that can be written: " + t.writable()
		}
		if refused := strings.Join(tool.RunningIn(ctx).Connections().Refused(), "; "); refused != "" {
			r.Note = strings.TrimPrefix(r.Note+"; "+refused, "; ")
		}
		return r, err
	})
	tool.RunningIn(ctx).Started(now.started())
	if err != nil && ctx.Err() != nil {
		return r, err // it was cancelled: what it said until then is kept
	}
	if err != nil {
		return nil, err
	}
	if r.Stopped != "" {
		r.Ran = now.started()
	}
	return r, nil
}

func refusedBySystem(stderr string) bool {
	return strings.Contains(stderr, "Permission denied") || strings.Contains(stderr, "Read-only file system")
}

func (t *Tool) writable() string {
	var names []string
	for _, r := range t.roots.Roots() {
		if r.Mode == roots.ModeReadWrite {
			names = append(names, r.Name+" ("+r.Host+")")
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
