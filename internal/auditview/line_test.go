package auditview_test

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/auditview"
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
		"approved …":          func(r *approval.Record) { r.Kind = approval.Started },
		"approved NO END":     func(r *approval.Record) { r.Unended = true },
	} {
		r := &approval.Record{Event: approval.Event{Kind: approval.Ended, Tool: "build", State: approval.Approved}}
		change(r)
		if got := auditview.Line(r); !strings.Contains(got, "  "+want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}
