package notify_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/notify"
	"github.com/assent-dev/assent/policy"
)

// fifo makes a file from which a test reads what a program writes, when it does.
func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "told")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// waiting is an approver that answers when it is told to.
func waiting(answer <-chan struct{}) approval.Approver {
	return approval.ApproverFunc(func(ctx context.Context, r *approval.Request) (approval.Decision, error) {
		select {
		case <-answer:
			return r.Approve(""), nil
		case <-ctx.Done():
			return approval.Decision{}, context.Cause(ctx)
		}
	})
}

func TestWhatWaitsIsTold(t *testing.T) {
	told, answer := fifo(t), make(chan struct{})
	r := approvaltest.Requests(t, 1, "s")[0]
	a := notify.Around(waiting(answer), notify.Options{
		Command: []string{"sh", "-c", `{ cat; echo "$ASSENT_REQUEST|$ASSENT_TOOL|$ASSENT_SUMMARY"; } >"$0"`, told},
		After:   time.Nanosecond,
	})
	done := make(chan approval.Decision)
	go func() {
		d, _ := a.Approve(t.Context(), r)
		done <- d
	}()
	data, err := os.ReadFile(told) // waits for the program
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(string(data), "\n")
	var got map[string]string
	if err := json.Unmarshal([]byte(first), &got); err != nil {
		t.Fatalf("%v: %q", err, data)
	}
	if len(got) != 4 || got["urgency"] != notify.Normal || got["id"] != r.ID || got["tool"] != r.Call.Name() || got["summary"] != r.Summary {
		t.Errorf("told %v", got)
	}
	if want := r.ID + "|" + r.Call.Name() + "|" + r.Summary + "\n"; second != want {
		t.Errorf("told %q, want %q", second, want)
	}
	close(answer)
	if d := <-done; d.Answer != approval.AnswerApprove {
		t.Errorf("answered %q", d.Answer)
	}
}

// A program that does not end holds up nobody.
func TestAProgramThatHangsHoldsNobodyUp(t *testing.T) {
	started, ends, answer := fifo(t), fifo(t), make(chan struct{})
	end, err := os.OpenFile(ends, os.O_RDWR, 0) // nobody waits to open it then
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	r := approvaltest.Requests(t, 1, "s")[0]
	a := notify.Around(waiting(answer), notify.Options{
		Command: []string{"sh", "-c", `echo >"$0"; read line <"$1"`, started, ends}, After: time.Nanosecond,
	})
	go func() {
		_, _ = os.ReadFile(started)
		close(answer)
	}()
	if d, err := a.Approve(t.Context(), r); err != nil || d.Answer != approval.AnswerApprove {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := end.WriteString("\n"); err != nil { // it waits for that
		t.Error(err)
	}
}

// Every request of a batch is told, once, also one that comes because a person changed
// another.
func TestABatchIsTold(t *testing.T) {
	path := fifo(t)
	told, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	lines := bufio.NewScanner(told)
	asks := make(chan *approval.Batch, 1)
	asked := batchFunc(func(ctx context.Context, b *approval.Batch) error {
		asks <- b
		for _, r := range b.Pending() {
			<-r.Done()
		}
		return nil
	})
	gate, err := approval.New(approval.Config{
		Preparer: approvaltest.NewTools("ask"), Clock: time.Now, NewID: rand.Text,
		Approver: notify.Around(asked, notify.Options{Command: []string{"sh", "-c", `echo "$ASSENT_REQUEST" >"$0"`, path}, After: time.Nanosecond}),
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		gate.Ask(t.Context(), gate.Review(t.Context(),
			policy.Call{ID: "a", Tool: "ask", Arguments: []byte(`{"n":1}`)}, policy.Call{ID: "b", Tool: "ask", Arguments: []byte(`{"n":2}`)}))
	}()
	b := <-asks
	seen := map[string]bool{}
	hear := func() {
		if !lines.Scan() || seen[lines.Text()] {
			t.Fatalf("told again, or not at all: %q, %v", lines.Text(), lines.Err())
		}
		seen[lines.Text()] = true
	}
	hear()
	hear()
	if err := b.Resolve(t.Context(), b.Pending()[0].Change([]byte(`{"n":3}`), "")); err != nil {
		t.Fatal(err)
	}
	hear()
	for _, r := range b.Pending() {
		if !seen[r.ID] {
			t.Errorf("%s was not told", r.ID)
		}
		if err := b.Resolve(t.Context(), r.Deny("")); err != nil {
			t.Error(err)
		}
	}
	<-ended
}

// batchFunc is an approver for batches.
type batchFunc func(context.Context, *approval.Batch) error

func (f batchFunc) ApproveBatch(ctx context.Context, b *approval.Batch) error { return f(ctx, b) }

func (batchFunc) Approve(context.Context, *approval.Request) (approval.Decision, error) {
	return approval.Decision{}, errors.New("only batches are asked")
}

// What is answered in time is not told.
func TestWhatIsAnsweredIsNotTold(t *testing.T) {
	dir := t.TempDir()
	a := notify.Around(approvaltest.Script(approvaltest.Yes), notify.Options{Command: []string{"touch", filepath.Join(dir, "told")}, After: time.Hour})
	if _, err := a.Approve(t.Context(), approvaltest.Requests(t, 1, "s")[0]); err != nil {
		t.Fatal(err)
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestNobodyIsToldWithoutAProgram(t *testing.T) {
	a := approvaltest.Script()
	if got := notify.Around(a, notify.Options{}); got != approval.Approver(a) {
		t.Errorf("it became %T", got)
	}
	if got := notify.Around(nil, notify.Options{Command: []string{"true"}}); got != nil {
		t.Errorf("nobody became %T", got)
	}
}
