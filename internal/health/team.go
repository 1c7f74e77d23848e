package health

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/store"
)

// A Team describes the machine's team and its server.
type Team struct {
	Name   string `json:"name"`
	Server string `json:"server,omitempty"`
	Gate   string `json:"gate,omitempty"` // empty if this machine has not joined
	// Untrusted says that the administrator's file does not name the team's key.
	Untrusted bool `json:"untrusted,omitempty"`
	// Serial is that of the machine's policy, 0 for none, and Problem what is wrong with it or with this machine.
	Serial  int64  `json:"serial"`
	Problem string `json:"problem,omitempty"`
	// Age is how many seconds ago the policy was confirmed.
	Age int64 `json:"age_seconds"`
	// Bridge says that the process runs which talks to the server.
	Bridge bool `json:"bridge"`
	// Away is since when the server does not answer, as it should, and Why.
	Away time.Time `json:"away,omitzero"`
	Why  string    `json:"why,omitempty"`
	// Waiting is how many questions the server has, and Refused how many it does not take.
	Waiting int `json:"waiting"`
	Refused int `json:"refused,omitempty"`
	// Unsent is how many records the server does not have yet, and Log why it takes none.
	Unsent int64  `json:"unsent"`
	Log    string `json:"log,omitempty"`
}

// teamOf describes the machine's team; nil if it has none.
func teamOf(of *setup.Setup) *Team {
	state := of.Places.State
	status, ok := of.TeamStatus()
	if !ok && !link.Joined(state) {
		return nil
	}
	t := &Team{Name: status.Team, Server: status.Server, Gate: status.Gate, Serial: status.Serial, Problem: status.Why,
		Age: int64(status.Age.Seconds()), Bridge: link.Runs(state)}
	if !ok { // it has joined, and the administrator does not say whom to trust
		t.Untrusted = true
		t.Problem = "the administrator's file has no team.trust, so the team's policy and answers have no effect here"
		if m, err := member.LoadMachine(state); err == nil {
			t.Name, t.Server, t.Gate = m.Tenant, m.Server, m.Gate
		}
	}
	said := link.ReadStatus(state)
	if t.Problem == "" {
		t.Problem = said.Bundle
	}
	t.Away, t.Why, t.Waiting, t.Refused, t.Log = said.Away, said.Why, said.Waiting, len(said.Refused), said.Log
	return t
}

// age is how long ago the server confirmed the policy, without what nobody needs: 30h, not 30h0m0s.
func (t *Team) age() string {
	text := (time.Duration(t.Age) * time.Second).String()
	if cut, ok := strings.CutSuffix(text, "m0s"); ok {
		text = cut + "m"
	}
	if cut, ok := strings.CutSuffix(text, "h0m"); ok {
		text = cut + "h"
	}
	return text
}

// policy says which policy the machine has.
func (t *Team) policy() string {
	return fmt.Sprintf("%s, policy %d, confirmed %s ago", t.Name, t.Serial, t.age())
}

// unsent is how many records the server does not have yet.
func unsent(ctx context.Context, state string, kept *store.Store) int64 {
	sent, err := link.Shipped(state)
	seal, failed := kept.Seal(ctx)
	if err != nil || failed != nil {
		return 0
	}
	return max(seal.Seq-sent, 0)
}

// lines describe it for a person.
func (t *Team) lines(now time.Time) (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if t.Gate == "" {
		add("%s: this machine has not joined; run 'assent join URL'", t.Name)
	} else {
		add("%s, as %s at %s", t.Name, t.Gate, t.Server)
	}
	if t.Serial > 0 {
		add("policy %d, confirmed %s ago", t.Serial, t.age())
	}
	if t.Problem != "" {
		add("%s", t.Problem)
	}
	if t.Gate == "" {
		return out
	}
	switch {
	case !t.Bridge:
		add("not connected: no bridge runs; the next question starts one, or run 'assent bridge'")
	case !t.Away.IsZero():
		add("the server has not answered for %s: %s", now.Sub(t.Away).Round(time.Second), t.Why)
	default:
		add("connected")
	}
	waiting := count(t.Waiting, "request waits there", "requests wait there")
	if t.Refused > 0 {
		waiting += fmt.Sprintf("; the server does not take %d more", t.Refused)
	}
	add("%s; %s", waiting, count(int(t.Unsent), "record is not sent yet", "records are not sent yet"))
	if t.Log != "" && t.Away.IsZero() { // otherwise it was said already
		add("records: %s", t.Log)
	}
	return out
}
