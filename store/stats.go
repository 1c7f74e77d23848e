package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// Stats are what the audit log has to tell about prompts and rules.
type Stats struct {
	Calls   int64 `json:"calls"`   // that ended
	Prompts int64 `json:"prompts"` // of them were asked
	Unended int64 `json:"unended"` // starts without an end
	// Unexpected counts what calls were about to do that their judgement did not foresee, and
	// Tripped what the system seems to have refused them besides.
	Unexpected int64 `json:"unexpected"`
	Tripped    int64 `json:"tripped"`
	// Connections counts those of calls that ran, Refused those among them that were not let
	// through, Sent and Received the bytes to and from hosts.
	Connections int64 `json:"connections"`
	Refused     int64 `json:"refused"`
	Sent        int64 `json:"sent"`
	Received    int64 `json:"received"`

	Sessions []SessionStats `json:"sessions"` // most prompts first
	Answers  []AnswerStats  `json:"answers"`  // most first
	Slowest  []SlowAnswer   `json:"slowest"`  // slowest first
	Rules    []RuleStats    `json:"rules"`    // most calls first; grants too
	Idle     []policy.Rule  `json:"idle"`     // rules that decided nothing
	Days     []DayStats     `json:"days"`     // oldest first
}

// MarshalJSON writes what there is none of as an empty list.
func (s Stats) MarshalJSON() ([]byte, error) {
	type plain Stats
	p := plain(s)
	p.Sessions, p.Answers, p.Slowest = listed(s.Sessions), listed(s.Answers), listed(s.Slowest)
	p.Rules, p.Idle, p.Days = listed(s.Rules), listed(s.Idle), listed(s.Days)
	return json.Marshal(p)
}

func listed[T any](list []T) []T { return append([]T{}, list...) }

// SessionStats counts the calls and prompts of a session.
type SessionStats struct {
	Session string `json:"session"`
	Calls   int64  `json:"calls"`
	Prompts int64  `json:"prompts"`
}

// AnswerStats counts how calls ended, and by what way that was decided.
type AnswerStats struct {
	State policy.State `json:"state"`
	Via   policy.Via   `json:"via"`
	Calls int64        `json:"calls"`
	Asked int64        `json:"asked"`
}

// A SlowAnswer is a prompt that waited long.
type SlowAnswer struct {
	Seq     int64         `json:"seq"`
	Session string        `json:"session"`
	Tool    string        `json:"tool"`
	State   policy.State  `json:"state"`
	Waited  time.Duration `json:"waited"`
}

// RuleStats counts what a rule or grant decided.
type RuleStats struct {
	ID    string `json:"id"`
	Calls int64  `json:"calls"`
}

// DayStats counts the calls and prompts of a day, in UTC.
type DayStats struct {
	Day     string `json:"day"`
	Calls   int64  `json:"calls"`
	Prompts int64  `json:"prompts"`
	// Approved and Denied are how a person answered them; the rest ended without an answer.
	Approved int64 `json:"approved"`
	Denied   int64 `json:"denied"`
}

// maxListed is how many sessions, slow answers and the like are listed.
const maxListed = 20

