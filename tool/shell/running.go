package shell

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/programs"
	"github.com/assent-dev/assent/tool/shell/wire"
)

// Bounds of what is kept of the programs that a command started.
const (
	maxRan     = 200
	maxRanText = 16 << 10
)

// DefaultHold is how long a command waits for the answer to a question that came up while
// it ran.
const DefaultHold = time.Minute

// A running is a command that runs. Reading predicted what it does; here each program that
// it starts and each file that the shell opens is judged with its real values. What the
// judged call covers goes on: what is free, what rules allow, and what was approved with the
// call. The rest is a question of its own, and a no ends the whole command.
type running struct {
	*judging
	cmd  Command
	late []lateAnswer // acts that a person has approved since, each for once

	mu   sync.Mutex
	ran  []string
	size int
	more int
	over string // why something was refused
}

// judge decides about one act.
func (r *running) judge(ctx context.Context, act wire.Act, pause func() (resume func())) wire.Answer {
	if why := r.ended(); why != "" {
		return wire.Answer{Why: why} // nobody is asked any more
	}
	if act.Kind == wire.Connect && r.cfg.Network.Staged && r.cmd.Step == "" {
		return r.goesOn(act) // the stage asks about it, see connect
	}
	in := r.inquiry(ctx, act)
	if len(in.script.Parts) == 0 {
		return r.goesOn(act)
	}
	u := &unforeseen{running: r, in: in}
	judgement, err := tool.RunningIn(ctx).Look(context.WithValue(ctx, unforeseenKey{}, u), anyCommand)
	switch {
	case err != nil:
		return r.refuse("deciding about it failed: " + err.Error())
	case judgement.State.Runs():
		return r.goesOn(act)
	case judgement.State == policy.StatePending && !judgement.Reserved && r.covers(u.judging, judgement.Open):
		return r.goesOn(act)
	case judgement.State == policy.StatePending && r.answered(act):
		return r.goesOn(act)
	}
	return r.ask(ctx, act, in, pause)
}

// connect decides about a connection. A no does not end the command: the connection is refused,
// and the result names it.
func (r *running) connect(ctx context.Context, c hosts.Connection, pause func() (resume func())) error {
	if why := r.ended(); why != "" {
		return errors.New(why)
	}
	return tool.RunningIn(ctx).Connections().Connect(ctx, tool.Connecting{
		Connection: c, Policy: r.cfg.Network, For: r.cmd.Text, Same: r.cmd.Dir + " " + r.cmd.Text,
		Facts: r.facts, Pause: pause, Hold: r.opts.hold,
	})
}

// facts are what a person has to know who is asked while the command runs.
func (r *running) facts() present.Facts {
	var acts []string
	for _, a := range r.acts {
		acts = append(acts, a.String())
	}
	return present.Facts{present.TextFact("it was allowed to", strings.Join(acts, "\n")),
		present.TextFact("started so far", strings.Join(r.started(), "\n"))}
}

// anyCommand are arguments of a call whose command is known otherwise.
var anyCommand = json.RawMessage(`{"command":":"}`)

// inquiry reads an act.
func (r *running) inquiry(ctx context.Context, act wire.Act) inquiry {
	world := r.opts.World(act.Dir)
	in := inquiry{ctx: ctx, now: true, world: world, dir: r.placeOf(act.Dir), timeout: r.cmd.Timeout,
		plain: !r.cmd.HardenGit}
	switch act.Kind {
	case wire.Start, wire.Builtin:
		_, interpreted := r.interpreted(act)
		in.script = analysis.ReadStart(analysis.Start{
			Argv: r.startWords(act, world), Real: act.Real, Dir: act.Dir,
			Env: assignments(act.Env), Builtin: act.Kind == wire.Builtin,
			Fed: act.Input != wire.Empty, Input: programs.Word{Text: act.Text, Known: act.Input == wire.Document},
			Crossed: act.Crossed, Interpreted: interpreted,
		}, world)
	case wire.Connect:
		host, port, _ := cutLast(act.Path, ":")
		in.script = analysis.ReadUse(analysis.FileUse{Host: host, Port: port, Dir: act.Dir}, world)
	default:
		in.script = &analysis.Script{}
		for _, access := range accessesOf(act) {
			use := analysis.FileUse{Access: access, Path: act.Path, Names: act.Kind == wire.List, Dir: act.Dir}
			one := analysis.ReadUse(use, world)
			if len(in.script.Parts) == 0 {
				in.script.Text = one.Text
			}
			in.script.Parts = append(in.script.Parts, one.Parts...)
			if use.Path = act.Real; act.Real != "" && act.Real != act.Path && len(one.Parts) > 0 {
				// What the shell holds, whatever the name leads to by now.
				in.script.Parts = append(in.script.Parts, analysis.ReadUse(use, world).Parts...)
			}
		}
	}
	return in
}

// accessesOf says what a file is opened for.
func accessesOf(act wire.Act) []programs.Kind {
	switch {
	case act.Reads && act.Writes:
		return []programs.Kind{programs.Read, programs.Write}
	case act.Writes:
		return []programs.Kind{programs.Write}
	}
	return []programs.Kind{programs.Read}
}

func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

// placeOf is the folder that an act happens in.
func (r *running) placeOf(dir string) roots.Place {
	p, _, err := r.roots.ResolveHost(dir)
	if err != nil {
		return r.dirPlace
	}
	return p
}

