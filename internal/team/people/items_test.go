package people

import (
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/policy"
)

// A yes that was not enough does not make its voter the one who ended the request.
func TestTheHistoryOfWhatExpired(t *testing.T) {
	for state, by := range map[policy.State]string{policy.StateExpired: "", policy.StateDismissed: "", policy.StateDenied: "Bob", policy.StateApproved: "Bob"} {
		b := &bench{Bundle: &bundle.Bundle{People: []bundle.Person{{ID: "p_bob", Name: "Bob"}}}}
		r := &db.Request{Request: &approval.Request{Routing: &approval.Routing{}}, State: state, Voted: []string{"p_bob"}}
		if got := b.item(r, db.Person{}).By; got != by {
			t.Errorf("%s by %q, want %q", state, got, by)
		}
	}
}
