package db

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A Court is what the signed bundle says about who is who. It is not the database's to say.
type Court struct {
	People approval.Directory
	// Gate returns the key of a machine, nil if it is none.
	Gate func(id string) ed25519.PublicKey
}

// A Ballot is a vote with the texts that its statement has only the digests of.
type Ballot struct {
	Vote     approval.Vote
	Decision approval.Decision
}

// An Outcome is how a request stands after a vote.
type Outcome struct {
	State policy.State
	Tally approval.Tally
	// Settled says that this vote settled it.
	Settled bool
}

// A pendingVote is a vote on its way.
type pendingVote struct {
	request  *knownRequest
	ballot   Ballot
	decision []byte // as it is kept
	person   string
	expires  time.Time // what was signed
	court    Court
	outcome  Outcome
	done     chan error
}

// Vote adds a person's vote to an open request, or replaces the one they gave, and settles the request if
// that is enough. Votes that come at the same time are committed together. The same vote on a request
// that is settled already is answered without an error: the first answer may have been lost.
//
// When ctx ends first, the vote may still come to count.
func (d *DB) Vote(ctx context.Context, id string, b Ballot, court Court) (Outcome, error) {
	fail := func(err error) (Outcome, error) { return Outcome{}, fmt.Errorf("vote on %s: %w", id, err) }
	kept, err := keep(&b.Decision)
	if err != nil {
		return fail(fmt.Errorf("%w: %w", ErrVoid, err))
	}
	r, err := d.knownRequest(ctx, id, court)
	if err != nil {
		return fail(err)
	}
	seen := &seenVoter{Directory: court.People, proof: b.Vote.Proof}
	court.People = seen
	expires, err := r.check(b, court)
	if err != nil {
		return fail(err)
	}
	p := &pendingVote{request: r, ballot: b, decision: kept, person: seen.person.ID, expires: expires, court: court, done: make(chan error, 1)}
	d.votes.add(p)
	select {
	case err := <-p.done:
		if err != nil {
			return fail(err)
		}
		return p.outcome, nil
	case <-ctx.Done():
		return fail(ctx.Err())
	}
}

// knownRequest returns a request whose signature was checked with the key that the court knows.
func (d *DB) knownRequest(ctx context.Context, id string, court Court) (*knownRequest, error) {
	if r := d.known.get(id); r != nil && r.key == string(court.Gate(r.Routing.Gate)) {
		return r, nil
	}
	row, err := d.Request(ctx, id)
	if err != nil {
		return nil, err
	}
	if row.ID != id || row.Routing.Tenant != d.tenant {
		return nil, ErrChanged
	}
	key := court.Gate(row.Routing.Gate)
	if err := row.Verify(key); err != nil {
		return nil, err
	}
	r := &knownRequest{row.Request, row.View, string(key), len(row.Body)}
	d.known.put(r)
	return r, nil
}

// A seenVoter checks the signature of one proof once: a directory is pure, and says the same again.
type seenVoter struct {
	approval.Directory
	proof approval.Proof

	done     bool
	person   approval.Person
	strength approval.Strength
	err      error
}

// Voter implements [approval.Directory].
func (d *seenVoter) Voter(p approval.Proof) (approval.Person, approval.Strength, error) {
	if !reflect.DeepEqual(p, d.proof) {
		return d.Directory.Voter(p)
	}
	if !d.done {
		d.person, d.strength, d.err = d.Directory.Voter(p)
		d.done = true
	}
	return d.person, d.strength, d.err
}

// check returns until when the vote can be given, or why it does not count.
func (r *knownRequest) check(b Ballot, court Court) (expires time.Time, err error) {
	s, err := approval.ParseStatement(b.Vote.Proof.Statement)
	if err != nil {
		return time.Time{}, err
	}
	b.Decision.Note = b.Vote.Note
	want := b.Decision.States(r.view)
	want.Tenant, want.Serial, want.Expires, want.Nonce = s.Tenant, s.Serial, s.Expires, s.Nonce
	if !reflect.DeepEqual(s, want) {
		return time.Time{}, fmt.Errorf("%w: what was signed is not this answer", ErrVoid)
	}
	if t := r.Count(r.Routing.Need, []approval.Vote{b.Vote}, court.People, r.view, 0); len(t.Void) > 0 {
		return time.Time{}, fmt.Errorf("%w: %s", ErrVoid, strings.Join(t.Void, "; "))
	}
	return time.Unix(s.Expires, 0), nil
}

// expiresBy is when the vote expires, or a time that a database can hold: who signs can write any number.
func (p *pendingVote) expiresBy() time.Time {
	if far := time.Now().AddDate(100, 0, 0); p.expires.After(far) {
		return far
	}
	return p.expires
}

// commitVotes commits votes together and tells each of them how it went.
func (d *DB) commitVotes(items []*pendingVote) {
	ctx, cancel := context.WithTimeout(context.Background(), longestCommit)
	defer cancel()
	errs := make([]error, len(items))
	for {
		t := &settlement{db: d}
		err := t.run(ctx, func(tx pgx.Tx) error { return t.vote(ctx, tx, items, errs) })
		if err != nil && (again(err) || errors.Is(err, errMoved)) && ctx.Err() == nil {
			continue
		}
		for i, p := range items {
			if err != nil {
				errs[i] = err
			}
			p.done <- errs[i]
		}
		return
	}
}

