//go:build teame2e && linux

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/policy"
)

// 32 gates on three machines ask, eight people answer, two of them for each request: every request is settled once, every
// call runs once, and soon after the second vote. The calls come at a steady pace that leaves the processors time, so that
// what is measured is the way of an answer and not the queue of a small machine.
func TestMuster(t *testing.T) {
	requests, pace := rounds.N(300, 10_000), time.Second/10
	s := newStage(t, &pgtest.Options{Durable: true}, nil)
	for i := range 32 {
		s.gate(s.machines[i%3], fmt.Sprintf("g%02d", i), false, 0)
	}
	s.vote()
	calls := make([]string, requests)
	began, used := time.Now(), idle(t)
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for i := range calls {
		calls[i] = fmt.Sprintf("c%05d", i)
		s.gates[i%len(s.gates)].call(toolDeploy, calls[i])
		<-tick.C
	}
	s.awaitEnds(patience, calls...)
	took := time.Since(began)
	t.Logf("%d requests in %v; the processors were idle %.0f %% of the time", requests, took.Round(time.Millisecond), 100*(idle(t)-used)/took.Seconds()/processors(t))

	known := map[string]ran{}
	s.onceWithTally(known)
	if len(known) != requests {
		t.Errorf("%d calls ran, of %d", len(known), requests)
	}
	var after, whole []time.Duration
	for id, r := range known {
		end := s.ends[id]
		if end.State != policy.StateApproved || end.Stage != approval.StageCompleted || end.Request != r.Request {
			t.Errorf("%s: %+v", id, end)
		}
		s.mu.Lock()
		settled, told := s.settled[r.Request], s.told[r.Request]
		s.mu.Unlock()
		if settled.IsZero() {
			t.Errorf("request %s was settled by no vote", r.Request)
			continue
		}
		at := time.Unix(0, r.At)
		after, whole = append(after, at.Sub(settled)), append(whole, at.Sub(told))
	}
	s.recordedOnce(requests)
	records := s.sameLog()
	if len(after) == 0 {
		t.Fatal("nothing ran")
	}
	p50, p99 := at(after, 50), at(after, 99)
	t.Logf("second vote accepted until the call runs: p50 %v, p90 %v, p99 %v, most %v", p50, at(after, 90), p99, at(after, 100))
	t.Logf("second vote sent until the call runs: p50 %v, p99 %v; %d records shipped", at(whole, 50), at(whole, 99), records)
	limit50, limit99 := 15*time.Millisecond, 50*time.Millisecond
	if requests < 10_000 { // on every change other tests run beside it
		limit50, limit99 = time.Second, 10*time.Second
	}
	if p50 > limit50 || p99 > limit99 {
		t.Errorf("p50 %v and p99 %v; they may be %v and %v", p50, p99, limit50, limit99)
	}
}

// at is a percentile.
func at(all []time.Duration, percent int) time.Duration {
	slices.Sort(all)
	return all[min(len(all)*percent/100, len(all)-1)].Round(10 * time.Microsecond)
}

// recordedOnce checks that the logs have one start and one end for each call, and two votes.
func (s *stage) recordedOnce(calls int) {
	s.Helper()
	starts, ends := map[string]int{}, map[string]int{}
	for _, m := range s.machines {
		for r, err := range m.store.Records(s.Context(), approval.RecordFilter{}) {
			s.must(err)
			switch r.Kind {
			case approval.EventStarted:
				starts[r.CallID]++
			case approval.EventEnded:
				ends[r.CallID]++
				if len(r.Votes) != 2 {
					s.Errorf("call %s: %d votes are recorded", r.CallID, len(r.Votes))
				}
			}
		}
	}
	if len(starts) != calls || len(ends) != calls {
		s.Errorf("%d starts and %d ends are recorded of %d calls", len(starts), len(ends), calls)
	}
	for id := range starts {
		if starts[id] != 1 || ends[id] != 1 {
			s.Errorf("call %s: %d starts, %d ends", id, starts[id], ends[id])
		}
	}
	open, _, err := s.db.OpenFor(s.Context(), s.signed.People[1].ID, []string{"sre"}, db.Page{})
	if s.must(err); len(open) > 0 {
		s.Errorf("%d requests are open at the server", len(open))
	}
}

// idle is for how many seconds the processors have been idle, all together.
func idle(t *testing.T) float64 {
	t.Helper()
	var name string
	var user, nice, system, idle float64
	data, err := os.ReadFile("/proc/stat")
	if err == nil {
		_, err = fmt.Sscan(string(data), &name, &user, &nice, &system, &idle)
	}
	if err != nil {
		t.Fatal(err)
	}
	return idle / 100
}

func processors(t *testing.T) float64 {
	t.Helper()
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	return float64(strings.Count(string(data), "\ncpu"))
}
