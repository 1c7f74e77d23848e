//go:build all && linux

package postgres_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/postgres"
)

// A notification says which requests have changed, and only who waits for one of them is woken.
func TestWatchersAreToldWhichRequests(t *testing.T) {
	dsn := pgtest.Start(t).DSN()
	one := openStore(t, dsn, postgres.Options{Poll: time.Hour})
	two := openStore(t, dsn, postgres.Options{Poll: time.Hour})
	told := make(chan []string, 100)
	defer two.WatchRequests(func(ids []string) { told <- ids })()
	r := approvaltest.Requests(t, 3, "s")
	if err := one.Post(t.Context(), r...); err != nil {
		t.Fatal(err)
	}
	if err := one.Answer(t.Context(), r[1].Deny("")); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case ids := <-told:
			if slices.Contains(ids, r[1].ID) || ids == nil {
				return
			}
		case <-t.Context().Done():
			t.Fatal("nobody was told")
		}
	}
}

// Where notifications do not arrive, as behind a proxy that shares connections, a store looks by itself and says so.
func TestADeafStoreLooksByItself(t *testing.T) {
	dsn := pgtest.Start(t).DSN()
	var warned atomic.Int64
	// Such a proxy takes LISTEN and delivers nothing.
	defer postgres.ListenWith("SELECT")()
	deaf := openStore(t, dsn, postgres.Options{Poll: time.Hour, Warn: func(err error) { warned.Add(1); t.Log(err) }})
	told := make(chan struct{}, 100)
	defer deaf.NotifyRequests(func() { told <- struct{}{} })()
	waitUntil(t, func() bool { return warned.Load() > 0 })
	other := openStore(t, dsn, postgres.Options{})
	r := approvaltest.Requests(t, 1, "s")[0]
	if err := other.Post(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	<-told
	if err := other.Answer(t.Context(), r.Deny("")); err != nil {
		t.Fatal(err)
	}
	got, err := deaf.Await(t.Context(), r.ID)
	if err != nil || got.Settled.State != policy.StateDenied {
		t.Errorf("%+v, %v", got.Settled, err)
	}
}