// Stats counts over the records that fit.
func (s *Store) Stats(ctx context.Context, f approval.RecordFilter) (out Stats, err error) {
	condition, args := where(f)
	from := " FROM events WHERE kind = 'ended' AND " + condition + " "
	err = s.read(ctx, func(q querier) error {
		c := counting{ctx: ctx, q: q, args: args}
		c.one("SELECT count(*), count(*) FILTER (WHERE waited >= 0)"+from, &out.Calls, &out.Prompts)
		c.one("SELECT count(*) FROM events JOIN running USING (seq) WHERE "+condition, &out.Unended)
		c.one("SELECT count(*) FILTER (WHERE kind = 'unexpected'), count(*) FILTER (WHERE kind = 'tripped')"+
			" FROM events WHERE "+condition, &out.Unexpected, &out.Tripped)
		c.one("SELECT count(*), count(*) FILTER (WHERE stage NOT IN ('completed', 'failed')),"+
			" coalesce(sum(json_extract(CAST(body AS TEXT), '$.sent')), 0),"+
			" coalesce(sum(json_extract(CAST(body AS TEXT), '$.received')), 0)"+
			" FROM events WHERE kind = 'connected' AND "+condition,
			&out.Connections, &out.Refused, &out.Sent, &out.Received)
		var session SessionStats
		c.each("SELECT session, count(*), count(*) FILTER (WHERE waited >= 0) AS asked"+from+
			"GROUP BY session ORDER BY asked DESC, count(*) DESC, session LIMIT ?",
			func() { out.Sessions = append(out.Sessions, session) }, &session.Session, &session.Calls, &session.Prompts)
		var answer AnswerStats
		c.each("SELECT state, via, count(*) AS n, count(*) FILTER (WHERE waited >= 0)"+from+
			"GROUP BY state, via ORDER BY n DESC, state, via LIMIT ?",
			func() { out.Answers = append(out.Answers, answer) }, &answer.State, &answer.Via, &answer.Calls, &answer.Asked)
		var slow SlowAnswer
		c.each("SELECT seq, session, tool, state, waited"+from+"AND waited > 0 ORDER BY waited DESC, seq LIMIT ?",
			func() { out.Slowest = append(out.Slowest, slow) }, &slow.Seq, &slow.Session, &slow.Tool, &slow.State, &slow.Waited)
		var rule RuleStats
		var used []RuleStats
		c.all("SELECT rule, count(*) AS n FROM events WHERE kind IN ('ended', 'connected') AND "+condition+
			" AND rule != '' GROUP BY rule ORDER BY n DESC, rule",
			func() { used = append(used, rule) }, &rule.ID, &rule.Calls)
		out.Rules = used[:min(len(used), maxListed)]
		var day DayStats
		c.all("SELECT date(at / 1000000000, 'unixepoch') AS day, count(*), count(*) FILTER (WHERE waited >= 0),"+
			" count(*) FILTER (WHERE waited >= 0 AND state = 'approved'), count(*) FILTER (WHERE waited >= 0 AND state = 'denied')"+from+
			"GROUP BY day ORDER BY day",
			func() { out.Days = append(out.Days, day) }, &day.Day, &day.Calls, &day.Prompts, &day.Approved, &day.Denied)
		if c.err != nil {
			return c.err
		}
		return s.idleRules(ctx, q, used, &out)
	})
	return out, err
}

// idleRules lists the rules that are kept and decided nothing.
func (s *Store) idleRules(ctx context.Context, q querier, used []RuleStats, out *Stats) error {
	h, err := s.currentHead(ctx, q)
	if err != nil {
		return err
	}
	rows, err := readRules(ctx, q, h)
	if err != nil {
		return err
	}
	worked := map[string]bool{}
	for _, r := range used {
		worked[r.ID] = true
	}
	for _, r := range rows {
		if !worked[r.rule.ID] {
			out.Idle = append(out.Idle, r.rule)
		}
	}
	return nil
}

// counting runs queries with the same arguments until one fails.
type counting struct {
	ctx  context.Context
	q    querier
	args []any
	err  error
}

func (c *counting) one(query string, into ...any) {
	if c.err == nil {
		c.err = c.q.QueryRowContext(c.ctx, query, c.args...).Scan(into...)
	}
}

// each is all for a query that ends with a limit.
func (c *counting) each(query string, row func(), into ...any) {
	limited := *c
	limited.args = append(append([]any{}, c.args...), maxListed)
	limited.all(query, row, into...)
	c.err = limited.err
}

func (c *counting) all(query string, row func(), into ...any) {
	if c.err != nil {
		return
	}
	rows, err := c.q.QueryContext(c.ctx, query, c.args...)
	if err != nil {
		c.err = err
		return
	}
	defer rows.Close()
	for rows.Next() {
		if c.err = rows.Scan(into...); c.err != nil {
			return
		}
		row()
	}
	c.err = rows.Err()
}
