package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/assent-dev/assent/internal/worker"
)

// A Script is a model whose turns are written down. It keeps nothing between turns: where
// it is follows from the conversation, so that a run can be resumed in another process. It
// is safe for concurrent use.
type Script struct {
	file  string
	turns []scriptTurn
}

var _ worker.Talker = (*Script)(nil)

// Talk implements [worker.Talker]: it plays the turns whose conditions hold, up to one with
// calls; after the last it wants nothing more. All of its text comes in one piece.
func (s *Script) Talk(ctx context.Context, p worker.Prompt, l worker.Listener) (worker.Turn, error) {
	perf := performance{script: s, values: map[string]string{}}
	turn, wait, err := perf.last(p)
	if err != nil {
		return worker.Turn{}, fmt.Errorf("script %s: %w", s.file, err)
	}
	if err := think(ctx, wait); err != nil {
		return worker.Turn{}, err
	}
	if l != nil && turn.Text != "" {
		l.Text(turn.Text)
	}
	return turn, nil
}

// think takes its time.
func think(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A performance is a script being played from its beginning.
type performance struct {
	script  *Script
	next    int // the turn that comes next
	calls   int // how many calls there were
	values  map[string]string
	message string // what was said last
	results []worker.Result
}

// last plays the conversation again and returns the turn that comes now.
func (p *performance) last(prompt worker.Prompt) (turn worker.Turn, wait time.Duration, err error) {
	for i, round := range prompt.Rounds {
		p.message = round.Message.Text
		for _, step := range round.Steps {
			if _, _, err := p.turn(); err != nil {
				return worker.Turn{}, 0, err
			}
			p.results = append(p.results, step.Results...)
		}
		if i == len(prompt.Rounds)-1 {
			return p.turn()
		}
	}
	return worker.Turn{}, 0, nil // nobody said anything
}

// turn plays what makes up one turn of the conversation.
func (p *performance) turn() (out worker.Turn, wait time.Duration, err error) {
	for len(out.Calls) == 0 && p.next < len(p.script.turns) {
		t := &p.script.turns[p.next]
		p.next++
		if !p.wanted(t) {
			continue
		}
		wait += t.wait
		if err := p.play(t, &out); err != nil {
			return out, wait, fmt.Errorf("turn %d: %w", p.next, err)
		}
		if t.Listen {
			break
		}
	}
	return out, wait, nil
}

func (p *performance) wanted(t *scriptTurn) bool {
	return (t.If == nil || t.If.holds(p)) && (t.Unless == nil || !t.Unless.holds(p))
}

func (p *performance) play(t *scriptTurn, out *worker.Turn) error {
	p.keep(t.Set)
	say, err := p.fill(t.Say)
	if err != nil {
		return err
	}
	if out.Text != "" && say != "" {
		out.Text += "\n"
	}
	out.Text += say
	out.Usage.Output += t.Tokens
	for _, c := range t.Calls {
		call, err := p.call(c)
		if err != nil {
			return err
		}
		out.Calls = append(out.Calls, call)
	}
	return nil
}

func (p *performance) call(c scriptCall) (worker.Call, error) {
	args := map[string]any{}
	for name, value := range c.Args {
		filled, err := p.fillAll(value)
		if err != nil {
			return worker.Call{}, err
		}
		args[name] = filled
	}
	data, err := json.Marshal(args)
	if err != nil {
		return worker.Call{}, fmt.Errorf("arguments of %s: %w", c.Tool, err)
	}
	p.calls++
	if c.ID == "" {
		c.ID = fmt.Sprintf("call-%d", p.calls)
	}
	return worker.Call{ID: c.ID, Connector: c.Connector, Tool: c.Tool, Arguments: data}, nil
}

// result returns the last result of a call with this id.
func (p *performance) result(id string) (found worker.Result, ok bool) {
	for _, r := range p.results {
		if r.ID == id {
			found, ok = r, true
		}
	}
	return found, ok
}

// Turn has one turn of the model at an endpoint. The prompt is translated once, and streamed
// as often as [Retry] says; a stream that is silent for too long is given up.
func Turn[Params any](ctx context.Context, e *Endpoint, p worker.Prompt, l worker.Listener,
	translate func(worker.Prompt, *Names) (Params, error),
	stream func(context.Context, Params, *Collector, func()) (worker.Turn, error),
) (worker.Turn, error) {
	names, err := NewNames(p.Tools)
	if err != nil {
		return worker.Turn{}, err
	}
	params, err := translate(p, names)
	if err != nil {
		return worker.Turn{}, err
	}
	return e.Retry.Turn(ctx, l, func(ctx context.Context) (worker.Turn, error) {
		quiet, heard, stop := unless(ctx, e.Silence)
		defer stop()
		turn, err := stream(quiet, params, NewCollector(names, l), heard)
		if err != nil && errors.Is(context.Cause(quiet), ErrSilent) {
			err = e.Broken(ErrSilent.Error())
		}
		return turn, err
	})
}
