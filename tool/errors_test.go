package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// Each way to end has an error type of its own, and a text that says what
// happened and whether to try again.
func TestWhatTheModelIsTold(t *testing.T) {
	fails := asks("t")
	fails.do = func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("disk full.") }
	panics := asks("t")
	panics.do = func(context.Context, json.RawMessage) (any, error) { panic("boom") }
	blocks := asks("t")
	blocks.prepare = func(json.RawMessage, tool.Do) (tool.Action, error) { return tool.Block("outside every root."), nil }
	tests := map[string]struct {
		tool   tool.Tool
		answer func(*approval.Request) approval.Decision
		err    error // of the wanted type
		text   string
	}{
		"completed": {asks("t"), yes, nil, "did {}"},
		"answered": {asks("t"), func(r *approval.Request) approval.Decision { return r.Respond("42") }, nil,
			"[ANSWERED] A person answered in place of t, which did not run:\n42"},
		"blocked": {blocks, yes, &approval.BlockedError{},
			"[BLOCKED] t did not run. Policy forbids it and nobody can approve it: outside every root. Do not retry it; find another way."},
		"denied": {asks("t"), no, &approval.DeniedError{},
			"[DENIED] t did not run; nothing was changed. Reason: a person said no. Do not retry the same call unless you are told to."},
		"denied with a note": {asks("t"), func(r *approval.Request) approval.Decision { return r.Deny("use the other one") }, &approval.DeniedError{},
			"[DENIED] t did not run; nothing was changed. Reason: a person said no. The person said: use the other one. Do not retry the same call unless you are told to."},
		"dismissed": {asks("t"), (*approval.Request).Dismiss, &approval.DeniedError{},
			"[DENIED] t did not run; nothing was changed. Reason: the question was dismissed without an answer. Do not retry the same call unless you are told to."},
		"nobody there": {asks("t"), nil, &approval.DeniedError{},
			"[DENIED] t did not run; nothing was changed. Reason: " + approval.ErrNobody.Error() + ". Do not retry the same call unless you are told to."},
		"failed": {fails, yes, &tool.FailedError{},
			"[FAILED] t was allowed, ran, and failed: disk full. You may correct the call and try again."},
		"panicked": {panics, yes, &tool.FailedError{},
			"[FAILED] t was allowed, ran, and failed: the tool panicked: boom. You may correct the call and try again."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newFixture(t, test.answer, test.tool).call("t", `{}`)
			wantText(t, r, test.text)
			if got, want := fmt.Sprintf("%T", r.Err), fmt.Sprintf("%T", test.err); got != want {
				t.Errorf("error is a %s, want %s", got, want)
			}
			if r.Stage != r.Outcome.Stage || r.Stage == "" {
				t.Errorf("stage %q and %q", r.Stage, r.Outcome.Stage)
			}
		})
	}
}

// A call that panics while it is prepared is refused, and says so.
func TestPanicInPrepare(t *testing.T) {
	p := asks("t")
	p.prepare = func(json.RawMessage, tool.Do) (tool.Action, error) { panic("boom") }
	d := newFixture(t, yes, p)
	r := d.call("t", `{}`)
	wantText(t, r, "[ERROR] t did not run: preparing t panicked: boom. Correct the call and try again.")
	d.wantAsked(0)
	p.wantRan(t)
}

// A tool that panics only when it is prepared for the last time does not run.
func TestPanicInLastPrepare(t *testing.T) {
	p := asks("t")
	prepared := 0
	p.prepare = func(_ json.RawMessage, do tool.Do) (tool.Action, error) {
		if prepared++; prepared > 1 {
			panic("boom")
		}
		return tool.Ask(do), nil
	}
	d := newFixture(t, yes, p)
	if r := d.call("t", `{}`); !errors.Is(r.Err, approval.ErrInvalid) {
		t.Errorf("error %v", r.Err)
	}
	d.wantAsked(1)
	p.wantRan(t)
}

// An action that does nothing, and one that says nothing, are refused.
func TestEmptyActions(t *testing.T) {
	tests := map[string]struct {
		action tool.Action
		why    string
	}{
		"zero":          {tool.Action{}, "the tool does not say what the call would do"},
		"free, nothing": {tool.Free(nil), "the tool does not say what the call would do"},
		"ask, nothing":  {tool.Ask(nil), "the tool does not say what the call would do"},
		"no reason":     {tool.Block(""), "blocked by policy"},
		"nothing, acts": {tool.Ask(nil).OnTarget(policy.TextTarget("x")).Because("no means"), "no means"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := asks("t")
			p.prepare = func(json.RawMessage, tool.Do) (tool.Action, error) { return test.action, nil }
			d := newFixture(t, yes, p)
			r := d.call("t", `{}`)
			var blocked *approval.BlockedError
			if !errors.As(r.Err, &blocked) || blocked.Why != test.why {
				t.Errorf("error %v, want blocked: %s", r.Err, test.why)
			}
			d.wantAsked(0)
		})
	}
}

// Results of every kind become text, and none takes the program down.
func TestResultTexts(t *testing.T) {
	tests := map[string]struct {
		value any
		text  string
	}{
		"nothing": {nil, "done"},
		"text":    {"a <b> c", "a <b> c"},
		"number":  {42, "42"},
		"struct":  {email{To: "<ann>"}, `{"to":"<ann>","subject":"","body":""}`},
		"channel": {make(chan int, 1), ""},
		"panics":  {panicky{}, "done; the result cannot be written: no JSON today"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := frees("t")
			p.do = func(context.Context, json.RawMessage) (any, error) { return test.value, nil }
			r := newFixture(t, nil, p).call("t", `{}`)
			if r.Err != nil || r.Text == "" || test.text != "" && r.Text != test.text {
				t.Errorf("text %q, error %v, want %q", r.Text, r.Err, test.text)
			}
		})
	}
}

type panicky struct{}

func (panicky) MarshalJSON() ([]byte, error) { panic("no JSON today") }
