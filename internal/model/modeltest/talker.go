package modeltest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
)

// Nowhere is an address at which nobody answers.
const Nowhere = "http://127.0.0.1:1"

// A Refusal is an answer that makes no turn: what it is taken for, and what people are told.
type Refusal struct {
	answer Answer
	kind   model.FaultKind
	says   []string
}

// TakenAs is a refusal that is taken for a kind of fault, and told with these words.
func TakenAs(kind model.FaultKind, a Answer, says ...string) Refusal { return Refusal{a, kind, says} }

// Open returns a talker that asks the server, and tries a few times.
type Open func(*Server) worker.Talker

// TestRefusals wants a fault for each refusal, which does not tell the key, and no call.
func TestRefusals(t *testing.T, open Open, p worker.Prompt, key string, refusals map[string]Refusal) {
	for name, tt := range refusals {
		t.Run(name, func(t *testing.T) {
			turn, err := open(NewServer(t, tt.answer)).Talk(t.Context(), p, nil)
			if f := Fault(t, err, key); f.Kind != tt.kind || len(turn.Calls) != 0 {
				t.Errorf("kind %s, turn %+v, error %v", f.Kind, turn, err)
			}
			for _, says := range tt.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v does not say %q", err, says)
				}
			}
		})
	}
}

// TestCancel wants a turn that is cancelled after the beginning of a stream to end at once,
// with nothing that could run.
func TestCancel(t *testing.T, open Open, p worker.Prompt, beginning string) {
	begun := make(chan struct{})
	s := NewServer(t, Stall(beginning, begun))
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	go func() {
		<-begun
		cancel(enough)
	}()
	if turn, err := open(s).Talk(ctx, p, nil); err != enough || turn.Text != "" || len(turn.Calls) != 0 {
		t.Errorf("turn %+v, error %v", turn, err)
	}
}

// CheckCalls wants calls with names and ids of their own.
func CheckCalls(t *testing.T, turn worker.Turn) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range turn.Calls {
		if c.Tool == "" || c.ID == "" || seen[c.ID] || len(c.Arguments) == 0 {
			t.Errorf("call %+v", c)
		}
		seen[c.ID] = true
	}
}
