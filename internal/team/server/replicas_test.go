//go:build all && linux

package server_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/internal/team/server"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
)

// serveRole is a replica in a process of its own. Its log says where it listens.
func serveRole(args []string) error {
	cfg, err := server.ReadConfig(args[0])
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return server.Run(ctx, server.Options{Config: cfg, Log: slog.New(slog.NewJSONHandler(os.Stdout, nil))})
}

// process starts a replica that can be killed.
func (f *team) process() (*replica, *exec.Cmd) {
	f.Helper()
	cmd := reexec.Command("serve", f.file())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	f.must(err)
	f.must(cmd.Start())
	f.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	log := json.NewDecoder(out)
	for {
		var said struct{ Msg, Address, Metrics string }
		f.must(log.Decode(&said))
		if said.Msg == "serving" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return f.replica(said.Address, said.Metrics), cmd
		}
	}
}

// What comes in at one replica is heard of at the other.
func TestTwoReplicas(t *testing.T) {
	f := newTeam(t)
	one, two := f.serve(), f.serve()
	g := one.join()
	if status, said := one.publish(f.bundle(1, g)); status != 200 {
		t.Fatalf("%d %s", status, said)
	}
	var news wire.News
	if two.do("GET", "/gate/v1/wait?after=0&serial=0", g, nil, &news); news.Serial != 1 {
		t.Errorf("%+v", news)
	}
	got := make(chan wire.News)
	go func() {
		var news wire.News
		two.do("GET", "/gate/v1/wait?after=0&serial=1", g, nil, &news)
		got <- news
	}()
	eventually(t, "the machine waits", func() bool { return strings.Contains(two.scrape(), "assent_waiting_machines 1\n") })
	id, _ := one.ask(g, f.question(g, func(q *approval.Request) { q.Routing.Need.Expires = time.Millisecond }))
	if news := <-got; len(news.Answers) != 1 || news.Answers[0].Request != id || news.Answers[0].State != policy.StateExpired {
		t.Errorf("%+v", news)
	}
	// A key that ends at one ends at the other.
	if status := one.do("POST", "/gate/v1/leave", g, struct{}{}, nil); status != 200 {
		t.Fatal(status)
	}
	eventually(t, "the key has ended", func() bool {
		return two.do("GET", "/gate/v1/bundle", g, nil, nil) == 403
	})
	// A row that somebody wrote without the team's key is not a bundle for anybody.
	if _, err := f.db.Publish(t.Context(), []byte("forged"), func(note []byte) (int64, error) {
		if string(note) == "forged" {
			return 2, nil
		}
		return f.opens(note)
	}); err != nil {
		t.Fatal(err)
	}
	three := f.serve()
	h := two.join()
	if status, header, _ := three.call("GET", "/gate/v1/bundle", h, nil); status != 200 || header.Get("ETag") != `"1"` {
		t.Errorf("%d %v", status, header)
	}
}

// A replica is killed while machines ship their logs and ask: what was acknowledged is there, once, and the
// other replica goes on.
func TestKilledReplica(t *testing.T) {
	f := newTeam(t)
	stays, _ := f.process()
	const machines, batches, rows = 8, 20, 10
	all := f.gates(machines)
	var acknowledged, asked sync.Map
	for round := range 3 {
		dies, cmd := f.process()
		var shipped atomic.Int64
		var done sync.WaitGroup
		for i, g := range all {
			stream := fmt.Sprint("log", round)
			done.Go(func() {
				at, prev := int64(0), make([]byte, sha256.Size)
				for n := range batches {
					batch := records(stream, at, prev, rows)
					question := f.question(g)
					r := dies
					for {
						kept, ok := f.try(r, g, batch, question, &asked)
						if ok {
							at, prev = kept.Seq, kept.Hash
							break
						}
						r = stays // it was killed
					}
					acknowledged.Store(g.id+stream, at)
					if i == 0 && n == batches/2 {
						_ = cmd.Process.Kill()
					}
					shipped.Add(1)
				}
			})
		}
		done.Wait()
		if n := shipped.Load(); n != machines*batches {
			t.Errorf("%d batches", n)
		}
	}
	for _, g := range all {
		for round := range 3 {
			stream := fmt.Sprint("log", round)
			want, _ := acknowledged.Load(g.id + stream)
			v, err := f.db.VerifyStream(t.Context(), g.id, stream)
			if err != nil || !v.OK() || v.Head.Seq != batches*rows || want != int64(batches*rows) || v.Records != batches*rows {
				t.Errorf("%s %s: %+v %v", g.id, stream, v, err)
			}
		}
	}
	asked.Range(func(id, _ any) bool {
		if q, err := f.db.Request(t.Context(), id.(string)); err != nil || q.State != policy.StatePending {
			t.Errorf("question %s: %v %v", id, q.State, err)
		}
		return true
	})
}

// try ships a batch and asks a question; false if the replica is away.
func (f *team) try(r *replica, g gate, batch wire.Records, q wire.Signed, asked *sync.Map) (kept wire.Kept, ok bool) {
	if err := r.send("POST", "/gate/v1/audit", g, batch, &kept); err != nil {
		return kept, false
	}
	var taken wire.Taken
	if err := r.send("POST", "/gate/v1/requests", g, []wire.Signed{q}, &taken); err != nil {
		return kept, false
	}
	for _, id := range taken.Requests {
		asked.Store(id, true)
	}
	return kept, true
}

// A replica that is asked to end finishes what runs and ends well.
func TestTermination(t *testing.T) {
	f := newTeam(t)
	r, cmd := f.process()
	g := r.join()
	done := make(chan int)
	go func() { done <- r.do("GET", "/gate/v1/wait", g, nil, nil) }()
	eventually(t, "the machine waits", func() bool { return strings.Contains(r.scrape(), "assent_waiting_machines 1\n") })
	f.must(cmd.Process.Signal(syscall.SIGTERM))
	if status := <-done; status != 200 {
		t.Errorf("who waited was told %d", status)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
