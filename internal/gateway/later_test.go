package gateway_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/policy"
)

// full makes records one that decides itself how much it keeps, and that may fail.
type full struct {
	*records
	fail atomic.Pointer[error]
}

func newFull() *full { return &full{records: newRecords()} }

func (f *full) RecordFull(ctx context.Context, e approval.Event) error {
	if err := f.fail.Load(); err != nil {
		return *err
	}
	return f.Record(ctx, e)
}

// Records implements [Log].
func (f *full) Records(_ context.Context, filter approval.RecordFilter) iter.Seq2[approval.Record, error] {
	return func(yield func(approval.Record, error) bool) {
		for _, e := range f.all() {
			if e.Session == filter.Session && !e.At.Before(filter.Since) && !yield(approval.Record{Event: e}, nil) {
				return
			}
		}
	}
}

func (r *records) all() []approval.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

func newSpool(t *testing.T) (*gateway.Spool, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "spool")
	s, err := gateway.OpenSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

// spooled returns what is in the files of the folder, and how many there are.
func spooled(t *testing.T, dir string) (text string, files int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
	return text, len(names)
}

func event(kind approval.EventKind, call string, state policy.State) approval.Event {
	e := approval.Event{Kind: kind, CallID: call, Session: "s", Tool: "echo", State: state, At: time.Unix(1, 0), Arguments: []byte(`{"key":"hidden"}`)}
	if kind == approval.EventEnded {
		e.Stage = approval.StageCompleted
	}
	return e
}

func TestLaterRecordsEverythingInTheEndAndStartsBeforeEnds(t *testing.T) {
	r := newFull()
	spool, dir := newSpool(t)
	l := gateway.NewLater(r, spool, func(err error) { t.Error(err) })
	for i := range 50 {
		id := string(rune('a' + i))
		if err := l.Record(t.Context(), event(approval.EventStarted, id, policy.StateAutoApproved)); err != nil {
			t.Error(err)
		}
		if err := l.Record(t.Context(), event(approval.EventEnded, id, policy.StateAutoApproved)); err != nil {
			t.Error(err)
		}
	}
	if err := l.Close(); err != nil || len(r.all()) != 100 {
		t.Errorf("%d recorded, %v", len(r.all()), err)
	}
	begun := map[string]bool{}
	for _, e := range r.all() {
		if begun[e.CallID] = begun[e.CallID] || e.Kind == approval.EventStarted; !begun[e.CallID] {
			t.Errorf("%s ends before it starts", e.CallID)
		}
	}
	if _, files := spooled(t, dir); files != 0 {
		t.Errorf("%d files are left", files)
	}
	if err := l.Record(t.Context(), event(approval.EventEnded, "after", policy.StateAutoApproved)); err != nil || len(r.all()) != 101 {
		t.Errorf("after the end: %d recorded, %v", len(r.all()), err)
	}
}

// together is full as one that records several events at once, all or none.
type together struct {
	*full
	bad   string        // the call whose events it does not take
	begin chan struct{} // closed when it may begin
	steps atomic.Int32
}

func (r *together) RecordFull(ctx context.Context, e approval.Event) error {
	r.steps.Add(1)
	if e.CallID == r.bad {
		return errors.New("not that one")
	}
	return r.full.RecordFull(ctx, e)
}

