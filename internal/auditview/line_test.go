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
