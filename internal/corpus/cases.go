package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/assent-dev/assent/internal/explain"
)

// A testCase is a command with the outcome that it must have under a policy.
type testCase struct {
	Policy  string `json:"policy"`
	Command string `json:"command"`
	Want    string `json:"want"`
	Why     string `json:"why"`
}

// A judged is how the cases came out.
type judged struct {
	allowed, refused int      // cases that should pass, and that should not
	hard             []string // passed and should not
	friction         []string // asked or refused and should pass
	soft             int      // asked instead of refused, or the other way round
}

func (p *project) judgeCases(ctx context.Context) (judged, error) {
	text, err := data.ReadFile("data/cases.jsonl")
	if err != nil {
		return judged{}, err
	}
	var out judged
	for n, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var c testCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			return out, fmt.Errorf("cases.jsonl:%d: %w", n+1, err)
		}
		e := p.by[c.Policy]
		if e == nil {
			return out, fmt.Errorf("cases.jsonl:%d: no policy %q", n+1, c.Policy)
		}
		out.count(c, p.explain(ctx, e, c.Command).Outcome)
	}
	return out, nil
}

func (p *project) explain(ctx context.Context, e *explain.Explainer, command string) explain.Answer {
	args, err := json.Marshal(map[string]string{"command": p.here(command)})
	if err != nil {
		return explain.Failed(err)
	}
	return e.Explain(ctx, explain.Call{Tool: "shell", Args: args})
}

func (j *judged) count(c testCase, got string) {
	if c.Want == explain.Allow {
		j.allowed++
	} else {
		j.refused++
	}
	line := fmt.Sprintf("%s: %q is %s, want %s (%s)", c.Policy, c.Command, got, c.Want, c.Why)
	switch {
	case got == c.Want:
	case got == explain.Allow:
		j.hard = append(j.hard, line)
	case c.Want == explain.Allow:
		j.friction = append(j.friction, line)
	default:
		j.soft++
	}
}

func (j *judged) print() {
	for _, line := range j.hard {
		fmt.Println("HARD    ", line)
	}
	for _, line := range j.friction {
		fmt.Println("friction", line)
	}
	fmt.Printf("cases: %d of %d that must not pass unasked pass (%.1f %%); ",
		len(j.hard), j.refused, percent(len(j.hard), j.refused))
	fmt.Printf("%d of %d that should pass are asked (%.1f %%); %d soft\n",
		len(j.friction), j.allowed, percent(len(j.friction), j.allowed), j.soft)
}

// failed tells whether the rates are worse than they may be.
func (j *judged) failed() error {
	if len(j.hard) > 0 || percent(len(j.friction), j.allowed) > 3 {
		return errors.New("the rates are worse than 0 % and 3 %")
	}
	return nil
}

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}
