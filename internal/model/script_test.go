package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
)

const script = `
turns:
  - say: Looking.
  - calls:
      - {id: look, tool: read_file, args: {path: a.md, max: 3}}
      - {tool: list_files}
  - if: {call: look, stage: denied}
    say: I was not allowed to.
  - unless: {call: look, stage: denied}
    say: I saw it.
  - if: {call: look, contains: secret}
    say: It has a secret.
`

func play(t *testing.T, result worker.Result) (first, second worker.Turn) {
	t.Helper()
	s, err := model.ParseScript("demo.yaml", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	first, err = s.Next(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	result.ID = "look"
	second, err = s.Next(t.Context(), "", []worker.Step{{Turn: first, Results: []worker.Result{result}}})
	if err != nil {
		t.Fatal(err)
	}
	return first, second
}

func TestScriptPlaysTextAndCalls(t *testing.T) {
	turn, _ := play(t, worker.Result{})
	if turn.Text != "Looking." || len(turn.Calls) != 2 {
		t.Fatalf("got %+v", turn)
	}
	if c := turn.Calls[0]; c.ID != "look" || c.Tool != "read_file" || string(c.Arguments) != `{"max":3,"path":"a.md"}` {
		t.Errorf("first call: %+v", c)
	}
	if c := turn.Calls[1]; c.ID != "call-2" || string(c.Arguments) != "{}" {
		t.Errorf("second call: %+v", c)
	}
}

func TestScriptConditions(t *testing.T) {
	for _, tt := range []struct {
		result worker.Result
		want   string
	}{
		{worker.Result{Stage: "denied"}, "I was not allowed to."},
		{worker.Result{Stage: "completed"}, "I saw it."},
		{worker.Result{Stage: "completed", Text: "a secret"}, "I saw it.\nIt has a secret."},
	} {
		_, turn := play(t, tt.result)
		if turn.Text != tt.want || len(turn.Calls) != 0 {
			t.Errorf("after %+v: %+v", tt.result, turn)
		}
	}
}

func TestScriptErrors(t *testing.T) {
	for text, want := range map[string]string{
		"turns: []\n":                               "it has no turns",
		"turns:\n  - sya: hello\n":                  "sya",
		"turns:\n  - if: {stage: denied}\n":         "needs the id of a call",
		"turns:\n  - wait: soon\n":                  "wait is a time",
		"turns:\n  - wait: -1s\n":                   "wait is a time",
		"turns:\n  - calls: [{tool: x, args: 3}]\n": "args",
	} {
		_, err := model.ParseScript("demo.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "demo.yaml") {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestScriptTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := model.ParseScript("demo.yaml", []byte("turns:\n  - {say: Hm., wait: 2s}\n"))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		turn, err := s.Next(t.Context(), "", nil)
		if took := time.Since(began); err != nil || turn.Text != "Hm." || took != 2*time.Second {
			t.Errorf("%+v, %v after %v", turn, err, took)
		}
	})
}

func TestScriptStopsThinkingWhenItIsCancelled(t *testing.T) {
	s, err := model.ParseScript("demo.yaml", []byte("turns:\n  - {say: Never., wait: 1h}\n"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if turn, err := s.Next(ctx, "", nil); err != enough || turn.Text != "" {
		t.Errorf("%+v, %v", turn, err)
	}
}