func (r *together) RecordAll(ctx context.Context, events ...approval.Event) error {
	<-r.begin
	r.steps.Add(1)
	if slices.ContainsFunc(events, func(e approval.Event) bool { return e.CallID == r.bad }) {
		return errors.New("not that one")
	}
	for _, e := range events {
		if err := r.full.RecordFull(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// Events that gather are recorded in one step and in their order.
func TestLaterRecordsTogetherWhatGathers(t *testing.T) {
	r := &together{full: newFull(), begin: make(chan struct{})}
	spool, _ := newSpool(t)
	l := gateway.NewLater(r, spool, func(err error) { t.Error(err) })
	var want []string
	for i := range 200 {
		want = append(want, strconv.Itoa(i))
		if err := l.Record(t.Context(), event(approval.EventEnded, want[i], policy.StateAutoApproved)); err != nil {
			t.Error(err)
		}
	}
	close(r.begin)
	l.Close()
	var got []string
	for _, e := range r.all() {
		got = append(got, e.CallID)
	}
	if !slices.Equal(got, want) || r.steps.Load() > 2 {
		t.Errorf("recorded %v in %d steps", got, r.steps.Load())
	}
}

// One event that cannot be recorded keeps none of the others out.
func TestLaterRecordsWhatStandsBesideABadEvent(t *testing.T) {
	r := &together{full: newFull(), bad: "b", begin: make(chan struct{})}
	close(r.begin)
	spool, _ := newSpool(t)
	l := gateway.NewLater(r, spool, func(error) {})
	for _, id := range []string{"a", "b", "c"} {
		if err := l.Record(t.Context(), event(approval.EventEnded, id, policy.StateAutoApproved)); err != nil {
			t.Error(err)
		}
	}
	if err := l.Record(t.Context(), event(approval.EventStarted, "d", policy.StateApproved)); err != nil {
		t.Errorf("what a person answered is refused: %v", err)
	}
	var got []string
	for _, e := range r.all() {
		got = append(got, e.CallID)
	}
	if !slices.Equal(got, []string{"a", "c", "d"}) {
		t.Errorf("recorded %v", got)
	}
	l.Close()
}

// What a person answered, what failed, and a start that cannot be spooled is in the store
// before anybody goes on.
func TestLaterWaitsForWhatMatters(t *testing.T) {
	r := newFull()
	spool, _ := newSpool(t)
	l := gateway.NewLater(r, spool, func(err error) { t.Error(err) })
	failed := event(approval.EventEnded, "b", policy.StateAutoApproved)
	failed.Stage = approval.StageFailed
	for i, e := range []approval.Event{event(approval.EventStarted, "a", policy.StateApproved), failed} {
		if err := l.Record(t.Context(), e); err != nil || len(r.all()) != i+1 {
			t.Errorf("%d recorded, %v", len(r.all()), err)
		}
	}
	l.Close()
	l = gateway.NewLater(r, nil, func(err error) { t.Error(err) })
	if err := l.Record(t.Context(), event(approval.EventStarted, "c", policy.StateAutoApproved)); err != nil || len(r.all()) != 3 {
		t.Errorf("without a spool: %d recorded, %v", len(r.all()), err)
	}
	l.Close()
}

// Once the store has failed nothing starts that it does not take.
func TestLaterRefusesWhenTheStoreHasFailed(t *testing.T) {
	r := newFull()
	broken := errors.New("full")
	r.fail.Store(&broken)
	told := make(chan error, 10)
	spool, _ := newSpool(t)
	l := gateway.NewLater(r, spool, func(err error) {
		select {
		case told <- err:
		default:
		}
	})
	if err := l.Record(t.Context(), event(approval.EventStarted, "a", policy.StateAutoApproved)); err != nil {
		t.Error(err)
	}
	if err := <-told; !errors.Is(err, broken) {
		t.Errorf("told %v", err)
	}
	refused := func() bool {
		return l.Record(t.Context(), event(approval.EventStarted, "b", policy.StateAutoApproved)) != nil
	}
	for !refused() { // what was told is noted a moment later
	}
	r.fail.Store(nil)
	if err := l.Record(t.Context(), event(approval.EventStarted, "c", policy.StateAutoApproved)); err != nil {
		t.Errorf("the store is well again, and refused is %v", err)
	}
	l.Close()
}

// A start that a dead program left behind is recorded once, without its arguments; those
// of a program that lives are left alone.
func TestStartsOfADeadProgramAreRecovered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	living, err := gateway.OpenSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer living.Close()
	line := `{"kind":"started","at":"2026-01-02T03:04:05Z","session":"s","call":"a","tool":"echo","state":"auto-approved","stage":"running"}` + "\n"
	dead := line + strings.ReplaceAll(line, `"a"`, `"b"`) + `{"kind":"sta`
	if err := os.WriteFile(filepath.Join(dir, "starts-dead"), []byte(dead), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newFull()
	known := event(approval.EventStarted, "b", policy.StateAutoApproved)
	known.At = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r.list = []approval.Event{known}
	for range 2 {
		if err := gateway.RecoverStarts(t.Context(), dir, r); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.all(); len(got) != 2 || got[1].CallID != "a" {
		t.Errorf("recorded are %v", got)
	}
	if _, files := spooled(t, dir); files != 2 {
		t.Errorf("%d files are left, want the two that are in use", files)
	}
}

// A start is in the spool before its call runs, and no argument is.
func TestAStartIsSpooledWithoutItsArguments(t *testing.T) {
	r := newFull()
	broken := errors.New("full")
	r.fail.Store(&broken)
	spool, dir := newSpool(t)
	l := gateway.NewLater(r, spool, func(error) {})
	defer l.Close()
	if err := l.Record(t.Context(), event(approval.EventStarted, "a", policy.StateAutoApproved)); err != nil {
		t.Fatal(err)
	}
	if text, _ := spooled(t, dir); !strings.Contains(text, `"call":"a"`) || strings.Contains(text, "hidden") {
		t.Errorf("spooled is %q", text)
	}
}
