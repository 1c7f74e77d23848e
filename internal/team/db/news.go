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

// newsLimit is how many answers a gate is told at once.
const newsLimit = 200

// NewsFor returns the answers for a gate since a cursor, with the votes: the gate counts them again. The
// serial is left to the caller. Without news the cursor stays.
func (d *DB) NewsFor(ctx context.Context, gate string, after int64) (wire.News, error) {
	news := wire.News{Cursor: after}
	rows, err := d.pool.Query(ctx, `SELECT r.id, r.state, r.news, r.decision,
		(SELECT coalesce(array_agg(v.vote ORDER BY v.at, v.person), '{}') FROM team.votes v WHERE v.tenant = r.tenant AND v.request = r.id)
		FROM team.requests r WHERE r.tenant = $1 AND r.gate = $2 AND r.news > $3 ORDER BY r.news LIMIT $4`, d.tenant, gate, after, newsLimit)
	if err == nil {
		var decision []byte
		var votes [][]byte
		var a wire.Answer
		_, err = pgx.ForEachRow(rows, []any{&a.Request, &a.State, &news.Cursor, &decision, &votes}, func() error {
			answer, err := readAnswer(a, decision, votes)
			news.Answers = append(news.Answers, answer)
			return err
		})
	}
	if err != nil {
		return wire.News{}, fmt.Errorf("news of machine %s: %w", gate, err)
	}
	return news, nil
}

func readAnswer(a wire.Answer, decision []byte, votes [][]byte) (wire.Answer, error) {
	var notes []string
	for _, data := range votes {
		var v approval.Vote
		if err := json.Unmarshal(data, &v); err != nil {
			continue // it counts for nobody; the gate finds it missing
		}
		a.Votes = append(a.Votes, v)
		if v.Note != "" {
			notes = append(notes, v.Note)
		}
	}
	a.Note = strings.Join(notes, "\n")
	if decision == nil {
		return a, nil
	}
	a.Decision = new(approval.Decision)
	if err := json.Unmarshal(decision, a.Decision); err != nil {
		return a, fmt.Errorf("request %s: %w: %w", a.Request, ErrChanged, err)
	}
	return a, nil
}

// Cursor is that of the newest answer for a gate.
func (d *DB) Cursor(ctx context.Context, gate string) (last int64, err error) {
	err = d.pool.QueryRow(ctx, `SELECT coalesce(max(last), 0) FROM team.news WHERE tenant = $1 AND gate = $2`, d.tenant, gate).Scan(&last)
	return last, err
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
