//go:build all && teame2e && linux

package server_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/wire"
)

// many lets many machines join at once.
func (f *team) many(n int) []gate {
	f.Helper()
	const at = 8
	var done sync.WaitGroup
	parts := make([][]gate, at)
	for i := range parts {
		done.Go(func() { parts[i] = f.gates((n + at - 1) / at) })
	}
	done.Wait()
	var out []gate
	for _, p := range parts {
		out = append(out, p...)
	}
	return out[:n]
}

// resident is the memory of a process, in bytes.
func resident(t testing.TB, cmd *exec.Cmd) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kb, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}

// hold lets a machine wait at the replica, over a connection of its own, with next to no memory here.
func (r *replica) hold(g gate) (net.Conn, error) {
	address := strings.SplitN(r.url, "//", 2)[1]
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	if r.tls {
		secure := tls.Client(c, &tls.Config{RootCAs: r.pool, ServerName: "localhost"})
		if err := secure.Handshake(); err != nil {
			return nil, err
		}
		c = secure
	}
	return c, r.wait(c, g)
}

// wait says over a connection that a machine without a bundle waits.
func (r *replica) wait(c net.Conn, g gate) error {
	q, err := http.NewRequest("GET", r.url+"/gate/v1/wait?after=0&serial=0", nil)
	if err != nil {
		return err
	}
	wire.SignCall(q, nil, g.id, g.key, time.Now())
	return q.Write(c)
}

// held has machines wait at a replica in a process of its own, and returns how much it grew for each, and its memory.
func held(t testing.TB, f *team, n int) (each, all int64) {
	machines := f.many(n)
	r, cmd := f.process()
	r.join()
	before := resident(t, cmd)
	conns := make([]net.Conn, n)
	var done, again sync.WaitGroup
	for part := range 8 {
		done.Go(func() {
			for i := part; i < n; i += 8 {
				c, err := r.hold(machines[i])
				if err != nil {
					t.Error(err)
					return
				}
				conns[i] = c
				again.Go(func() { r.waitOn(c, machines[i]) })
			}
		})
	}
	done.Wait()
	most := 0
	eventually(t, "all wait", func() bool {
		_, rest, _ := strings.Cut(r.scrape(), "\nassent_waiting_machines ")
		number, _, _ := strings.Cut(rest, "\n")
		now, _ := strconv.Atoi(number)
		most = max(most, now)
		return most >= n-n/100 // some are just between two calls
	})
	all = resident(t, cmd)
	f.must(cmd.Process.Kill())
	for _, c := range conns {
		if c != nil {
			c.Close()
		}
	}
	again.Wait()
	return (all - before) / int64(n), all
}

// waitOn waits again as soon as a wait has ended, until the connection does.
func (r *replica) waitOn(c net.Conn, g gate) {
	in := bufio.NewReaderSize(c, 512)
	for {
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || r.wait(c, g) != nil {
			return
		}
	}
}

// Ten thousand machines must fit into 500 MB, over TLS; a thousand show how much each takes.
func TestMemoryOfWaitingMachines(t *testing.T) {
	machines := rounds.N(1000, 10_000)
	each, all := held(t, newTeam(t), machines)
	t.Logf("%d waiting machines: %d bytes for each, %d MB in all", machines, each, all>>20)
	if each > 48_000 {
		t.Errorf("a waiting machine takes %d bytes", each)
	}
	if all > 500<<20 {
		t.Errorf("the server takes %d MB for %d waiting machines", all>>20, machines)
	}
}

func BenchmarkWaiting(b *testing.B) {
	for _, secure := range []bool{true, false} {
		b.Run(fmt.Sprintf("tls=%v", secure), func(b *testing.B) {
			for b.Loop() {
				f := newTeam(b)
				f.tls = secure
				each, all := held(b, f, 10_000)
				b.ReportMetric(float64(each), "bytes/machine")
				b.ReportMetric(float64(all)/(1<<20), "MB")
			}
		})
	}
}

// A bundle of 10,000 rules reaches 1,000 waiting machines.
func TestBundleReachesAll(t *testing.T) {
	const machines, rules = 1000, 10_000
	f := newTeam(t)
	all := f.many(machines)
	r, _ := f.process()
	if status, said := r.publish(f.bundle(1)); status != 200 {
		t.Fatalf("publish: %d %s", status, said)
	}
	var policy strings.Builder
	policy.WriteString("version: 1\nrules:\n")
	for i := range rules {
		fmt.Fprintf(&policy, "  - allow shell(kubectl get pods --namespace team-%05d *)\n", i)
	}
	big := f.bundleWith(2, func(b *bundle.Bundle) { b.Policy = policy.String() })
	want := sha256.Sum256(big)
	var published time.Time
	var slowest atomic.Int64
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	for _, g := range all {
		ready.Add(1)
		done.Go(func() {
			c, err := r.hold(g)
			if err != nil {
				t.Error(err)
				ready.Done()
				return
			}
			defer c.Close()
			in := bufio.NewReader(c)
			ready.Done()
			<-begin
			// The first wait ends at once, because it says that it has no bundle.
			for _, path := range []string{"/gate/v1/wait?after=0&serial=1", "/gate/v1/bundle", ""} {
				answer, err := http.ReadResponse(in, nil)
				if err != nil || answer.StatusCode != 200 {
					t.Errorf("%v %v", answer, err)
					return
				}
				sum := sha256.New()
				if _, err := io.Copy(sum, answer.Body); err != nil {
					t.Error(err)
					return
				}
				if path == "" {
					if [32]byte(sum.Sum(nil)) != want {
						t.Error("another bundle came")
					}
					break
				}
				q, err := http.NewRequest("GET", r.url+path, nil)
				if err != nil {
					t.Error(err)
					return
				}
				wire.SignCall(q, nil, g.id, g.key, time.Now())
				if err := q.Write(c); err != nil {
					t.Error(err)
					return
				}
			}
			took := int64(time.Since(published))
			for {
				old := slowest.Load()
				if took <= old || slowest.CompareAndSwap(old, took) {
					return
				}
			}
		})
	}
	ready.Wait()
	close(begin)
	eventually(t, "all wait", func() bool {
		return strings.Contains(r.scrape(), fmt.Sprintf("assent_waiting_machines %d\n", machines))
	})
	published = time.Now()
	if status, said := r.publish(big); status != 200 {
		t.Fatalf("publish: %d %s", status, said)
	}
	done.Wait()
	t.Logf("a bundle of %d bytes was at %d machines after %v", len(big), machines, time.Duration(slowest.Load()))
	most := 10 * time.Second // on a busy machine
	if full() {
		most = 5 * time.Second
	}
	if took := time.Duration(slowest.Load()); took > most {
		t.Errorf("it took %v", took)
	}
}

