//go:build all && linux

package postgres_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/kept"
	"github.com/assent-dev/assent/store/postgres"
)

// servers are those that figures are taken from.
var servers = map[string]pgtest.Options{
	"fsync=off": {},
	"durable":   {Durable: true},
}

// connections is how many write at once: PostgreSQL brings those who commit together to the disk together.
const connections = 32

func manyConnections(b testing.TB, dsn string) *pgxpool.Pool {
	b.Helper()
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		b.Fatal(err)
	}
	config.MaxConns = connections
	p, err := pgxpool.NewWithConfig(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.Close)
	return p
}

// share has n done by as many workers as there are connections, and returns how many a second.
func share(b testing.TB, n int, do func(i int) error) float64 {
	b.Helper()
	var next atomic.Int64
	var workers sync.WaitGroup
	began := time.Now()
	for range connections {
		workers.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := do(int(i - 1)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	workers.Wait()
	return float64(n) / time.Since(began).Seconds()
}

// BenchmarkAnswers counts the answers a second to requests that somebody has looked at: one conditional update each.
func BenchmarkAnswers(b *testing.B) {
	for name, options := range servers {
		b.Run(name, func(b *testing.B) {
			p := manyConnections(b, pgtest.Start(b, options).DSN())
			for b.Loop() {
				answered, plain := answers(b, p)
				b.ReportMetric(plain, "plain-updates/s")
				b.ReportMetric(answered, "answers/s")
			}
		})
	}
}

// answers is how many requests a second are answered, and how many such rows are updated without any condition of ours.
func answers(b testing.TB, p *pgxpool.Pool) (answered, plain float64) {
	b.Helper()
	s, err := postgres.New(b.Context(), p, postgres.Options{})
	if err != nil {
		b.Fatal(err)
	}
	requests := postMany(b, s, 20)
	plain = share(b, len(requests), func(i int) error {
		_, err := p.Exec(context.Background(), "UPDATE store_requests SET problem = '' WHERE id = $1 AND state = 'open'", requests[i].ID)
		return err
	})
	answered = share(b, len(requests), func(i int) error { return s.Answer(context.Background(), requests[i].Approve("")) })
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return answered, plain
}

// postMany posts as many requests as so many sessions may have.
func postMany(b testing.TB, s *postgres.Store, sessions int) (out []*approval.Request) {
	b.Helper()
	for i := range sessions {
		requests := approvaltest.Requests(b, approval.MaxPending, fmt.Sprint("s", i))
		if err := s.Post(b.Context(), requests...); err != nil {
			b.Fatal(err)
		}
		out = append(out, requests...)
	}
	if _, err := s.Open(b.Context(), ""); err != nil {
		b.Fatal(err)
	}
	return out
}

// BenchmarkRecords counts the records a second of 256 streams, 20 to a commit; without the work of making them, which gates do on
// machines of their own; and in the same run plain inserts of the same rows into the same tables.
func BenchmarkRecords(b *testing.B) {
	const streams, batch, turns = 256, 20, 10
	for name, options := range servers {
		b.Run(name, func(b *testing.B) {
			p := manyConnections(b, pgtest.Start(b, options).DSN())
			for b.Loop() {
				handles := make([]*postgres.Store, streams)
				for i := range handles {
					var err error
					if handles[i], err = postgres.New(b.Context(), p, postgres.Options{}); err != nil {
						b.Fatal(err)
					}
				}
				for i, s := range handles { // which makes its stream
					if err := s.RecordAll(b.Context(), eventsOf(i, batch)...); err != nil {
						b.Fatal(err)
					}
				}
				rows := make([]plainBatch, streams)
				var recorded, chained, plain float64
				made := make([][]*kept.Record, streams)
				for range turns { // by turns, because a machine is not equally busy all the time
					recorded += batch / turns * share(b, streams, func(i int) error {
						return handles[i].RecordAll(context.Background(), eventsOf(i, batch)...)
					})
					for i, s := range handles {
						var err error
						if made[i], err = s.MakeRecords(eventsOf(i, batch)...); err != nil {
							b.Fatal(err)
						}
					}
					chained += batch / turns * share(b, streams, func(i int) error { return handles[i].Commit(made[i]) })
					for i, s := range handles {
						rows[i] = readPlain(b, p, s.Stream(), batch)
					}
					plain += batch / turns * share(b, streams, func(i int) error { return rows[i].insert(p, rand.Text()) })
				}
				b.ReportMetric(recorded, "rows/s")
				b.ReportMetric(chained, "chained-rows/s")
				b.ReportMetric(plain, "plain-rows/s")
				b.ReportMetric(recorded/plain, "ratio")
				b.ReportMetric(chained/plain, "chained-ratio")
				for _, s := range handles {
					if err := s.Close(); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func eventsOf(n, count int) (out []approval.Event) {
	for range count {
		out = append(out, approval.Event{
			Kind: approval.EventEnded, At: time.Now(), Session: fmt.Sprint("s", n), CallID: rand.Text(), Tool: "send",
			State: policy.StateFree, Stage: approval.StageCompleted, Arguments: []byte(`{"to":"ann","subject":"a letter"}`),
		})
	}
	return out
}

// A plainBatch are the columns of rows that were recorded, to be inserted again as they are.
type plainBatch struct{ args []any }

const columnTypes = "bigint bigint text text text text text text text text text bigint bytea bytea bytea"

// plainInsert inserts rows under the name of a stream, without a chain.
var plainInsert = func() string {
	var columns []string
	for i, name := range strings.Fields(columnTypes) {
		columns = append(columns, fmt.Sprintf("$%d::%s[]", i+2, name))
	}
	return "INSERT INTO store_events (stream, seq, at, kind, session, call, tool, workers, state, stage, rule, via, waited, body, prev, hash)" +
		" SELECT $1::text, e.* FROM unnest(" + strings.Join(columns, ", ") + ") AS e"
}()

// readPlain reads the last rows of a stream.
func readPlain(b *testing.B, p *pgxpool.Pool, stream string, count int) plainBatch {
	b.Helper()
	c := make([]any, len(strings.Fields(columnTypes)))
	into := make([]any, len(c))
	numbers, texts, bodies := make([][]int64, len(c)), make([][]string, len(c)), make([][][]byte, len(c))
	for i, name := range strings.Fields(columnTypes) {
		switch name {
		case "bigint":
			into[i] = &numbers[i]
		case "text":
			into[i] = &texts[i]
		default:
			into[i] = &bodies[i]
		}
	}
	row := p.QueryRow(b.Context(), `SELECT array_agg(seq), array_agg(at), array_agg(kind), array_agg(session), array_agg(call), array_agg(tool),
		array_agg(workers), array_agg(state), array_agg(stage), array_agg(rule), array_agg(via), array_agg(waited), array_agg(body),
		array_agg(prev), array_agg(hash) FROM (SELECT * FROM store_events WHERE stream = $1 ORDER BY seq DESC LIMIT $2) AS e`, stream, count)
	if err := row.Scan(into...); err != nil {
		b.Fatal(err)
	}
	for i, name := range strings.Fields(columnTypes) {
		switch name {
		case "bigint":
			c[i] = numbers[i]
		case "text":
			c[i] = texts[i]
		default:
			c[i] = bodies[i]
		}
	}
	return plainBatch{c}
}

func (r plainBatch) insert(p *pgxpool.Pool, stream string) error {
	_, err := p.Exec(context.Background(), plainInsert, append([]any{stream}, r.args...)...)
	return err
}
