package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents/staged"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell"
)

// grace is how long a command has to obey a signal that asks it to end.
const grace = 3 * time.Second

// run runs the command of a token. It ends with ctx.
func (k *keeper) run(ctx context.Context, token string, out output, signals <-chan syscall.Signal) staged.Message {
	one, err := k.calls.take(token)
	if err != nil {
		return staged.Message{Error: err.Error()}
	}
	defer k.calls.over(token)
	if err := k.holds(ctx); err != nil {
		k.expire(one.batch, err.Error())
		return staged.Message{Error: err.Error()}
	}
	defer one.batch.Close()
	ctx = context.WithValue(ctx, askedKey{}, asked{person: one.person, folder: one.folder})
	if one.prompt {
		if err := answered(ctx, one.batch); err != nil {
			return staged.Message{Error: err.Error()}
		}
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ctx = shell.WithStreams(ctx, shell.Streams{Stdout: out.stdout, Stderr: out.stderr, Signals: obeyed(ctx, signals, end)})
	r, err := k.finish(ctx, one.batch)
	if err != nil {
		return staged.Message{Error: err.Error()}
	}
	result, ran := r.Value.(shell.Result)
	switch {
	case !ran && r.Stage == approval.StageCancelled:
		return staged.Message{Ended: &staged.Ended{Status: 128 + int(syscall.SIGTERM), Note: "assent: " +
			present.SafeLine(r.Text)}}
	case !ran:
		return staged.Message{Error: strings.TrimSpace(r.Text)}
	}
	k.calls.went(token, k.inside(result.Dir, one.dir))
	note := notes(result, decided(r.Outcome)...)
	if result.ExitCode != 0 {
		if more := k.offer(ctx, one.args); more != "" {
			note += "\n" + more
		}
	}
	return staged.Message{Ended: &staged.Ended{Status: result.ExitCode, Note: strings.TrimPrefix(note, "\n")}}
}

// holds reports an error if a file that holds is another one than when the commands were judged.
func (k *keeper) holds(ctx context.Context) error {
	s, err := k.resolve(ctx)
	if err == nil && !slices.Equal(s.Stamp(), k.stamp) {
		err = errors.New("the policy or a setting was changed since it was judged; try the command again")
	}
	return err
}

// answered notes that the agent's own prompt was answered with yes: it runs the command only then.
func answered(ctx context.Context, b *approval.Batch) error {
	for _, r := range b.Pending() {
		yes := r.Approve("")
		yes.By = policy.Who{Via: policy.ViaAgentPrompt}
		if err := b.Resolve(ctx, yes); err != nil {
			return err
		}
	}
	return nil
}

// finish runs what is allowed, and asks again about what has changed since it was judged.
func (k *keeper) finish(ctx context.Context, b *approval.Batch) (r tool.Result, err error) {
	err = approval.Again(func() error {
		results, err := tool.Finish(ctx, k.gate, b)
		r = results[0]
		if errors.Is(err, approval.ErrOpen) && len(b.Pending()) > 0 {
			k.gate.Ask(ctx, b)
			return approval.ErrChanged
		}
		return err
	})
	return r, err
}

// obeyed passes signals on, and ends a command that does not obey one which asks it to end.
func obeyed(ctx context.Context, signals <-chan syscall.Signal, end context.CancelCauseFunc) <-chan syscall.Signal {
	out := make(chan syscall.Signal, cap(signals))
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case s := <-signals:
				out <- s
				if s != syscall.SIGUSR1 && s != syscall.SIGUSR2 {
					time.AfterFunc(grace, func() { end(errors.New("it did not end when it was told to")) })
				}
			}
		}
	}()
	return out
}

// inside is the folder that a command went to, if it lies in a root; else the one it began in. It
// must be there still. The agent's shell takes line breaks off the end of its name, and would go to
// another one.
func (k *keeper) inside(dir, began string) string {
	if dir == "" || strings.HasSuffix(dir, "\n") {
		return began
	}
	if _, in, err := k.box.Roots.ResolveHost(dir); err != nil || !in {
		return began
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return began
	}
	return dir
}

// decided is what a person said with a yes. Agents do not tell their model why a command may run.
func decided(o approval.Outcome) (lines []string) {
	var in struct{ Command string }
	if o.Original != nil && json.Unmarshal(o.Call.Arguments, &in) == nil {
		lines = append(lines, "a person changed the command, and this ran: "+in.Command)
	}
	if said := o.Note(); said != "" {
		lines = append(lines, "the person said: "+said)
	}
	return lines
}

// notes is what the output does not say, in lines for the agent's model.
func notes(r shell.Result, lines ...string) string {
	if r.Stopped != "" {
		lines = append(lines, "the command was stopped: "+r.Stopped)
	}
	for line := range strings.Lines(r.Note) {
		lines = append(lines, strings.TrimSpace(line))
	}
	for i, line := range lines {
		lines[i] = "assent: " + present.SafeLine(line)
	}
	return strings.Join(lines, "\n")
}
