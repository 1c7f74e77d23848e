package db

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/wire"
)

// newsLimit is how many answers a gate is told at once, newsBytes how large they are together, if there are several: a
// bridge reads no more than a few megabytes.
const (
	newsLimit = 200
	newsBytes = 3 << 20
)

// NewsFor returns the answers for a gate since a cursor, with the votes: the gate counts them again. The
// serial is left to the caller. Without news the cursor stays. A cursor beyond the last answer, which the gate may have from
// before a backup was restored or from a replica that lied, counts as 0: otherwise the gate would hear nothing until then.
func (d *DB) NewsFor(ctx context.Context, gate string, after int64) (wire.News, error) {
	news := wire.News{Cursor: after}
	rows, err := d.pool.Query(ctx, `SELECT r.id, r.state, r.news, r.decision,
		(SELECT coalesce(array_agg(v.vote ORDER BY v.at, v.person), '{}') FROM team.votes v WHERE v.tenant = r.tenant AND v.request = r.id)
		FROM team.requests r WHERE r.tenant = $1 AND r.gate = $2 AND r.news > CASE
			WHEN $3 <= coalesce((SELECT last FROM team.news n WHERE n.tenant = $1 AND n.gate = $2), 0) THEN $3
			ELSE 0::bigint END
		ORDER BY r.news LIMIT $4`, d.tenant, gate, after, newsLimit)
	if err == nil {
		var decision []byte
		var votes [][]byte
		var a wire.Answer
		var at int64
		size := 0
		_, err = pgx.ForEachRow(rows, []any{&a.Request, &a.State, &at, &decision, &votes}, func() error {
			size += len(decision)
			for _, v := range votes {
				size += len(v)
			}
			if size > newsBytes && len(news.Answers) > 0 {
				return nil // it and what follows come with the next call
			}
			news.Cursor = at
			news.Answers = append(news.Answers, readAnswer(a, decision, votes))
			return nil
		})
	}
	if err != nil {
		return wire.News{}, fmt.Errorf("news of machine %s: %w", gate, err)
	}
	return news, nil
}

// readAnswer leaves out what cannot be read: the gate finds it missing, and hears of the rest.
func readAnswer(a wire.Answer, decision []byte, votes [][]byte) wire.Answer {
	var notes []string
	for _, data := range votes {
		var v approval.Vote
		if err := json.Unmarshal(data, &v); err != nil {
			continue
		}
		a.Votes = append(a.Votes, v)
		if v.Note != "" {
			notes = append(notes, v.Note)
		}
	}
	a.Note = strings.Join(notes, "\n")
	var d approval.Decision
	if decision != nil && json.Unmarshal(decision, &d) == nil {
		a.Decision = &d
	}
	return a
}

// Cursor is that of the newest answer for a gate.
func (d *DB) Cursor(ctx context.Context, gate string) (last int64, err error) {
	err = d.pool.QueryRow(ctx, `SELECT coalesce(max(last), 0) FROM team.news WHERE tenant = $1 AND gate = $2`, d.tenant, gate).Scan(&last)
	return last, err
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
