package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// turns is a model that says these things.
type turns []worker.Turn

func (ts turns) Talk(_ context.Context, p worker.Prompt, _ worker.Listener) (worker.Turn, error) {
	said := 0
	for _, r := range p.Rounds {
		said += len(r.Steps)
	}
	if said >= len(ts) {
		return worker.Turn{}, nil
	}
	return ts[said], nil
}

// say gives the run a message and returns its steps.
func say(ctx context.Context, r *worker.Run) ([]worker.Step, error) {
	round, err := r.Say(ctx, worker.Message{Text: "Do it."})
	return round.Steps, err
}

func call(id, text string) worker.Call {
	args, _ := json.Marshal(map[string]string{"text": text})
	return worker.Call{ID: id, Tool: "note", Arguments: args}
}

type noteArgs struct {
	Text string `json:"text"`
}

// newRun returns a run whose tool asks, and what the tool was called with.
func newRun(t *testing.T, answer func(*approval.Request) approval.Decision, ts ...worker.Turn) (*worker.Run, *[]string) {
	t.Helper()
	var notes []string
	note := tool.Func("note", "Keeps a note.", func(_ context.Context, in noteArgs) (string, error) {
		notes = append(notes, in.Text)
		return "kept " + in.Text, nil
	})
	set, err := tool.NewSet(tool.NeedsApproval(true, note)...)
	if err != nil {
		t.Fatal(err)
	}
	gate, err := tool.NewGate(set, approval.Config{
		Approver: approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
			return answer(r), nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &worker.Run{Talker: turns(ts), Gate: gate}, &notes
}

func approve(r *approval.Request) approval.Decision { return r.Approve("") }

func TestRunTakesTurnsUntilTheModelWantsNothing(t *testing.T) {
	run, notes := newRun(t, approve,
		worker.Turn{Text: "first", Calls: []worker.Call{call("1", "a"), call("2", "b")}},
		worker.Turn{Calls: []worker.Call{call("3", "c")}},
		worker.Turn{Text: "done"})
	steps, err := say(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(*notes, ""); got != "abc" {
		t.Errorf("the tool saw %q", got)
	}
	if len(steps) != 3 || steps[0].Results[1].Text != "kept b" || steps[2].Turn.Text != "done" {
		t.Errorf("steps: %+v", steps)
	}
}

func TestADenialIsAResultAndTheRunGoesOn(t *testing.T) {
	run, notes := newRun(t, func(r *approval.Request) approval.Decision {
		if strings.Contains(string(r.Call.Arguments), `"a"`) {
			return r.Deny("not a")
		}
		return r.Approve("")
	}, worker.Turn{Calls: []worker.Call{call("1", "a")}}, worker.Turn{Calls: []worker.Call{call("2", "b")}})
	steps, err := say(t.Context(), run)
	if err != nil || strings.Join(*notes, "") != "b" || !strings.Contains(steps[0].Results[0].Text, "not a") {
		t.Errorf("%v, notes %v, steps %+v", err, *notes, steps)
	}
}

func TestWhatStopsARun(t *testing.T) {
	stop := func(r *approval.Request) approval.Decision {
		d := r.Deny("enough")
		d.Stop = true
		return d
	}
	for name, tt := range map[string]struct {
		answer     func(*approval.Request) approval.Decision
		stopOnDeny bool
		state      policy.State
		note       string
	}{
		"a denial that says so": {stop, false, policy.StateDenied, "enough"},
		"silence with StopOnDeny": {func(r *approval.Request) approval.Decision {
			return approval.Decision{Request: r.ID, Fingerprint: r.Fingerprint, Answer: approval.AnswerExpire}
		}, true, policy.StateExpired, ""},
		"a denial with StopOnDeny":  {func(r *approval.Request) approval.Decision { return r.Deny("no") }, true, policy.StateDenied, "no"},
		"a question that is closed": {func(r *approval.Request) approval.Decision { return r.Dismiss() }, false, policy.StateDismissed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			run, notes := newRun(t, tt.answer, worker.Turn{Calls: []worker.Call{call("1", "a")}},
				worker.Turn{Calls: []worker.Call{call("2", "b")}})
			run.StopOnDeny = tt.stopOnDeny
			steps, err := say(t.Context(), run)
			var stopped *worker.StoppedError
			if !errors.As(err, &stopped) || stopped.State != tt.state || stopped.Note != tt.note || stopped.Tool != "note" {
				t.Fatalf("error %v", err)
			}
			if len(steps) != 1 || len(*notes) != 0 {
				t.Errorf("steps %+v, notes %v", steps, *notes)
			}
		})
	}
}

func TestTheLimitEndsARun(t *testing.T) {
	run, notes := newRun(t, approve, worker.Turn{Calls: []worker.Call{call("1", "a")}},
		worker.Turn{Calls: []worker.Call{call("2", "b")}}, worker.Turn{Calls: []worker.Call{call("3", "c")}})
	run.Limits.Steps = 2
	if _, err := say(t.Context(), run); !errors.Is(err, worker.ErrLimit) || len(*notes) != 2 {
		t.Errorf("error %v, notes %v", err, *notes)
	}
}

type broken struct{}

func (broken) Talk(context.Context, worker.Prompt, worker.Listener) (worker.Turn, error) {
	return worker.Turn{}, errors.New("no answer from the model")
}

func TestAModelThatFailsEndsARun(t *testing.T) {
	run, _ := newRun(t, approve)
	run.Talker = broken{}
	if _, err := say(t.Context(), run); err == nil || err.Error() != "model: no answer from the model" {
		t.Errorf("error %v", err)
	}
}

func TestTheCauseOfTheContextEndsARun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	run, notes := newRun(t, func(r *approval.Request) approval.Decision {
		cancel(enough)
		return r.Approve("")
	}, worker.Turn{Calls: []worker.Call{call("1", "a")}}, worker.Turn{Calls: []worker.Call{call("2", "b")}})
	// What was approved before the end does not run after it.
	if steps, err := say(ctx, run); err != enough || len(steps) != 1 || len(*notes) != 0 {
		t.Errorf("error %v, steps %+v, notes %v", err, steps, *notes)
	}
}

func TestTheNameOfARunSaysWhoAsks(t *testing.T) {
	var asked []string
	run, _ := newRun(t, func(r *approval.Request) approval.Decision {
		asked = r.Call.Workers
		return r.Approve("")
	}, worker.Turn{Calls: []worker.Call{call("1", "a")}})
	run.Workers = []string{"tidy"}
	if _, err := say(t.Context(), run); err != nil || strings.Join(asked, ",") != "tidy" {
		t.Errorf("error %v, workers %v", err, asked)
	}
}

func TestAStoppedErrorSaysWhatAndWhy(t *testing.T) {
	err := &worker.StoppedError{Tool: "edit_file", Acts: []string{"read_file(a)", "write_file(a)"}, State: policy.StateDenied, Note: "not now"}
	if got, want := err.Error(), "the run was stopped: edit_file (read_file(a) + write_file(a)) was denied: not now"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// eager is a RunStore in which every question finds a yes at once.
type eager struct{}

func (eager) Save(context.Context, []byte) error { return nil }

func (eager) Post(context.Context, *approval.Batch) error { return nil }

func (eager) Collect(ctx context.Context, b *approval.Batch) error {
	for _, r := range b.Pending() {
		if err := b.Resolve(ctx, r.Approve("")); err != nil {
			return err
		}
	}
	return nil
}

// A turn whose call is never what was shown is put aside after as many tries as everywhere.
func TestATurnThatKeepsChangingIsPutAside(t *testing.T) {
	tries := 0
	never := tool.Func("note", "Keeps a note.", func(context.Context, noteArgs) (string, error) {
		tries++
		return "", approval.ErrChanged
	})
	gate, err := tool.Guard(approval.Config{}, tool.NeedsApproval(true, never)...)
	if err != nil {
		t.Fatal(err)
	}
	run := &worker.Run{Talker: turns{{Calls: []worker.Call{call("1", "a")}}}, Gate: gate, Store: eager{}}
	var paused *worker.PausedError
	if _, err := say(t.Context(), run); !errors.As(err, &paused) || tries != 10 {
		t.Errorf("tried %d times, %v", tries, err)
	}
	if text := (&worker.PausedError{}).Error(); !strings.Contains(text, approval.ErrKeepsChanging.Error()) {
		t.Errorf("with nothing to answer it says %q", text)
	}
}