// errMoved says that somebody else changed a request since it was read.
var errMoved = errors.New("the request has changed meanwhile")

// A settlement is one transaction that changes requests.
type settlement struct {
	db      *DB
	rows    map[string]*standing // by id
	order   []string             // of the ids that change
	votes   []*pendingVote       // to be written
	notices []Notice
}

// A standing is a request within a transaction.
type standing struct {
	request *knownRequest
	id      string
	state   policy.State
	version int64
	now     time.Time
	age     time.Duration
	votes   []storedVote

	settled  bool
	decision []byte
	asked    []string // nil: as before
	next     *time.Time
}

// A storedVote is a row of votes.
type storedVote struct {
	request, person string
	vote            approval.Vote
	decision        []byte // as it is kept
}

func (v *storedVote) scan(scan func(...any) error) error {
	var vote []byte
	if err := scan(&v.request, &v.person, &vote, &v.decision); err != nil {
		return err
	}
	// A vote that somebody changed counts for nobody, and is in nobody's way.
	if err := json.Unmarshal(vote, &v.vote); err != nil {
		v.vote = approval.Vote{}
	}
	return nil
}

func (t *settlement) run(ctx context.Context, f func(pgx.Tx) error) error {
	changes := Changes{}
	err := pgx.BeginFunc(ctx, t.db.pool, func(tx pgx.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		return t.write(ctx, tx)
	})
	if err != nil {
		return err
	}
	gates := map[string]bool{}
	for _, id := range t.order {
		changes.Requests = append(changes.Requests, id)
		if s := t.rows[id]; s.settled {
			gates[s.request.Routing.Gate] = true
		}
	}
	changes.Gates, changes.Outbox = sortedKeys(gates), len(t.notices) > 0
	t.db.hub.tell(changes)
	return nil
}

// read takes the requests, in the order of their ids so that replicas do not wait for each other in a
// circle, and their votes as they are then.
func (t *settlement) read(ctx context.Context, tx pgx.Tx, ids []string) error {
	t.rows = map[string]*standing{}
	batch := &pgx.Batch{}
	batch.Queue(`SELECT id, state, version, clock_timestamp(), clock_timestamp() - created FROM team.requests
		WHERE tenant = $1 AND id = ANY($2) ORDER BY id FOR UPDATE`, t.db.tenant, ids).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			s := &standing{}
			if err := rows.Scan(&s.id, &s.state, &s.version, &s.now, &s.age); err != nil {
				return err
			}
			t.rows[s.id] = s
		}
		return rows.Err()
	})
	batch.Queue(`SELECT request, person, vote, decision FROM team.votes WHERE tenant = $1 AND request = ANY($2) ORDER BY request, at, person`,
		t.db.tenant, ids).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var v storedVote
			if err := v.scan(rows.Scan); err != nil {
				return err
			}
			if s := t.rows[v.request]; s != nil {
				s.votes = append(s.votes, v)
			}
		}
		return rows.Err()
	})
	return tx.SendBatch(ctx, batch).Close()
}

// vote applies votes one after the other.
func (t *settlement) vote(ctx context.Context, tx pgx.Tx, items []*pendingVote, errs []error) error {
	ids := map[string]bool{}
	for _, p := range items {
		ids[p.request.ID] = true
	}
	if err := t.read(ctx, tx, sortedKeys(ids)); err != nil {
		return err
	}
	for i, p := range items {
		p.outcome, errs[i] = Outcome{}, nil
		s := t.rows[p.request.ID]
		if s == nil {
			errs[i] = ErrNotFound
			continue
		}
		s.request = p.request
		p.outcome, errs[i] = t.apply(s, p)
	}
	return nil
}

// apply counts one vote more.
func (t *settlement) apply(s *standing, p *pendingVote) (Outcome, error) {
	at := slices.IndexFunc(s.votes, func(v storedVote) bool { return v.person == p.person })
	if s.state != policy.StatePending {
		if at >= 0 && s.votes[at].vote.Proof.Statement == p.ballot.Vote.Proof.Statement {
			return Outcome{State: s.state, Tally: s.count(p.court)}, nil
		}
		return Outcome{}, ErrSettled
	}
	if !s.now.Before(p.expires) {
		return Outcome{}, fmt.Errorf("%w: what was signed has expired", ErrVoid)
	}
	vote := storedVote{p.request.ID, p.person, p.ballot.Vote, p.decision}
	if at >= 0 {
		s.votes = slices.Delete(s.votes, at, at+1)
		t.votes = slices.DeleteFunc(t.votes, func(o *pendingVote) bool { return o.request.ID == p.request.ID && o.person == p.person })
	}
	s.votes = append(s.votes, vote)
	t.votes = append(t.votes, p)
	tally := s.count(p.court)
	t.change(s)
	if tally.State != policy.StatePending {
		t.settle(s, tally)
	}
	return Outcome{State: tally.State, Tally: tally, Settled: s.settled}, nil
}

