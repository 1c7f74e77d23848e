package crew_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
)

// shelf is where a run is put aside in memory: its questions are answered by a test.
type shelf struct {
	saved   []byte
	answers map[string]approval.Decision // by the id of the request
}

func (s *shelf) Save(_ context.Context, data []byte) error {
	s.saved = data
	return nil
}

func (s *shelf) Collect(ctx context.Context, b *approval.Batch) error {
	for _, r := range b.Pending() {
		if d, ok := s.answers[r.ID]; ok {
			if err := b.Resolve(ctx, d); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *shelf) Post(context.Context, *approval.Batch) error { return nil }

// later runs or resumes the lead in a new crew, as another process would, and returns what
// it waits for.
func (tm *team) later(s *shelf) (worker.Round, []*approval.Request, error) {
	tm.t.Helper()
	next := newTeam(tm.t, nil)
	next.dir, next.models, next.heard = tm.dir, tm.models, tm.heard
	next.Folders, next.Store = tm.Folders, s
	run := next.lead()
	var err error
	var round worker.Round
	if s.saved == nil {
		round, err = run.Say(tm.t.Context(), worker.Message{Text: "Go on."})
	} else {
		round, err = run.Resume(tm.t.Context(), s.saved)
	}
	var paused *worker.PausedError
	if errors.As(err, &paused) {
		return round, paused.Pending, nil
	}
	return round, nil, err
}

// lead opens the lead, until the test ends, and returns its run.
func (tm *team) lead() *worker.Run {
	tm.t.Helper()
	m := tm.member("lead.worker")
	tm.t.Cleanup(func() { m.Close() })
	run, err := m.Run(tm.t.Context())
	if err != nil {
		tm.t.Fatal(err)
	}
	return run
}

// laterTeam is a lead that hands a file to a helper, which changes that file and asks.
func laterTeam(t *testing.T) *team {
	t.Helper()
	tm := newTeam(t, map[string]string{
		"lead.worker":           "---\nsandbox: {paths: {docs: {mode: rw, approval: {read: ask, write: allow}}}}\nallow_workers: [helper]\n---\n",
		"workers/helper.worker": "---\nsandbox: {paths: {docs: {root: ../docs, mode: rw, approval: {write: allow, delete: ask}}}}\n---\n",
		"docs/a.md":             "a\n",
	})
	tm.models["lead"] = []worker.Turn{{Calls: []worker.Call{
		call("go", "worker_call", args{"worker": "helper", "input": "Go on.", "attachments": []string{"docs/a.md"}}),
	}, Usage: worker.Usage{Input: 1}}}
	tm.models["helper"] = []worker.Turn{
		{Calls: []worker.Call{call("w", "write_file", args{"path": "docs/a.md", "content": "changed\n"})}, Usage: worker.Usage{Input: 10}},
		{Calls: []worker.Call{call("d", "delete_file", args{"path": "docs/a.md"})}, Usage: worker.Usage{Input: 10}},
	}
	return tm
}

// yes approves all of the requests.
func yes(s *shelf, requests []*approval.Request) (summaries []string) {
	for _, r := range requests {
		s.answers[r.ID] = r.Approve("")
		summaries = append(summaries, strings.Join(r.Call.Workers, ">")+": "+r.Summary)
	}
	return summaries
}

// A worker that was called waits for a person, is put aside with its caller, and goes on in
// another process where it was: it is told its message once, and the file that it was handed
// is the one that it was handed.
func TestACalledWorkerIsPutAsideWithItsCaller(t *testing.T) {
	tm, s := laterTeam(t), &shelf{answers: map[string]approval.Decision{}}
	var asked []string
	var round worker.Round
	for range 3 {
		var pending []*approval.Request
		var err error
		if round, pending, err = tm.later(s); err != nil {
			t.Fatal(err)
		}
		if len(pending) == 0 {
			break
		}
		asked = append(asked, yes(s, pending)...)
	}
	want := "lead: Share docs/a.md (2 bytes) with helper | lead: Call worker helper with 1 attachment | lead>helper: Delete docs/a.md"
	if got := strings.Join(asked, " | "); !strings.HasPrefix(got, want) {
		t.Errorf("asked %s\nwant  %s", got, want)
	}
	heard := tm.heard["helper"]
	if len(heard) != 1 || string(heard[0].Attachments[0].Data) != "a\n" {
		t.Errorf("the helper heard %+v", heard)
	}
	wants(t, round.Steps[0].Results[0], policy.StateApproved, "helper is done.")
}

// A worker whose file is another by now is not what was agreed to: the call is cancelled.
func TestACalledWorkerThatIsAnotherNowIsCancelled(t *testing.T) {
	tm, s := laterTeam(t), &shelf{answers: map[string]approval.Decision{}}
	for range 2 {
		_, pending, err := tm.later(s)
		if err != nil {
			t.Fatal(err)
		}
		yes(s, pending)
	}
	tm.put("workers/helper.worker", "---\nsandbox: {paths: {docs: {root: ../docs, mode: rw, approval: {delete: allow}}}}\n---\n")
	round, pending, err := tm.later(s)
	if err != nil || len(pending) > 0 {
		t.Fatalf("%v, pending %v", err, pending)
	}
	wants(t, round.Steps[0].Results[0], policy.StateApproved, "[CANCELLED]")
	if round.Steps[0].Results[0].Stage != approval.StageCancelled {
		t.Errorf("stage %s", round.Steps[0].Results[0].Stage)
	}
}

// The limit of tokens is for the worker and all that it calls.
func TestTokensOfCalledWorkersCount(t *testing.T) {
	tm := laterTeam(t)
	tm.Limits.Tokens = 15
	run := tm.lead()
	round, err := run.Say(t.Context(), worker.Message{Text: "Go on."})
	if !errors.Is(err, worker.ErrLimit) || run.Usage().Input != 21 {
		t.Errorf("%v, used %+v", err, run.Usage())
	}
	wants(t, round.Steps[0].Results[0], policy.StateApproved, "[FAILED]", "limit of 15 tokens: 21 are used")
}
