//go:build teame2e && linux

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/db"
)

func (s *stage) of() *config.Team { return &config.Team{Trust: s.team.Trust, Name: tenant} }

// vote has people answer whatever comes, two for each request, until the test ends. Their votes come in at a replica that
// no machine waits at.
func (s *stage) vote() {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	queues := make([]chan db.Request, len(answerers))
	for i, who := range answerers {
		queues[i] = make(chan db.Request, 100_000)
		all.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case r := <-queues[i]:
					s.voteOn(ctx, who, r)
				}
			}
		})
	}
	seen := map[string]bool{}
	ask := func(r db.Request) {
		if seen[r.ID] {
			return
		}
		seen[r.ID] = true
		first := rand.N(len(queues))
		second := (first + 1 + rand.N(len(queues)-1)) % len(queues)
		queues[first] <- r
		queues[second] <- r
	}
	all.Go(func() {
		s.db.Watch(ctx, func(c db.Changes) {
			for _, id := range c.Requests {
				if !seen[id] {
					if r, err := s.db.Request(ctx, id); err == nil {
						ask(r)
					} else {
						c.AnyRequest = true
					}
				}
			}
			for after := ""; c.AnyRequest && ctx.Err() == nil; {
				page, next, err := s.db.OpenFor(ctx, s.signed.People[1].ID, []string{"sre"}, db.Page{After: after, Limit: 500})
				if err != nil {
					wait(ctx, 100*time.Millisecond)
					continue
				}
				for _, r := range page {
					ask(r)
				}
				if after = next; after == "" {
					break
				}
			}
		})
	})
	s.Cleanup(func() {
		cancel()
		all.Wait()
	})
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// voteOn gives one person's vote, and tries until it was taken, as a page does.
func (s *stage) voteOn(ctx context.Context, who string, r db.Request) {
	d := r.Approve("")
	ballot := db.Ballot{Vote: s.team.Vote(who, r.Request, d), Decision: d}
	for ctx.Err() == nil {
		began := time.Now()
		within, cancel := context.WithTimeout(ctx, 10*time.Second)
		out, err := s.db.Vote(within, r.ID, ballot, s.court())
		cancel()
		switch {
		case err == nil && out.Settled:
			s.mu.Lock()
			s.settled[r.ID], s.told[r.ID] = time.Now(), began
			s.mu.Unlock()
			return
		case err == nil, errors.Is(err, db.ErrSettled):
			return
		case errors.Is(err, db.ErrVoid):
			s.Errorf("a vote is void: %v", err)
			return
		}
		wait(ctx, 50*time.Millisecond)
	}
}

// runsOf reads what a machine's tool wrote.
func (s *stage) runsOf(m *machine) (out []ran) {
	s.Helper()
	data, err := os.ReadFile(m.runs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var r ran
		s.must(json.Unmarshal(lines.Bytes(), &r))
		out = append(out, r)
	}
	return out
}

// onceWithTally checks all runs that were not checked before: no call ran twice, and each that somebody decides about
// was approved by two people whose signatures are recorded.
func (s *stage) onceWithTally(known map[string]ran) {
	s.Helper()
	for _, m := range s.machines {
		lines := map[string]bool{}
		for _, r := range s.runsOf(m) {
			if lines[r.Call] {
				s.Errorf("call %s ran twice", r.Call)
			}
			lines[r.Call] = true
			if _, ok := known[r.Call]; ok {
				continue
			}
			known[r.Call] = r
			if r.Tool != toolDeploy {
				continue
			}
			if err := s.tally(r); err != nil {
				s.Errorf("call %s ran without a valid tally: %v", r.Call, err)
			}
		}
	}
}

// tally counts the recorded votes for a run without any of the code that decided about it: signatures with the
// standard library, and persons by the keys that were made for them.
func (s *stage) tally(r ran) error {
	row, err := s.db.Request(s.Context(), r.Request)
	if err != nil {
		return err
	}
	votes, err := s.db.Votes(s.Context(), r.Request)
	if err != nil {
		return err
	}
	if row.Call.ID != r.Call {
		return fmt.Errorf("request %s is about call %s", r.Request, row.Call.ID)
	}
	yes := map[string]bool{}
	for _, v := range votes {
		for _, p := range s.signed.People[1:] { // the first is the sponsor
			key, err := x509.ParsePKIXPublicKey(p.Credentials[0].Public)
			if err != nil {
				return err
			}
			sum := sha256.Sum256([]byte("assent-answer-v1\x00" + v.Vote.Proof.Statement))
			signature := v.Vote.Proof.Signature
			if len(signature) != 64 || !ecdsa.Verify(key.(*ecdsa.PublicKey), sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
				continue
			}
			var said approval.Statement
			if err := json.Unmarshal([]byte(v.Vote.Proof.Statement), &said); err != nil {
				return err
			}
			if said.Request == r.Request && said.Tenant == tenant && said.Answer == approval.AnswerApprove && said.Fingerprint == row.Fingerprint && said.View == row.View {
				yes[p.ID] = true
			}
		}
	}
	if len(yes) < 2 {
		return fmt.Errorf("%d of %d votes on %s count", len(yes), len(votes), r.Request)
	}
	return nil
}

// shipped waits until the server has the whole log of each machine, with the same end.
func (s *stage) shipped() {
	s.Helper()
	for _, m := range s.machines {
		var why string
		ok := false
		over := time.After(patience)
		for !ok {
			here, err := m.store.Seal(s.Context())
			s.must(err)
			there, err := s.db.Stream(s.Context(), m.joined.Gate, m.joined.Gate)
			ok = err == nil && here == there.Head
			why = fmt.Sprintf("%s here, %s there, %v", here, there.Head, err)
			select {
			case <-over:
				s.Fatalf("the log of machine %d is not at the server: %s", m.n, why)
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
}

// sameLog compares the whole logs.
func (s *stage) sameLog() (records int64) {
	s.Helper()
	s.shipped()
	for _, m := range s.machines {
		seal, err := m.store.Seal(s.Context())
		s.must(err)
		v, err := s.db.VerifyStream(s.Context(), m.joined.Gate, m.joined.Gate, seal)
		s.must(err)
		if !v.OK() {
			s.Errorf("the log of machine %d at the server: %v", m.n, v.Flaws)
		}
		for after := m.joined.After; after < seal.Seq; {
			here, err := m.store.ChainRows(s.Context(), after, 1000, 64<<20)
			s.must(err)
			there, err := s.db.Records(s.Context(), m.joined.Gate, m.joined.Gate, after, len(here))
			s.must(err)
			if len(here) == 0 || len(here) != len(there) {
				s.Fatalf("machine %d: %d records after %d here, %d at the server", m.n, len(here), after, len(there))
			}
			for i := range here {
				if here[i].Seq != there[i].Seq || here[i].Seq != after+1 || !bytes.Equal(here[i].Hash, there[i].Hash) || !bytes.Equal(here[i].Body, there[i].Body) {
					s.Fatalf("machine %d: record %d differs", m.n, here[i].Seq)
				}
				after++
			}
		}
		records += seal.Seq - m.joined.After
	}
	return records
}
