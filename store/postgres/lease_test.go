//go:build all && linux

package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/postgres"
	"github.com/assent-dev/assent/store/sessions"
)

// ids are those of the open requests.
func ids(t *testing.T, s *postgres.Store) (out []string) {
	t.Helper()
	open, err := s.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range open {
		out = append(out, p.Request.ID)
	}
	return out
}

// What a process asked is open as long as its lease lasts, which ends with the time or with the store.
func TestARequestEndsWithTheLeaseOfItsProcess(t *testing.T) {
	dsn, clock := pgtest.Start(t).DSN(), new(approvaltest.Clock)
	looks := openStore(t, dsn, postgres.Options{Clock: clock.Now})
	for name, leave := range map[string]func(*postgres.Store){
		"the time": func(*postgres.Store) { clock.Advance(2 * time.Minute) },
		"the store": func(s *postgres.Store) {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		asks, err := postgres.Open(t.Context(), dsn, postgres.Options{Clock: clock.Now, Lease: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = asks.Close() }()
		owner := sessions.Process(asks.Owner())
		if err := asks.BeginSession(t.Context(), sessions.Session{ID: name, Kind: sessions.KindRun, Owner: owner}); err != nil {
			t.Fatal(err)
		}
		r := approvaltest.Requests(t, 1, name)[0]
		r.Origin.Process = asks.Owner()
		if err := asks.Post(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if got := ids(t, looks); len(got) != 1 || got[0] != r.ID {
			t.Errorf("%s: open %q, want the request", name, got)
		}
		leave(asks)
		if got := ids(t, looks); len(got) != 0 {
			t.Errorf("%s: open %q after its process is gone", name, got)
		}
		ended, err := looks.CleanSessions(t.Context())
		if err != nil || len(ended) != 1 || ended[0].ID != name {
			t.Errorf("%s: ended %+v, %v", name, ended, err)
		}
		if p, err := looks.Posted(t.Context(), r.ID); err != nil || p.Settled == nil || p.Settled.State != policy.StateDismissed {
			t.Errorf("%s: the request is %+v, %v; want it dismissed", name, p.Settled, err)
		}
	}
}

// A process that lives renews its lease.
func TestALeaseIsRenewed(t *testing.T) {
	dsn := pgtest.Start(t).DSN()
	s := openStore(t, dsn, postgres.Options{Lease: 300 * time.Millisecond})
	if err := s.BeginSession(t.Context(), sessions.Session{ID: "s", Kind: sessions.KindRun, Owner: sessions.Process(s.Owner())}); err != nil {
		t.Fatal(err)
	}
	p := pool(t, dsn)
	until := func() (at time.Time) {
		if err := p.QueryRow(t.Context(), "SELECT until FROM store_leases").Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	first := until()
	waitUntil(t, func() bool { return until().After(first.Add(time.Second)) })
}

func TestPages(t *testing.T) {
	s := openStore(t, pgtest.Start(t).DSN(), postgres.Options{})
	all := approvaltest.Requests(t, 25, "s")
	if err := s.Post(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	if err := s.Post(t.Context(), approvaltest.Requests(t, 3, "other")...); err != nil {
		t.Fatal(err)
	}
	var got []string
	pages := 0
	for f := (approval.OpenFilter{Session: "s", Limit: 10}); pages == 0 || f.After != ""; pages++ {
		page, next, err := s.OpenPage(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page {
			got = append(got, p.Request.ID)
		}
		f.After = next
	}
	if pages != 3 || len(got) != 25 || got[0] != all[0].ID || got[24] != all[24].ID {
		t.Errorf("%d requests in %d pages: %q", len(got), pages, got)
	}
	if _, _, err := s.OpenPage(t.Context(), approval.OpenFilter{After: "nonsense"}); err == nil {
		t.Error("a page after nonsense")
	}
}

// What has expired by the database's clock does not hold, whatever the gate's clock says.
func TestTheDatabasesClockEndsRules(t *testing.T) {
	clock := new(approvaltest.Clock)
	s := openStore(t, pgtest.Start(t).DSN(), postgres.Options{Clock: clock.Now})
	r, err := policy.ParseRule("allow shell")
	if err != nil {
		t.Fatal(err)
	}
	r.Expires = clock.Now().Add(time.Hour)
	if err := s.AddRules(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		set, err := s.Rules(t.Context())
		if err != nil || len(set.Rules()) != want {
			t.Errorf("%d rules, %v; want %d", len(set.Rules()), err, want)
		}
		clock.Advance(2 * time.Hour)
	}
	if err := s.RemoveRule(t.Context(), "none"); !errors.Is(err, policy.ErrRuleNotFound) {
		t.Errorf("removing a rule that is not there: %v", err)
	}
}
