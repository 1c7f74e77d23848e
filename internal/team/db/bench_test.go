//go:build all && linux

package db_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/wire"
)

// servers are one as in production and one that does not wait for the disk.
func servers(b *testing.B, f func(b *testing.B, dsn string)) {
	for name, durable := range map[string]bool{"durable": true, "unsynced": false} {
		b.Run(name, func(b *testing.B) { f(b, pgtest.Start(b, pgtest.Options{Durable: durable}).DSN()) })
	}
}

// parallel runs f for each number below n, by so many at once, and returns how many a second.
func parallel(n, workers int, f func(worker, i int)) float64 {
	var next atomic.Int64
	var all sync.WaitGroup
	started := time.Now()
	for w := range workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(w, i)
			}
		})
	}
	all.Wait()
	return float64(n) / time.Since(started).Seconds()
}

// BenchmarkVotes compares votes that settle a request each with bare conditional updates, one a commit.
func BenchmarkVotes(b *testing.B) {
	const votes, gates = 4096, 64
	servers(b, func(b *testing.B, dsn string) {
		m, d := newTeam(), open(b, dsn)
		m.person("p_bob", "sre")
		ann := sponsor(b, d)
		asked, ballots := make([]db.Request, votes), make([]db.Ballot, votes)
		for g := range gates {
			gate := m.join(b, d, ann)
			var questions []wire.Signed
			for i := g; i < votes; i += gates {
				questions = append(questions, m.question(b, gate, fmt.Sprintf("r%d", i), need(1)))
			}
			if taken, err := d.Ask(context.Background(), gate, questions); err != nil || len(taken.Refused) > 0 {
				b.Fatal(taken, err)
			}
		}
		for i := range votes {
			r, err := d.Request(context.Background(), fmt.Sprintf("r%d", i))
			if err != nil {
				b.Fatal(err)
			}
			asked[i], ballots[i] = r, m.vote(b, "p_bob", r, r.Approve(""))
		}
		pool, err := pgxpool.New(context.Background(), dsn+" pool_max_conns=32")
		if err != nil {
			b.Fatal(err)
		}
		defer pool.Close()
		if _, err := pool.Exec(context.Background(), `CREATE TABLE bare AS SELECT id, state, version FROM team.requests; ALTER TABLE bare ADD PRIMARY KEY (id)`); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			bare := parallel(votes, 32, func(_, i int) {
				if tag, err := pool.Exec(context.Background(), `UPDATE bare SET state = 'approved', version = version + 1
					WHERE id = $1 AND state = 'pending' AND version = 1`, asked[i].ID); err != nil || tag.RowsAffected() != 1 {
					b.Error(tag, err)
				}
			})
			counted := parallel(votes, 256, func(_, i int) {
				if out, err := d.Vote(context.Background(), asked[i].ID, ballots[i], m.court()); err != nil || !out.Settled {
					b.Error(out, err)
				}
			})
			b.ReportMetric(counted, "votes/s")
			b.ReportMetric(bare, "bare/s")
			b.ReportMetric(counted/bare, "ratio")
			if _, err := pool.Exec(context.Background(), `DELETE FROM team.votes; UPDATE team.requests SET state = 'pending', news = NULL; UPDATE bare SET state = 'pending', version = 1`); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkAppend compares 256 logs, 20 records at a time, with the same rows put into a bare table.
func BenchmarkAppend(b *testing.B) {
	const streams, batches, size = 256, 20, 20
	servers(b, func(b *testing.B, dsn string) {
		d := open(b, dsn)
		logs := make([]wire.Records, streams)
		for s := range streams {
			logs[s] = chained(fmt.Sprintf("log%d", s), 0, zero, batches*size)
		}
		pool, err := pgxpool.New(context.Background(), dsn+" pool_max_conns=32")
		if err != nil {
			b.Fatal(err)
		}
		defer pool.Close()
		if _, err := pool.Exec(context.Background(), `CREATE TABLE bare (tenant text, gate text, stream text, seq bigint,
			prev bytea, hash bytea, numbers bigint[], texts text[], body bytea)`); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			bare := parallel(streams, 32, func(_, s int) {
				for i := range batches {
					batch := &pgx.Batch{}
					for _, r := range logs[s].Rows[i*size : (i+1)*size] {
						batch.Queue(`INSERT INTO bare VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
							tenant, "g", logs[s].Stream, r.Seq, r.Prev, r.Hash, r.Numbers, r.Texts, r.Body)
					}
					if err := pool.SendBatch(context.Background(), batch).Close(); err != nil {
						b.Error(err)
					}
				}
			}) * batches * size
			copied := parallel(streams, 32, func(_, s int) {
				for i := range batches {
					rows := logs[s].Rows[i*size : (i+1)*size]
					if _, err := pool.CopyFrom(context.Background(), pgx.Identifier{"bare"},
						[]string{"tenant", "gate", "stream", "seq", "prev", "hash", "numbers", "texts", "body"},
						pgx.CopyFromSlice(size, func(n int) ([]any, error) {
							r := rows[n]
							return []any{tenant, "g", logs[s].Stream, r.Seq, r.Prev, r.Hash, r.Numbers, r.Texts, r.Body}, nil
						})); err != nil {
						b.Error(err)
					}
				}
			}) * batches * size
			chained := parallel(streams, streams, func(_, s int) {
				for i := range batches {
					if _, err := d.Append(context.Background(), "g", wire.Records{Stream: logs[s].Stream, Rows: logs[s].Rows[i*size : (i+1)*size]}); err != nil {
						b.Error(err)
					}
				}
			}) * batches * size
			b.ReportMetric(chained, "rows/s")
			b.ReportMetric(bare, "bare/s")
			b.ReportMetric(copied, "copied/s")
			b.ReportMetric(chained/max(bare, copied), "ratio")
			if _, err := pool.Exec(context.Background(), `TRUNCATE team.events, team.streams, bare`); err != nil {
				b.Fatal(err)
			}
		}
	})
}
