package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/wire"
)

// An unforeseen is something that a running command is about to do. If its judgement did not
// foresee that, it is put to the gate as a call of its own.
type unforeseen struct {
	running *running
	in      inquiry
	judging *judging // by the tool that runs the command
}

type unforeseenKey struct{}

// ActKey reports whether a key of a context leads to the act of a running command. Whoever
// prepares a call a second time, for the word of somebody else, has to hand that value on:
// the arguments of such a call say nothing.
func ActKey(key any) bool {
	_, ok := key.(unforeseenKey)
	return ok
}

func unforeseenIn(ctx context.Context) *unforeseen {
	u, _ := ctx.Value(unforeseenKey{}).(*unforeseen)
	return u
}

// action is the act as an action. It does nothing itself: the shell goes on if it may.
func (u *unforeseen) action(ctx context.Context, t *Tool) (tool.Action, error) {
	in := u.in
	in.ctx = ctx
	j := t.judge(in)
	if t == u.running.Tool { // and not that of a caller whose word counts as well
		u.judging = j
	}
	a, err := t.action(j, in)
	if err != nil {
		return tool.Action{}, err
	}
	v := view(in.script, in.dir)
	v.Facts = append(v.Facts, present.TextFact("part of", firstLine(u.running.cmd.Text)))
	ran := "nothing"
	if list := u.running.started(); len(list) > 0 {
		ran = strings.Join(list, "\n")
	}
	v.Facts = append(v.Facts, present.TextFact("ran already", ran))
	return a.Titled("A running command wants to do more: "+j.summary()).ShowingView(v).
		Editing("", "").YesOrNo().AwaitedBy(tool.RunningIn(ctx).Wait()).
		Doing(func(context.Context) (any, error) { return nil, nil }), nil
}

// ask puts an unforeseen act to the gate, and waits for the answer for as long as the command
// can be held.
func (r *running) ask(ctx context.Context, act wire.Act, in inquiry, pause func() (resume func())) wire.Answer {
	defer pause()()
	text := firstLine(in.script.Text.String())
	what := "unexpected: it was about to run " + text
	if err := tool.RunningIn(ctx).Report(ctx, approval.EventUnexpected, what); err != nil {
		return r.refuse("it cannot be recorded: " + err.Error())
	}
	args, err := json.Marshal(arguments{Command: in.script.Text.String()})
	if err != nil {
		return r.refuse(err.Error())
	}
	answers := make(chan wire.Answer, 1)
	var mu sync.Mutex
	held := true
	go func() {
		inner := context.WithValue(context.WithoutCancel(ctx), unforeseenKey{}, &unforeseen{running: r, in: in})
		part, err := tool.RunningIn(inner).Ask(inner, args)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			answers <- r.refuse(err.Error())
		case !held:
			if part.Outcome().Runs() {
				r.Tool.late.add(tool.RunningIn(ctx).Session(), r.cmd, lateAnswer{lateAct(act), part})
			}
		default:
			if err := part.Begin(); err != nil {
				answers <- r.refuse(fmt.Sprintf("%s: %v", text, err))
			} else {
				answers <- r.goesOn(act)
			}
		}
	}()
	timer := time.NewTimer(r.cfg.hold())
	defer timer.Stop()
	why := ""
	select {
	case answer := <-answers:
		return answer
	case <-timer.C:
		why = fmt.Sprintf("%s: nobody answered within %v; the question stays open, "+
			"and approving it counts when this command is run again", text, r.cfg.hold())
	case <-ctx.Done():
		why = "the command was ended"
	}
	mu.Lock()
	held = false
	mu.Unlock()
	select {
	case answer := <-answers: // just in time
		return answer
	default:
		return r.refuse(why)
	}
}

// answered reports whether a person has approved the act since the same command was ended
// while it waited for that. Each answer holds once, and only if it still counts now.
func (r *running) answered(act wire.Act) bool {
	r.mu.Lock()
	same := lateAct(act)
	i := slices.IndexFunc(r.late, func(l lateAnswer) bool { return l.act == same })
	if i < 0 {
		r.mu.Unlock()
		return false
	}
	part := r.late[i].part
	r.late = append(r.late[:i:i], r.late[i+1:]...)
	r.mu.Unlock()
	if part.Begin() == nil {
		return true
	}
	part.Close()
	return false
}

// lateAct is all of an act that an answer was about: also its folder, its variables and what
// it is handed.
func lateAct(act wire.Act) string {
	act.ID = 0
	return fmt.Sprintf("%#v", act)
}

// A lateAnswer is the approval of an act, which the gate has not begun.
type lateAnswer struct {
	act  string
	part *tool.Part
}

// lateAnswers are approvals of acts of commands that had been ended by then.
type lateAnswers struct {
	mu  sync.Mutex
	all map[lateKey][]lateAnswer
}

type lateKey struct{ session, text, dir string }

// maxLate bounds how many commands are remembered.
const maxLate = 1000

func (l *lateAnswers) add(session string, c Command, answer lateAnswer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil || len(l.all) >= maxLate {
		l.all = map[lateKey][]lateAnswer{}
	}
	key := lateKey{session, c.Text, c.Dir}
	l.all[key] = append(l.all[key], answer)
}

// take returns the answers for a command, and forgets them.
func (l *lateAnswers) take(session string, c Command) []lateAnswer {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := lateKey{session, c.Text, c.Dir}
	out := l.all[key]
	delete(l.all, key)
	return out
}

// leaveForLater frees what is known only when the command runs, if config says that it is
// judged then. What another program starts is not seen then, so that stays as it is.
func (j *judging) leaveForLater() {
	for i := range j.script.Parts {
		k := j.act[i] - 1
		if k < 0 || j.acts[k].Verdict != policy.VerdictAsk || !j.byShell(i) {
			continue
		}
		a := &j.acts[k]
		unknown := func(w policy.Word) bool { return w.Unknown }
		if a.Opaque || a.Target.Unknown || slices.ContainsFunc(a.Target.Words, unknown) {
			a.Later, a.Verdict, a.PersonOnly = true, policy.VerdictFree, false
			a.Why = "it is judged as it runs, with its real values (" + sourceOr(j.cfg.JudgeSource) + ")"
		}
	}
}

// byShell reports whether the shell itself does what a part says, or a program that the shell
// starts with these words: not what a program such as xargs starts in turn.
func (j *judging) byShell(i int) bool {
	p := &j.script.Parts[i]
	if p.Elsewhere {
		return false
	}
	for inner := p.Inner; inner && p.Cause > 0; inner = p.Inner {
		p = &j.script.Parts[p.Cause-1]
		if p.Kind == analysis.Runs && !p.Builtin && !analysis.Interprets(p.Reading.Program) {
			return false
		}
	}
	return true
}