// count counts as the gate will: what somebody signed counts until it expires.
func (s *standing) count(c Court) approval.Tally {
	votes := make([]approval.Vote, len(s.votes))
	for i, v := range s.votes {
		votes[i] = v.vote
	}
	return s.request.Count(s.request.Routing.Need, approval.Live(votes, s.now), c.People, s.request.view, s.age)
}

// change notes that the row will be written.
func (t *settlement) change(s *standing) {
	if !slices.Contains(t.order, s.id) {
		t.order = append(t.order, s.id)
	}
}

// settle ends a request with what was counted.
func (t *settlement) settle(s *standing, tally approval.Tally) {
	s.settled, s.state, s.next = true, tally.State, nil
	if len(tally.Votes) > 0 {
		i := slices.IndexFunc(s.votes, func(v storedVote) bool { return v.vote.Proof.Statement == tally.Votes[0].Proof.Statement })
		s.decision = s.votes[i].decision
	}
	t.change(s)
	t.tell(NoticeSettled, s)
}

// write does all of it, if nobody changed one of the requests meanwhile.
func (t *settlement) write(ctx context.Context, tx pgx.Tx) error {
	if len(t.order) == 0 {
		return nil
	}
	slices.Sort(t.order)
	settled := map[string]int64{} // how many of each gate
	for _, id := range t.order {
		if s := t.rows[id]; s.settled {
			settled[s.request.Routing.Gate]++
		}
	}
	batch := &pgx.Batch{}
	for _, gate := range sortedKeys(settled) {
		batch.Queue(`INSERT INTO team.news AS n (tenant, gate, last) VALUES ($1, $2, $3)
			ON CONFLICT (tenant, gate) DO UPDATE SET last = n.last + excluded.last, changed = now()`, t.db.tenant, gate, settled[gate])
	}
	moved := 0
	for _, id := range t.order {
		s := t.rows[id]
		gate, after := s.request.Routing.Gate, int64(0) // how many of the gate come after this one
		if s.settled {
			settled[gate]--
			after = settled[gate]
		}
		batch.Queue(`UPDATE team.requests SET state = $4, version = version + 1, changed = now(), decision = $5,
			news = CASE WHEN $6 THEN (SELECT last FROM team.news WHERE tenant = $1 AND gate = $7) - $8::bigint END,
			asked = coalesce($9, asked), escalates_at = CASE WHEN $6 THEN NULL WHEN $9::text[] IS NULL THEN escalates_at ELSE $10 END
			WHERE tenant = $1 AND id = $2 AND version = $3 AND state = 'pending'`,
			t.db.tenant, id, s.version, s.state, s.decision, s.settled, gate, after, s.asked, s.next).Exec(func(tag pgconn.CommandTag) error {
			moved += int(tag.RowsAffected())
			return nil
		})
	}
	if err := t.queueVotes(batch); err != nil {
		return err
	}
	if err := queueNotices(batch, t.db.tenant, t.notices); err != nil {
		return err
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return err
	}
	if moved != len(t.order) {
		return errMoved
	}
	return nil
}

func (t *settlement) queueVotes(batch *pgx.Batch) error {
	if len(t.votes) == 0 {
		return nil
	}
	var requests, people []string
	var votes, decisions [][]byte
	var expire []time.Time
	for _, p := range t.votes {
		vote, err := json.Marshal(p.ballot.Vote)
		if err != nil {
			return err
		}
		requests, people = append(requests, p.request.ID), append(people, p.person)
		votes, decisions = append(votes, vote), append(decisions, p.decision)
		expire = append(expire, p.expiresBy())
	}
	batch.Queue(`INSERT INTO team.votes (tenant, request, person, vote, decision, expires, at)
		SELECT $1, request, person, vote, decision, expires, clock_timestamp()
		FROM unnest($2::text[], $3::text[], $4::bytea[], $5::bytea[], $6::timestamptz[]) AS u (request, person, vote, decision, expires)
		ON CONFLICT (tenant, request, person) DO UPDATE
			SET vote = excluded.vote, decision = excluded.decision, expires = excluded.expires, at = excluded.at`,
		t.db.tenant, requests, people, votes, decisions, expire)
	return nil
}

// tell announces what became of a request.
func (t *settlement) tell(kind NoticeKind, s *standing) {
	t.notices = append(t.notices, Notice{Kind: kind, Subject: s.id, Body: about(s.request.Request, s.state)})
}

// keep returns a decision as it is kept, and makes it what will be read: without proof, votes and note,
// which are the vote's, and with the arguments byte for byte, since their digest was signed. White space
// between them would be lost on the way to the gate, so it is refused.
func keep(d *approval.Decision) ([]byte, error) {
	d.Proof, d.Votes, d.Note = nil, nil, ""
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	if err := out.Encode(d); err != nil {
		return nil, err
	}
	var read approval.Decision
	if err := json.Unmarshal(text.Bytes(), &read); err != nil {
		return nil, err
	}
	if !bytes.Equal(read.Arguments, d.Arguments) {
		return nil, errors.New("changed arguments must be JSON without white space between its parts")
	}
	return text.Bytes(), nil
}