// startWords are the words of a program that is about to be started. A name that leads to
// another program than it does on the PATH is not what it says: then the path stands for it.
func (r *running) startWords(act wire.Act, world analysis.World) []string {
	argv := slices.Clone(act.Argv)
	for i, word := range argv {
		if n, ok := strings.CutPrefix(word, "/dev/fd/"); ok && len(n) > 1 && strings.Trim(n, "0123456789") == "" {
			argv[i] = "/dev/fd/63" // as the reading calls each <(…), which have two digits
		}
	}
	name := argv[0]
	if act.Kind == wire.Builtin || strings.Contains(name, "/") && join(act.Dir, name) == path.Clean(act.Path) {
		return argv
	}
	if usual := world.Program(name); usual != "" && !strings.Contains(name, "/") {
		real, _ := world.Look(usual)
		if name == "git" && r.cmd.HardenGit && act.Real != "" {
			return append([]string{act.Path}, argv[1:]...) // not the hardened one
		}
		if path.Clean(usual) == path.Clean(act.Path) && (act.Real == "" || act.Real == real) {
			return argv
		}
	}
	return append([]string{act.Path}, argv[1:]...)
}

// assignments are the variables that were changed for a program.
func assignments(env []string) []programs.Assignment {
	var out []programs.Assignment
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		out = append(out, programs.Assignment{Name: name, Value: programs.Literal(value)})
	}
	return out
}

// builtins are those that are judged as they run: kill, which reaches other processes, and
// those that something denies with some words.
func (r *running) builtins(ctx context.Context) []string {
	out := []string{"kill"}
	for _, name := range analysis.Builtins() {
		act := policy.Act{Name: policy.ActShell, Known: true, Verdict: policy.VerdictFree, Target: policy.Target{
			Kind: policy.KindWords, Words: []policy.Word{{Text: name}, {Text: "…", Unknown: true}},
		}}
		r.denied(&act)
		j, err := tool.RunningIn(ctx).Judge(ctx, []policy.Act{act})
		if name != "kill" && (err != nil || !j.State.Runs()) {
			out = append(out, name)
		}
	}
	return out
}

// goesOn notes a program that is started.
func (r *running) goesOn(act wire.Act) wire.Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over != "" {
		return wire.Answer{Why: r.over}
	}
	if act.Kind == wire.Start {
		text := analysis.QuoteWords(act.Argv)
		if len(r.ran) < maxRan && r.size+len(text) <= maxRanText {
			r.ran, r.size = append(r.ran, text), r.size+len(text)
		} else {
			r.more++
		}
		if answer, ok := r.interpreted(act); ok {
			return answer
		}
	}
	return wire.Answer{Verdict: wire.Go}
}

// started lists what was started, and how much more there was.
func (r *running) started() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.Clone(r.ran)
	if r.more > 0 {
		out = append(out, fmt.Sprintf("… and %d more", r.more))
	}
	return out
}

// ended says why the command was ended; empty if it goes on.
func (r *running) ended() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

func (r *running) refuse(why string) wire.Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = cmp.Or(r.over, why) // the first one ended the command
	return wire.Answer{Why: r.over}
}

// interpreted answers the start of a shell with a text that this shell can interpret
// itself: bash -c TEXT, and a shell that is handed a here-document. What the text starts is
// then judged as well.
func (r *running) interpreted(act wire.Act) (wire.Answer, bool) {
	if act.Kind != wire.Start || !analysis.Interprets(path.Base(act.Argv[0])) ||
		!analysis.Interprets(path.Base(act.Real)) {
		return wire.Answer{}, false
	}
	for _, entry := range act.Env {
		if name, _, _ := strings.Cut(entry, "="); name == "BASH_ENV" || name == "ENV" || name == "SHELLOPTS" ||
			name == "BASHOPTS" {
			return wire.Answer{}, false
		}
	}
	answer := wire.Answer{Verdict: wire.Interpret, Name: act.Argv[0]}
	code := false
	args := act.Argv[1:]
	for ; len(args) > 0 && strings.HasPrefix(args[0], "-"); args = args[1:] {
		switch flag := args[0]; {
		case flag == "--":
			args = append([]string{""}, args[1:]...)
		case flag == "--norc" || flag == "--noprofile":
			continue
		case strings.Trim(flag[1:], "ceuxfvo") == "" && len(flag) > 1 && strings.Count(flag, "o") < 2 &&
			(len(args) > 1 || !strings.Contains(flag, "o")):
			code = code || strings.Contains(flag, "c")
			if rest := strings.NewReplacer("c", "", "o", "").Replace(flag); rest != "-" {
				answer.Opts = append(answer.Opts, rest)
			}
			if strings.Contains(flag, "o") { // -euo pipefail
				answer.Opts = append(answer.Opts, "-o", args[1])
				args = args[1:]
			}
			continue
		default:
			return wire.Answer{}, false
		}
		args = args[1:]
		break
	}
	switch {
	case code && len(args) > 0:
		answer.Why, args = args[0], args[1:]
		if len(args) > 0 {
			answer.Name, args = args[0], args[1:]
		}
		answer.Params = args
	case !code && len(args) == 0 && act.Input == wire.Document:
		answer.Why = act.Text
	default:
		return wire.Answer{}, false
	}
	if r.opts.Unsupported == nil || r.opts.Unsupported(answer.Why) != "" {
		return wire.Answer{}, false
	}
	return answer, true
}

// Streams are for a command that somebody else waits for: another agent, which ends it when it
// takes too long.
type Streams struct {
	// Stdout and Stderr receive its output as it comes.
	Stdout, Stderr io.Writer
	// Signals are handed to it.
	Signals <-chan syscall.Signal
}

type streamsKey struct{}

// WithStreams returns a context in which a command has streams. It has no time limit then.
func WithStreams(ctx context.Context, s Streams) context.Context {
	return context.WithValue(ctx, streamsKey{}, s)
}

// StreamsOf returns the streams of a command, if it has some.
func StreamsOf(ctx context.Context) (Streams, bool) {
	s, ok := ctx.Value(streamsKey{}).(Streams)
	return s, ok
}
