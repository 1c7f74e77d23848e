package auditview_test

import (
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/policy"
)

// TestLineSaysHowACallEnded: a line that says only "approved" is of a call that ran to its
// end.
func TestLineSaysHowACallEnded(t *testing.T) {
	for want, change := range map[string]func(*approval.Record){
		"approved  ":          func(r *approval.Record) { r.Stage = approval.StageCompleted },
		"approved, failed":    func(r *approval.Record) { r.Stage = approval.StageFailed },
		"approved, cancelled": func(r *approval.Record) { r.Stage = approval.StageCancelled },
		"approved, suspended": func(r *approval.Record) { r.Stage = approval.StageSuspended },
		"approved, unknown":   func(r *approval.Record) { r.Stage = approval.StageUnknown },
		"approved …":          func(r *approval.Record) { r.Kind = approval.EventStarted },
		"approved NO END":     func(r *approval.Record) { r.Unended = true },
	} {
		r := &approval.Record{Event: approval.Event{Kind: approval.EventEnded, Tool: "build", State: policy.StateApproved}}
		change(r)
		if got := auditview.Line(r); !strings.Contains(got, "  "+want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}

func TestLineOfAConnection(t *testing.T) {
	for want, e := range map[string]approval.Event{
		"(connected)       client: connect(a.example:443)  · 10 bytes sent, 2000 received, 1.5s; rule allow connect(a.example:443)": {
			State: policy.StateAutoApproved, Basis: "rule allow connect(a.example:443)", Sent: 10, Received: 2000, Duration: 1500 * time.Millisecond},
		"(connected)       client: connect(a.example:443)  · 0 bytes sent, 0 received, 0s; ann (terminal); connection reset": {
			State: policy.StateApproved, By: policy.Who{User: "ann", Via: policy.ViaTerminal}, Error: "connection reset"},
		"(refused)         client: connect(a.example:443)  · the host is denied": {State: policy.StateBlocked, Error: "the host is denied"},
	} {
		e.Kind, e.Tool, e.Host, e.Port, e.Acts = approval.EventConnected, "client", "a.example", "443", []string{"connect(a.example:443)"}
		r := &approval.Record{Event: e}
		if got := auditview.Line(r); !strings.HasSuffix(got, want) {
			t.Errorf("%q does not end with %q", got, want)
		}
		var story strings.Builder
		if err := (auditview.Story{Records: []approval.Record{*r}}).Print(&story); err != nil || !strings.Contains(story.String(), "host        a.example\nport        443\nsent") {
			t.Errorf("%s %v", story.String(), err)
		}
	}
}

// The record of a call that two people decided shows both.
func TestStoryShowsWhoVoted(t *testing.T) {
	vote := func(id, name, key string) approval.Voted {
		return approval.Voted{Person: id, Name: name, Strength: approval.StrengthPasskey,
			Vote: approval.Vote{Proof: approval.Proof{Credential: key}, Note: "fine"}}
	}
	r := approval.Record{Event: approval.Event{Kind: approval.EventEnded, Tool: "build", State: policy.StateApproved, Sponsor: "p_eve",
		Votes: []approval.Voted{vote("p_ann", "Ann", "k1"), vote("p_bob", "Bob", "k2")}}}
	var story strings.Builder
	if err := (auditview.Story{Records: []approval.Record{r}}).Print(&story); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"voted         Ann (p_ann), with a passkey k1: fine\n", "  Bob (p_bob), with a passkey k2: fine\n", "sponsor     p_eve\n"} {
		if !strings.Contains(story.String(), want) {
			t.Errorf("%s\ndoes not have %q", story.String(), want)
		}
	}
}
