package model_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
)

func parse(t *testing.T, text string) *model.Script {
	t.Helper()
	s, err := model.ParseScript("demo.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const issues = `
turns:
  - calls:
      - {id: make, tool: create_issue, args: {title: "About ${message}", labels: ["${message}", "$${kept}"], n: 3}}
  - set: {number: {call: make, match: 'issue #(\d+)'}, all: {call: make}}
    say: Made ${number}.
    calls:
      - {id: close, tool: close_issue, args: {number: "${number}"}}
  - say: "${all}"
    tokens: 12
`

func TestScriptTakesValuesFromResults(t *testing.T) {
	s := parse(t, issues)
	var steps []worker.Step
	for i, want := range []struct{ text, args string }{
		{"", `{"labels":["the bug","${kept}"],"n":3,"title":"About the bug"}`},
		{"Made 17.", `{"number":"17"}`},
		{"Created issue #17 in x", ""},
	} {
		turn, err := s.Next(t.Context(), "the bug", steps)
		if err != nil {
			t.Fatal(err)
		}
		args := ""
		if len(turn.Calls) > 0 {
			args = string(turn.Calls[0].Arguments)
		}
		if turn.Text != want.text || args != want.args {
			t.Errorf("turn %d: %+v, arguments %s", i+1, turn, args)
		}
		if i == 2 && turn.Usage.Output != 12 {
			t.Errorf("usage %+v", turn.Usage)
		}
		steps = append(steps, worker.Step{Turn: turn, Results: []worker.Result{{ID: "make", Stage: "completed", Text: "Created issue #17 in x\n"}}})
	}
}

func TestScriptWithoutAValueFails(t *testing.T) {
	s := parse(t, issues)
	steps := []worker.Step{{Results: []worker.Result{{ID: "make", Stage: "denied", Text: "[DENIED]"}}}}
	if _, err := s.Next(t.Context(), "x", steps); err == nil || !strings.Contains(err.Error(), "demo.yaml: turn 2: ${number} has no value") {
		t.Errorf("error %v", err)
	}
}

func TestScriptConditionsOnHowACallEnded(t *testing.T) {
	s := parse(t, `
turns:
  - calls: [{id: a, tool: x}]
  - {if: {call: a, denied: true}, say: denied}
  - {if: {call: a, denied: false}, say: not denied}
  - {if: {call: a, error: true}, say: failed}
  - {if: {call: a, matches: '^\d+$'}, say: a number}
  - {if: {message: please}, say: polite}
  - {if: {call: b, denied: false}, say: never}
`)
	for _, tt := range []struct {
		result  worker.Result
		message string
		want    string
	}{
		{worker.Result{Stage: approval.StageRefused}, "", "denied"},
		{worker.Result{Stage: "failed"}, "", "not denied\nfailed"},
		{worker.Result{Stage: "completed", Text: "42"}, "please go", "not denied\na number\npolite"},
	} {
		tt.result.ID = "a"
		turn, err := s.Next(t.Context(), tt.message, []worker.Step{{Results: []worker.Result{tt.result}}})
		if err != nil || turn.Text != tt.want {
			t.Errorf("after %+v: %q, %v; want %q", tt.result, turn.Text, err, tt.want)
		}
	}
}

// A script that is asked again, in another process, goes on where it was.
func TestScriptFollowsFromTheConversation(t *testing.T) {
	text := "turns:\n  - {say: Hello., listen: true}\n  - calls: [{tool: x}]\n  - {say: \"You said ${message}.\"}\n"
	rounds := []worker.Round{{Message: worker.Message{Text: "hi"}}}
	want := []string{"Hello.", "", "You said bye."}
	for i, want := range want {
		turn, err := parse(t, text).Talk(t.Context(), worker.Prompt{Rounds: rounds}, nil)
		if err != nil || turn.Text != want || (i == 1) != (len(turn.Calls) == 1) {
			t.Fatalf("turn %d: %+v, %v", i+1, turn, err)
		}
		last := &rounds[len(rounds)-1]
		last.Steps = append(last.Steps, worker.Step{Turn: turn})
		if i == 0 {
			rounds = append(rounds, worker.Round{Message: worker.Message{Text: "bye"}})
		}
	}
}

func TestScriptIsSafeForConcurrentUse(t *testing.T) {
	s := parse(t, issues)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if turn, err := s.Next(t.Context(), "x", nil); err != nil || len(turn.Calls) != 1 {
				t.Errorf("%+v, %v", turn, err)
			}
		})
	}
	wg.Wait()
}

func TestScriptFaults(t *testing.T) {
	for text, want := range map[string]string{
		"turns:\n  - calls: [{id: a}]\n":                      "turn 1: call 1 names no tool",
		"turns:\n  - {listen: true, calls: [{tool: x}]}\n":    "not both",
		"turns:\n  - if: {call: a, matches: '('}\n":           "matches",
		"turns:\n  - if: {message: a, denied: true}\n":        "needs the id of a call",
		"turns:\n  - if: {}\n":                                "needs the id of a call",
		"turns:\n  - {set: {a: {match: x}}}\n":                "set a",
		"turns:\n  - {set: {a: {call: x, match: '['}}}\n":     "set a",
		"turns:\n  - {set: {a: }}\n":                          "set a",
		"turns:\n  - {tokens: -1}\n":                          "tokens",
		"turns:\n  - if: {call: a, contain: x}\n":             "contain",
		"turns:\n  - calls: [{tool: x, arguments: {a: 1}}]\n": "arguments",
		"turns:\n  - say: a\nmore: 1\n":                       "more",
	} {
		if _, err := model.ParseScript("demo.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
