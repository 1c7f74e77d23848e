//go:build teame2e && linux

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/internal/team/db"
)

// A fault is something that goes wrong. Break makes it so, on a machine if it is one's; heal mends it.
type fault struct {
	name  string
	spoil func(s *stage, m *machine)
	heal  func(s *stage, m *machine)
	// full says that calls on that machine may be refused meanwhile.
	full bool
}

const killedGate = "a gate killed"

var faults = []fault{
	{name: "PostgreSQL killed", spoil: func(s *stage, _ *machine) { s.pg.Kill() }, heal: func(s *stage, _ *machine) { s.pg.Restart() }},
	{name: "a replica killed", spoil: func(s *stage, m *machine) { s.replicas[m.n%2].kill() },
		heal: func(s *stage, m *machine) { s.must(s.replicas[m.n%2].start()) }},
	{name: "a partition", spoil: func(s *stage, m *machine) { s.link(m, "down") }, heal: func(s *stage, m *machine) { s.link(m, "up") }},
	{name: "a bridge killed", spoil: func(_ *stage, m *machine) { m.bridge.kill() }, heal: func(s *stage, m *machine) { s.must(m.bridge.start()) }},
	{name: killedGate, spoil: func(s *stage, m *machine) { s.gateOn(m).kill() }, heal: func(s *stage, m *machine) { s.must(s.gateOn(m).start()) }},
	{name: "a slow disk", spoil: func(s *stage, _ *machine) { s.slow() }, heal: func(s *stage, _ *machine) { s.quick() }},
	{name: "a disk that does not answer", spoil: func(s *stage, _ *machine) { s.signalPostgres(syscall.SIGSTOP) },
		heal: func(s *stage, _ *machine) { s.signalPostgres(syscall.SIGCONT) }},
	{name: "a full disk of a machine", full: true, spoil: func(s *stage, m *machine) { s.fill(m.state) }, heal: func(s *stage, m *machine) { s.free(m.state) }},
	{name: "a full disk of the database", spoil: func(s *stage, _ *machine) { s.fill(s.disk()) },
		heal: func(s *stage, _ *machine) {
			s.free(s.disk())
			s.pg.Restart() // it may have given up
		}},
}

// Whatever goes wrong, no question is lost, no call runs twice, none without two votes, and the logs stay whole. One gate
// has a clock that is ten minutes ahead, another one that is as much behind.
func TestChaos(t *testing.T) {
	var pg pgtest.Options
	s := newStage(t, &pg, func(s *stage) {
		s.must(os.Mkdir(s.disk(), 0o755))
		s.Cleanup(func() { _ = os.Remove(s.disk()) })
		s.tmpfs(s.disk(), "600m", "1777")
		pg = pgtest.Options{Durable: true, Dir: s.disk(), Env: s.slowDisk(),
			Settings: map[string]string{"max_wal_size": "64MB", "min_wal_size": "32MB"}}
		for _, m := range s.machines {
			s.tmpfs(m.state, "64m", "0700")
		}
	})
	for i := range 6 {
		s.gate(s.machines[i%3], fmt.Sprintf("g%d", i), true, []time.Duration{0, 0, 0, 10 * time.Minute, -10 * time.Minute, 0}[i])
	}
	s.vote()
	known := map[string]ran{}
	var all []string
	refused := 0
	for round := range rounds.N(27, 200) {
		f, m := faults[round%len(faults)], s.machines[rand.N(len(s.machines))]
		var deploys, looks []string
		call := func(g *gate, tool string) {
			id := fmt.Sprintf("r%03d-%s-%s-%d", round, tool, g.name, len(deploys)+len(looks))
			if tool == toolDeploy {
				deploys = append(deploys, id)
			} else {
				looks = append(looks, id)
			}
			g.call(tool, id)
		}
		for _, g := range s.gates {
			call(g, toolDeploy)
		}
		if f.name == killedGate { // what a gate never read is not its call
			s.eventually("the gate has its call", func() bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.taken[deploys[slices.Index(s.gates, s.gateOn(m))]]
			})
		}
		wait(t.Context(), rand.N(40*time.Millisecond))
		f.spoil(s, m)
		for _, g := range s.gates {
			if f.name == killedGate && g == s.gateOn(m) {
				continue
			}
			call(g, toolDeploy)
			if !f.full || g.on != m {
				call(g, toolLook)
			}
		}
		s.awaitEnds(patience, looks...) // needs nobody, and goes on
		wait(t.Context(), rand.N(500*time.Millisecond))
		f.heal(s, m)
		s.awaitEnds(patience, deploys...)
		s.shipped()
		s.onceWithTally(known)
		for _, id := range append(deploys, looks...) {
			end, run := s.ends[id], known[id]
			switch {
			case run.Call != "" && end.State.Runs():
			case run.Call != "":
				t.Errorf("round %d, %s: call %s ran, and is %+v", round, f.name, id, end)
			case end.Why == "":
				t.Errorf("round %d, %s: call %s did not run, and nobody says why: %+v", round, f.name, id, end)
			default:
				refused++
				t.Logf("round %d, %s: %s did not run: %s", round, f.name, id, end.Why)
				if slices.Contains(looks, id) {
					t.Errorf("round %d, %s: what needs nobody did not run", round, f.name)
				}
			}
		}
		all = append(all, slices.Concat(deploys, looks)...)
		if t.Failed() {
			t.Fatalf("round %d: %s", round, f.name)
		}
	}
	s.eventually("nothing is open at the server", func() bool {
		open, _, err := s.db.OpenFor(context.Background(), s.signed.People[1].ID, []string{"sre"}, db.Page{})
		return err == nil && len(open) == 0
	})
	t.Logf("%d calls, %d ran once, %d were refused with a reason; %d records are the same here and there", len(all), len(known), refused, s.sameLog())
}

// disk is where the database lies: not below a folder that only root may enter.
func (s *stage) disk() string { return filepath.Join(os.TempDir(), s.name) }

// gateOn is a gate of the machine.
func (s *stage) gateOn(m *machine) *gate {
	return s.gates[slices.IndexFunc(s.gates, func(g *gate) bool { return g.on == m })]
}

// tmpfs has a folder on a small file system of its own.
func (s *stage) tmpfs(folder, size, mode string) {
	s.Helper()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size+",mode="+mode, "tmpfs", folder).CombinedOutput(); err != nil {
		s.Fatalf("mount %s: %v: %s", folder, err, out)
	}
	s.Cleanup(func() {
		if out, err := exec.Command("umount", folder).CombinedOutput(); err != nil {
			s.Errorf("umount %s: %v: %s", folder, err, out)
		}
	})
}

// fill leaves nothing of a file system.
func (s *stage) fill(folder string) {
	s.Helper()
	f, err := os.Create(filepath.Join(folder, "filling"))
	s.must(err)
	defer f.Close()
	for size := 1 << 20; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
}

func (s *stage) free(folder string) {
	s.Helper()
	s.must(os.Remove(filepath.Join(folder, "filling")))
}

// signalPostgres stops the processes of the database, or has them go on: as if its disk did not answer.
func (s *stage) signalPostgres(signal syscall.Signal) {
	s.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cwd")
	s.must(err)
	for _, cwd := range all {
		to, err := os.Readlink(cwd)
		var pid int
		if err == nil && strings.HasPrefix(to, s.disk()) {
			if _, err := fmt.Sscanf(cwd, "/proc/%d/cwd", &pid); err == nil && strings.HasSuffix(to, "/data") {
				_ = syscall.Kill(pid, signal)
			}
		}
	}
}
