package hook

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/staged"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool/files"
)

// Usage is how the program is called.
const Usage = "AGENT [--observe] [--defer] [--deadline DURATION] [--state FOLDER]"

// Main is the whole program: it answers the event on standard input as the arguments say,
// and returns the exit status.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 0 && (args[0] == WordExec || args[0] == WordFolder) {
		return token(args[0], args[1:], stderr)
	}
	o, err := options(args)
	if err != nil {
		return write(agents.Blocked(err.Error()), stdout, stderr)
	}
	o.Input = stdin
	// Until the end of the process: a signal before the answer is written must not end it.
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return Answer(ctx, o, stdout, stderr)
}

// Words with which the program is called by the text that a hook hands back.
const (
	WordExec   = "exec"
	WordFolder = "folder"
)

// token runs the command of a token, or says where that went.
func token(word string, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet(word, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	state := flags.String("state", "", "")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		fmt.Fprintf(stderr, "assent: %s takes a token, which a hook makes\n", word)
		return staged.NotRun
	}
	return Token(word, *state, flags.Arg(0))
}

// Token runs the command of a token, or says where that went, with the output of this process.
func Token(word, state, token string) int {
	asStarted()
	places, err := setup.Here(state)
	if err != nil {
		fmt.Fprintf(os.Stderr, "assent: the command was not run: %v\n", err)
		return staged.NotRun
	}
	if word == WordFolder {
		return staged.Folder(places.State, token, os.Stdout, os.Stderr)
	}
	return staged.Run(places.State, token, os.Stdout, os.Stderr)
}

// Answer answers one event in a process that ends with it, and returns the exit status. The
// agent has its answer before the record is on the disk, and a status that blocks the call
// if it does not get there in time.
func Answer(ctx context.Context, o Options, stdout, stderr io.Writer) int {
	began := time.Now()
	defer o.limitMemory(memoryLimit, stderr)()
	if o.Deadline > agents.LongestWait {
		fmt.Fprintf(stderr, "assent: --deadline %v is longer than %s waits for a hook; %v counts\n",
			o.Deadline, o.Agent.Title, agents.LongestWait)
	}
	reply := o.run(ctx)
	o.Observe = reply.observed
	status := write(reply.Reply, stdout, stderr)
	if err := o.sync(reply.undo, o.deadline()-time.Since(began)); err != nil {
		return write(o.failed(err), io.Discard, stderr)
	}
	return status
}

// sync brings the record to the disk, and what is kept for undo. A disk may hang, and an agent that waited for too long
// forgets what it was answered.
func (o Options) sync(undo string, within time.Duration) error {
	synced := make(chan error, 1)
	go func() {
		kept := make(chan error, 1)
		go func() {
			if undo == "" {
				kept <- nil
				return
			}
			folder := files.UndoFolder{Dir: o.Places.UndoFolder()}
			kept <- folder.Sync(undo)
		}()
		synced <- errors.Join(store.Sync(o.Places.State), <-kept)
	}()
	select {
	case err := <-synced:
		return err
	case <-time.After(within):
		return fmt.Errorf("the record was not on the disk within %v", o.deadline())
	}
}

// write gives the reply to the agent and returns the exit status.
func write(reply agents.Reply, stdout, stderr io.Writer) int {
	if _, err := stdout.Write(reply.Stdout); err != nil {
		reply = agents.Blocked("the answer cannot be written: " + err.Error())
	}
	io.WriteString(stderr, reply.Stderr) // if nobody listens, the status still says it
	return reply.Exit
}

func options(args []string) (Options, error) {
	flags := flag.NewFlagSet("hook", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	observe := flags.Bool("observe", false, "")
	deadline := flags.Duration("deadline", 0, "")
	state := flags.String("state", "", "")
	later := flags.Bool("defer", false, "")
	var name string
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	if err := flags.Parse(args); err != nil {
		return Options{}, fmt.Errorf("%w; usage: assent-hook %s", err, Usage)
	}
	if name == "" && flags.NArg() == 1 {
		name = flags.Arg(0)
	} else if flags.NArg() > 0 {
		return Options{}, fmt.Errorf("unexpected arguments %q; usage: assent-hook %s", flags.Args(), Usage)
	}
	if name == "" {
		return Options{}, errors.New("missing agent name: claude-code, codex, gemini or cursor; usage: assent-hook " + Usage)
	}
	agent, err := agents.Named(name)
	if err != nil {
		return Options{}, err
	}
	o, err := Here(agent, *state)
	o.Deadline, o.Observe, o.Defer = *deadline, *observe, *later
	return o, err
}

// Here returns the options for an agent of this user, in a process that ends with the
// answer.
func Here(agent *agents.Agent, state string) (o Options, err error) {
	asStarted()
	o = Options{Agent: agent, Environ: os.Environ(), Exits: true, Chain: chain}
	o.Dir, _ = os.Getwd() // without it the events say where the agent works
	if o.Places, err = setup.Here(state); err != nil {
		return o, err
	}
	o.Exec, o.Keeper = programs()
	return o, nil
}

// programs are the command lines of the program that runs what was judged, which is this one, and
// of the keeper: a larger one, which lies beside it.
func programs() (run, keeper []string) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return nil, nil
	}
	if name := filepath.Base(self); name == "assent" {
		return []string{self, "hook"}, []string{self, "hook", "keeper"}
	}
	large := filepath.Join(filepath.Dir(self), "assent")
	if info, err := os.Stat(large); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	return []string{self}, []string{large, "hook", "keeper"}
}

// An agent runs its tool if the hook dies by a signal, as it does when the system runs out of
// memory. So the hook ends by itself before that, with the status that blocks.
const (
	// memoryLimit is how much more memory the answer to an event may take. It takes a tenth.
	memoryLimit = 256 << 20
	// dataLimit is where the system refuses memory, should nobody have looked in time: the
	// runtime then ends the process with status 2.
	dataLimit = 640 << 20
)

// loweredFrom is the limit of the system that the process had before it took a lower one; 0 if it
// did not. What it starts to stay has that again: commands would fail that need more.
var loweredFrom atomic.Uint64

// limitMemory ends the process with the reply to an event that takes too much memory. What it
// returns stops looking.
func (o Options) limitMemory(most uint64, stderr io.Writer) (stop func()) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &limit) == nil && limit.Cur > dataLimit && o.Exits {
		loweredFrom.Store(uint64(limit.Cur))
		limit.Cur = dataLimit
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit) // without it there is still the look below
	}
	began, stopped := memoryInUse(), make(chan struct{})
	ticks := time.NewTicker(2 * time.Millisecond)
	go func() {
		defer ticks.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-ticks.C:
			}
			if memoryInUse() > began+most {
				reply := o.failed(fmt.Errorf("the call takes more than %d MiB of memory to judge; make it smaller", most>>20))
				os.Exit(write(reply, io.Discard, stderr))
			}
		}
	}()
	return func() { close(stopped) }
}

// memoryInUse is how many bytes the process has from the system.
func memoryInUse() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}
