package model

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/worker"
	"github.com/goccy/go-yaml"
)

// A Script is a model whose turns are written down.
type Script struct {
	turns []scriptTurn
	next  int
	calls int
}

var _ worker.Model = (*Script)(nil)

type scriptTurn struct {
	Say    string       `yaml:"say"`
	Wait   string       `yaml:"wait"`
	Calls  []scriptCall `yaml:"calls"`
	If     *condition   `yaml:"if"`
	Unless *condition   `yaml:"unless"`
	wait   time.Duration
}

type scriptCall struct {
	ID        string         `yaml:"id"`
	Connector string         `yaml:"connector"`
	Tool      string         `yaml:"tool"`
	Args      map[string]any `yaml:"args"`
}

// A condition holds if the call with this id ended in the stage and its result contains the
// text; what is left out does not count.
type condition struct {
	Call     string `yaml:"call"`
	Stage    string `yaml:"stage"`
	Contains string `yaml:"contains"`
}

// ParseScript reads a script:
//
//	turns:
//	  - say: I will look first.
//	    calls:
//	      - {id: look, tool: read_file, args: {path: notes/today.md}}
//	  - if: {call: look, stage: completed}
//	    say: Done.
//
// A turn is left out unless its if holds, or if its unless does. With wait, such as 2s, the
// model takes that long to think of it.
func ParseScript(file string, data []byte) (*Script, error) {
	var doc struct {
		Turns []scriptTurn `yaml:"turns"`
	}
	if err := yaml.UnmarshalWithOptions(data, &doc, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("script %s: %w", file, err)
	}
	if len(doc.Turns) == 0 {
		return nil, fmt.Errorf("script %s: it has no turns", file)
	}
	for i, t := range doc.Turns {
		wait, err := time.ParseDuration(cmp.Or(t.Wait, "0"))
		if err != nil || wait < 0 {
			return nil, fmt.Errorf("script %s: turn %d: wait is a time such as 2s, not %q", file, i+1, t.Wait)
		}
		doc.Turns[i].wait = wait
		for _, c := range []*condition{t.If, t.Unless} {
			if c != nil && c.Call == "" {
				return nil, fmt.Errorf("script %s: turn %d: a condition needs the id of a call", file, i+1)
			}
		}
	}
	return &Script{turns: doc.Turns}, nil
}

// Next plays the turns whose conditions hold, up to one with calls; after the last it wants
// nothing more.
func (s *Script) Next(ctx context.Context, _ string, steps []worker.Step) (worker.Turn, error) {
	var out worker.Turn
	for len(out.Calls) == 0 && s.next < len(s.turns) {
		t := s.turns[s.next]
		s.next++
		if t.If != nil && !t.If.holds(steps) || t.Unless != nil && t.Unless.holds(steps) {
			continue
		}
		if err := think(ctx, t.wait); err != nil {
			return out, err
		}
		if err := s.play(t, &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// think takes its time.
func think(ctx context.Context, wait time.Duration) error {
	if wait == 0 {
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

func (s *Script) play(t scriptTurn, out *worker.Turn) error {
	if out.Text != "" && t.Say != "" {
		out.Text += "\n"
	}
	out.Text += t.Say
	for _, c := range t.Calls {
		if c.Args == nil {
			c.Args = map[string]any{}
		}
		args, err := json.Marshal(c.Args)
		if err != nil {
			return fmt.Errorf("arguments of %s: %w", c.Tool, err)
		}
		s.calls++
		if c.ID == "" {
			c.ID = fmt.Sprintf("call-%d", s.calls)
		}
		out.Calls = append(out.Calls, worker.Call{ID: c.ID, Connector: c.Connector, Tool: c.Tool, Arguments: args})
	}
	return nil
}

func (c *condition) holds(steps []worker.Step) bool {
	result, ok := resultOf(steps, c.Call)
	return ok && (c.Stage == "" || c.Stage == string(result.Stage)) && strings.Contains(result.Text, c.Contains)
}

// resultOf returns the last result of a call with this id.
func resultOf(steps []worker.Step, id string) (found worker.Result, ok bool) {
	for _, s := range steps {
		for _, r := range s.Results {
			if r.ID == id {
				found, ok = r, true
			}
		}
	}
	return found, ok
}
