package approvaltest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// TestGrantStore is the suite that every [approval.GrantStore] must pass. Open
// returns an empty store in which the sessions one and two are alive.
func TestGrantStore(t *testing.T, open func(t *testing.T) approval.GrantStore) {
	t.Run("is empty at first", func(t *testing.T) { wantGrants(t, open(t), "one") })
	t.Run("keeps grants in order", func(t *testing.T) {
		s := open(t)
		addGrants(t, s, grant("one", "b"), grant("one", "a"))
		addGrants(t, s, grant("one", "c"))
		wantGrants(t, s, "one", "b", "a", "c")
	})
	t.Run("keeps sessions apart", func(t *testing.T) {
		s := open(t)
		addGrants(t, s, grant("one", "a"), grant("two", "b"))
		wantGrants(t, s, "one", "a")
		wantGrants(t, s, "two", "b")
		wantGrants(t, s, "")
	})
	t.Run("keeps every field", func(t *testing.T) { grantFields(t, open(t)) })
	t.Run("a set that was read does not change", func(t *testing.T) {
		s := open(t)
		addGrants(t, s, grant("one", "a"))
		before := grantsOf(t, s, "one")
		before.Grants()[0].ID = "spoilt"
		addGrants(t, s, grant("one", "b"))
		if got := before.Grants(); len(got) != 1 || got[0].ID != "a" {
			t.Errorf("the set that was read before is now %v", got)
		}
		wantGrants(t, s, "one", "a", "b")
	})
	t.Run("gives ids to grants without", func(t *testing.T) {
		s := open(t)
		addGrants(t, s, grant("one", ""), grant("one", ""))
		got := grantsOf(t, s, "one").Grants()
		if got[0].ID == "" || got[0].ID == got[1].ID {
			t.Errorf("ids %q and %q, want two different ones", got[0].ID, got[1].ID)
		}
	})
	t.Run("takes grants from many at once", func(t *testing.T) { grantsAtOnce(t, open(t)) })
	t.Run("tells of a change", func(t *testing.T) {
		s := open(t)
		told := notified(s)
		addGrants(t, s, grant("one", "a"))
		told(t, true)
	})
}

func grant(session, id string) policy.Grant {
	return policy.Grant{
		ID: id, Session: session, Effect: policy.EffectAllow, Reach: policy.ReachExact, Created: Epoch,
		Act: policy.Act{Name: "write_file", Target: policy.PathTarget("notes/" + id), Verdict: policy.VerdictAsk},
	}
}

func addGrants(t *testing.T, s approval.GrantStore, grants ...policy.Grant) {
	t.Helper()
	if err := s.AddGrants(t.Context(), grants...); err != nil {
		t.Fatal(err)
	}
}

func grantsOf(t *testing.T, s approval.GrantStore, session string) *policy.GrantSet {
	t.Helper()
	set, err := s.Grants(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func wantGrants(t *testing.T, s approval.GrantStore, session string, ids ...string) {
	t.Helper()
	var got []string
	for _, g := range grantsOf(t, s, session).Grants() {
		got = append(got, g.ID)
	}
	if !slices.Equal(got, ids) {
		t.Errorf("session %q: grants %q, want %q", session, got, ids)
	}
}

// grantFields wants a grant to work after it was kept: for its worker and those
// that it calls, until it expires.
func grantFields(t *testing.T, s approval.GrantStore) {
	g := grant("one", "g")
	g.Workers, g.Shared, g.Reach = []string{"main"}, true, policy.ReachPrefix
	g.Expires, g.By = Epoch.Add(time.Hour), policy.Who{User: "ann", Host: "desk", Via: policy.ViaTerminal}
	addGrants(t, s, g)
	set := grantsOf(t, s, "one")
	if got := set.Grants()[0].By; got != g.By {
		t.Errorf("kept by %v, want %v", got, g.By)
	}
	act := policy.Act{Name: "write_file", Target: policy.PathTarget("notes/other"), Verdict: policy.VerdictAsk}
	for _, c := range []struct {
		workers []string
		at      time.Time
		want    policy.State
	}{
		{[]string{"main"}, Epoch, policy.StateSessionApproved},
		{[]string{"main", "child"}, Epoch, policy.StateSessionApproved},
		{[]string{"other"}, Epoch, policy.StatePending},
		{[]string{"main"}, g.Expires, policy.StatePending},
	} {
		q := policy.Question{
			Call: &policy.Call{Tool: "write_file", Session: "one", Workers: c.workers}, Now: c.at,
			Acts: []policy.Act{act},
		}
		if got := (policy.Policy{Grants: set}).Judge(q).State; got != c.want {
			t.Errorf("workers %v at %v: %s, want %s", c.workers, c.at, got, c.want)
		}
	}
}

func grantsAtOnce(t *testing.T, s approval.GrantStore) {
	const n = 20
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			session := []string{"one", "two"}[i%2]
			if err := s.AddGrants(context.Background(), grant(session, fmt.Sprint("a", i)), grant(session, fmt.Sprint("b", i))); err != nil {
				t.Errorf("adding: %v", err)
			}
			if _, err := s.Grants(context.Background(), session); err != nil {
				t.Errorf("reading: %v", err)
			}
		})
	}
	all.Wait()
	for _, session := range []string{"one", "two"} {
		got := grantsOf(t, s, session).Grants()
		if len(got) != n {
			t.Errorf("session %s has %d grants, want %d", session, len(got), n)
		}
		for i := 0; i+1 < len(got); i += 2 {
			if got[i].ID[1:] != got[i+1].ID[1:] {
				t.Errorf("grants %s and %s were added together and are kept apart", got[i].ID, got[i+1].ID)
			}
		}
	}
}
