package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/bridgetest"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/member"
)

// S60, on the phone, is TestS60_OnThePhone of web_team_test.go, in a browser, and with the real programs on all sides
// TestS60_WithAllThePrograms of web_team_programs_test.go; S63, prove it, is TestS63_ProveIt of team_admin_test.go, with
// PostgreSQL. All four are told by examples/team with all the real programs.

// S61: two of three. Deleting a database needs two of the on-call group and not the person whose agent asks; the second
// yes runs it once; the record shows both signatures.
func TestS61_TwoOfThree(t *testing.T) {
	s := newTeamScene(t)
	for i := range s.team.Bundle.People {
		s.team.Bundle.People[i].Groups = []string{"oncall"}
	}
	s.team.Bundle.Deciders = []bundle.Decider{{Acts: []string{"delete_file(data/**)"},
		Need: []bundle.From{{From: "oncall", Count: 2}}, Not: []string{approval.NotSponsor}, Proof: approval.StrengthDevice}}
	s.put("project/data/shop.db", "rows")
	s.join()
	wait := s.starts(s.command("call", "delete_file", `{"path":"data/shop.db"}`), "")
	r := s.asked()
	for i, votes := range [][]approval.Vote{{s.yes("bob", r)}, {s.yes("bob", r), s.yes("ann", r)}} { // one, and one with the sponsor
		s.server.Answer(s.signed(r, r.Approve(""), votes...))
		s.refused(r, i+1)
		if !s.wrote("data/shop.db") {
			t.Fatal("the database is gone")
		}
	}
	s.server.Answer(s.signed(r, r.Approve(""), s.yes("bob", r), s.yes("cleo", r)))
	if said := wait(); s.wrote("data/shop.db") {
		t.Fatalf("the database is still there:\n%s", said)
	}
	var story struct {
		Records []struct {
			Kind  string
			Votes []approval.Voted
		}
	}
	if err := json.Unmarshal([]byte(s.must("audit", "show", r.ID, "--json")), &story); err != nil {
		t.Fatal(err)
	}
	started, signed := 0, []string{}
	for _, record := range story.Records {
		if record.Kind == string(approval.EventStarted) {
			started++
		}
		for _, v := range record.Votes {
			if record.Kind == string(approval.EventEnded) && len(v.Proof.Signature) > 0 {
				signed = append(signed, v.Person)
			}
		}
	}
	if slices.Sort(signed); started != 1 || !slices.Equal(signed, []string{"p_bob", "p_cleo"}) {
		t.Errorf("it ran %d times, signed by %q", started, signed)
	}
}

// S62: server away. Gates go on with what their signed policy allows, ask at their own terminal where it says they may, and
// refuse the rest with the reason; nothing is lost when it comes back.
func TestS62_ServerAway(t *testing.T) {
	s := newTeamScene(t)
	s.team.Bundle.Policy = "version: 1\nrules:\n  - allow write_file(drafts/**)\n"
	s.team.Bundle.Deciders = []bundle.Decider{{Acts: []string{"write_file(prod/**)"},
		Need: []bundle.From{{From: "sre", Count: 2}}, Proof: approval.StrengthDevice}}
	s.put("project/drafts/a.txt", "")
	s.put("project/prod/a.txt", "")
	s.join()
	file := member.BundleFile(s.state)
	s.server.SetAway(true)
	s.waitStatus("the server has not answered")
	atTerminal := func(file, answer string) {
		t.Helper()
		c := s.command("call", "write_file", writes(file))
		c.Env = append(c.Env, "TERM=xterm-256color")
		x := start(t, 100, 30, c)
		x.asked("write_file", "[y]", "!Waiting for the team")
		x.types(answer)
		x.ends(0)
	}

	s.must("call", "write_file", writes("drafts/b.txt"))
	atTerminal("notes.txt", "y")
	wait := s.starts(s.command("call", "write_file", writes("prod/b.txt")), "")
	kept := s.store()
	defer kept.Close()
	waits := waiting(t, kept)

	// The policy has been confirmed too long ago: what it allows is asked about, and what people decide about is refused.
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(file, long, long); err != nil {
		t.Fatal(err)
	}
	atTerminal("drafts/c.txt", "y")
	if out, err := s.run("call", "write_file", writes("prod/c.txt")); err == nil || !strings.Contains(out, "was last confirmed") {
		t.Errorf("a call that others decide about: %v\n%s", err, out)
	}
	for _, name := range []string{"drafts/b.txt", "notes.txt", "drafts/c.txt"} {
		if !s.wrote(name) {
			t.Errorf("%s is not written", name)
		}
	}

	// It comes back: the question is there, runs after two votes, and the log has no gap.
	s.server.SetAway(false)
	r := s.asked()
	if r.ID != waits.ID {
		t.Errorf("asked is %s, and %s waits", r.ID, waits.ID)
	}
	s.waitStatus("connected")
	s.fresh(file)
	if s.wrote("prod/b.txt") || s.wrote("prod/c.txt") {
		t.Error("it ran before anybody agreed")
	}
	s.server.Answer(s.signed(r, r.Approve(""), s.yes("bob", r), s.yes("cleo", r)))
	if said := wait(); !s.wrote("prod/b.txt") {
		t.Errorf("it did not run:\n%s", said)
	}
	seal, err := kept.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if !s.server.Wait(ctx.Done(), func(v bridgetest.View) bool {
		rows := v.Rows()
		for i := 1; i < len(rows); i++ {
			if rows[i].Seq != rows[i-1].Seq+1 || !bytes.Equal(rows[i].Prev, rows[i-1].Hash) {
				t.Fatalf("record %d does not follow record %d", rows[i].Seq, rows[i-1].Seq)
			}
		}
		return len(rows) > 0 && rows[len(rows)-1].Seq >= seal.Seq
	}) {
		log, _ := os.ReadFile(filepath.Join(s.state, "team", "bridge.log"))
		t.Errorf("the server has not the whole log; the bridge says %q", log)
	}
}

// fresh waits until the bridge has confirmed the policy of the team.
func (s *teamScene) fresh(file string) {
	s.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for over := time.After(patience); ; {
		if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) < time.Hour {
			return
		}
		select {
		case <-tick.C:
		case <-over:
			s.Fatal("the policy is not confirmed")
		}
	}
}