// full reports whether the machine has nothing else to do: then the aims themselves must be met.
func full() bool { return os.Getenv(rounds.Variable) == "full" }

// Records of 256 machines come in through the server at half of the speed of direct inserts, or more. Two cores make the load
// as well: beside other work the ratio varies, and less than a third is a mistake.
func TestAuditIntake(t *testing.T) {
	ratio, text := intake(t, 3*time.Second)
	t.Log(text)
	least := 0.33
	if full() {
		least = 0.5
	}
	if ratio < least {
		t.Errorf("the server is too slow: %s", text)
	}
}

// intake measures both in turn, twice, on a server that writes to disk.
func intake(t testing.TB, lasts time.Duration) (ratio float64, text string) {
	const machines, rows = 256, 20
	f := teamOn(t, pgtest.Start(t, pgtest.Options{Durable: true}).DSN())
	all := f.many(machines)
	r, _ := f.process()
	var through, direct float64
	for range 2 {
		direct += f.direct(machines, rows, lasts)
		through += f.ship(r, all, rows, lasts)
		for i := range all { // the next round has logs of its own
			all[i] = f.gates(1)[0]
		}
	}
	return through / direct, fmt.Sprintf("%.0f rows/s through the server, %.0f rows/s inserted directly: ratio %.2f", through/2, direct/2, through/direct)
}

// ship sends logs of all machines at once, and returns how many records were acknowledged each second.
func (f *team) ship(r *replica, all []gate, rows int, lasts time.Duration) float64 {
	var n atomic.Int64
	var began time.Time
	var ready, done sync.WaitGroup
	begin := make(chan struct{})
	for _, g := range all {
		ready.Add(1)
		done.Go(func() {
			at, prev := int64(0), make([]byte, sha256.Size)
			send := func() (kept wire.Kept) {
				if err := r.send("POST", "/gate/v1/audit", g, records("log", at, prev, rows), &kept); err != nil {
					f.Error(err)
				}
				return kept
			}
			kept := send() // connects, and makes the log
			ready.Done()
			<-begin
			for time.Since(began) < lasts && !f.Failed() {
				at, prev = kept.Seq, kept.Hash
				kept = send()
				n.Add(int64(rows))
			}
		})
	}
	ready.Wait()
	began = time.Now()
	close(begin)
	done.Wait()
	return float64(n.Load()) / time.Since(began).Seconds()
}

// direct inserts the same rows without a server: as many chains, as many rows a commit.
func (f *team) direct(chains, rows int, lasts time.Duration) float64 {
	f.Helper()
	ctx := context.Background()
	cfg, err := pgxpool.ParseConfig(f.dsn)
	f.must(err)
	cfg.MaxConns = 16 // as many as the server opens
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	f.must(err)
	defer pool.Close()
	_, err = pool.Exec(ctx, `DROP TABLE IF EXISTS direct; CREATE TABLE direct (LIKE team.events INCLUDING ALL)`)
	f.must(err)
	var n atomic.Int64
	began := time.Now()
	var done sync.WaitGroup
	for chain := range chains {
		done.Go(func() {
			at, prev := int64(0), make([]byte, sha256.Size)
			for time.Since(began) < lasts {
				batch := records("log", at, prev, rows)
				var seqs []int64
				var prevs, hashes, bodies [][]byte
				for _, r := range batch.Rows {
					seqs, prevs, hashes, bodies = append(seqs, r.Seq), append(prevs, r.Prev), append(hashes, r.Hash), append(bodies, r.Body)
				}
				_, err := pool.Exec(ctx, `INSERT INTO direct (tenant, gate, stream, seq, prev, hash, numbers, texts, body)
					SELECT 'acme', $1, 'log', seq, prev, hash, '{1,2}', '{ended,s1}', body
					FROM unnest($2::bigint[], $3::bytea[], $4::bytea[], $5::bytea[]) AS u (seq, prev, hash, body)`,
					fmt.Sprint("g", chain), seqs, prevs, hashes, bodies)
				if err != nil {
					f.Error(err)
					return
				}
				at, prev = batch.Rows[rows-1].Seq, batch.Rows[rows-1].Hash
				n.Add(int64(rows))
			}
		})
	}
	done.Wait()
	return float64(n.Load()) / time.Since(began).Seconds()
}
