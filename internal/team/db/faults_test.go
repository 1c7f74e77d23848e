//go:build all && linux

package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
)

// PostgreSQL is killed while people vote and machines send their logs: what was acknowledged is there, and
// what is tried again happens once.
func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	server := pgtest.Start(t, pgtest.Options{Durable: true})
	dsn := server.DSN()
	m, d := newTeam(), open(t, dsn)
	for _, id := range []string{"p_bob", "p_cem"} {
		m.person(id, "sre")
	}
	g := m.join(t, d, sponsor(t, d))
	const requests = 60
	var asked []db.Request
	for i := range requests {
		asked = append(asked, m.ask(t, d, g, fmt.Sprintf("r%02d", i), need(2)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	// persist tries until it works, as a machine or a page would.
	persist := func(f func() error) {
		for ctx.Err() == nil {
			if f() == nil {
				return
			}
		}
		t.Error("it never worked again")
	}
	half := make(chan struct{})
	var all sync.WaitGroup
	var mu sync.Mutex
	settled := map[string]bool{}
	for _, who := range []string{"p_bob", "p_cem"} {
		all.Go(func() {
			for i, r := range asked {
				if i == requests/2 && who == "p_bob" {
					close(half)
				}
				b := m.vote(t, who, r, r.Approve(""))
				persist(func() error {
					out, err := d.Vote(ctx, r.ID, b, m.court())
					if err == nil && out.State == policy.StateApproved {
						mu.Lock()
						settled[r.ID] = true
						mu.Unlock()
					}
					if errors.Is(err, db.ErrVoid) || errors.Is(err, db.ErrSettled) {
						t.Error(err)
						return nil
					}
					return err
				})
			}
		})
	}
	whole := chained("log", 0, zero, 2000)
	all.Go(func() {
		for rows := range slices.Chunk(whole.Rows, 20) {
			persist(func() error {
				kept, err := d.Append(ctx, g.ID, wire.Records{Stream: "log", Rows: rows})
				if errors.Is(err, db.ErrGap) || errors.Is(err, db.ErrFork) || err == nil && kept.Seq != rows[len(rows)-1].Seq {
					t.Errorf("%+v, %v", kept, err)
					return nil
				}
				return err
			})
		}
	})
	<-half
	server.Kill()
	server.Restart()
	all.Wait()
	answers := map[string]int{}
	news, err := d.NewsFor(ctx, g.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range news.Answers {
		answers[a.Request]++
	}
	for _, r := range asked {
		if !settled[r.ID] || answers[r.ID] != 1 {
			t.Errorf("%s: settled %v, answered %d times", r.ID, settled[r.ID], answers[r.ID])
		}
	}
	if v, err := d.VerifyStream(ctx, g.ID, "log"); err != nil || !v.OK() || v.Records != 2000 {
		t.Errorf("%+v, %v", v, err)
	}
}

// await reads changes until one is what is waited for.
func await(t *testing.T, changes <-chan db.Changes, what string, enough func(db.Changes) bool) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		select {
		case c := <-changes:
			if enough(c) {
				return
			}
		case <-limit:
			t.Fatalf("nobody was told of %s", what)
		}
	}
}

func watch(t *testing.T, d *db.DB) <-chan db.Changes {
	ctx, cancel := context.WithCancel(context.Background())
	changes := make(chan db.Changes, 1000)
	var ends sync.WaitGroup
	ends.Go(func() { d.Watch(ctx, func(c db.Changes) { changes <- c }) })
	t.Cleanup(func() { cancel(); ends.Wait() })
	return changes
}

func TestReplicasWakeEachOther(t *testing.T) {
	m, d, g, dsn := fixture(t)
	replica := open(t, dsn)
	changes := watch(t, replica)
	await(t, changes, "the beginning", func(c db.Changes) bool { return c.AnyGate && c.AnyRequest })
	await(t, changes, "anything while it begins to listen", func(db.Changes) bool { return replica.Listens() })
	r := m.ask(t, d, g, "r1", need(1))
	await(t, changes, "a request", func(c db.Changes) bool { return slices.Contains(c.Requests, "r1") })
	if _, err := d.Vote(t.Context(), "r1", m.vote(t, "p_bob", r, r.Approve("")), m.court()); err != nil {
		t.Fatal(err)
	}
	await(t, changes, "news for the machine", func(c db.Changes) bool { return slices.Contains(c.Gates, g.ID) })
}

// A replica died between its commit and its NOTIFY, or a proxy lets no notification through.
func TestWhatNobodyToldIsFoundByLooking(t *testing.T) {
	m, d, g, dsn := fixture(t)
	m.ask(t, d, g, "r1", need(1))
	changes := watch(t, open(t, dsn))
	await(t, changes, "the beginning", func(c db.Changes) bool { return c.AnyGate })
	sql(t, dsn, `UPDATE team.news SET last = last + 1, changed = now()`)
	await(t, changes, "news for the machine", func(c db.Changes) bool { return slices.Contains(c.Gates, g.ID) })
	sql(t, dsn, `UPDATE team.requests SET changed = now()`)
	await(t, changes, "a changed request", func(c db.Changes) bool { return c.AnyRequest })
	sql(t, dsn, `INSERT INTO team.bundles (tenant, serial, note) VALUES ($1, 1, 'x')`, tenant)
	await(t, changes, "a bundle", func(c db.Changes) bool { return c.Bundle })
}
