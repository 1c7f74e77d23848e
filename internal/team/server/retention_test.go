//go:build all && linux

package server_test

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/server"
	"github.com/assent-dev/assent/policy"
)

// The server keeps what the newest policy says that the team's key signed, and everything while there is none in force.
func TestRetention(t *testing.T) {
	f := newTeam(t)
	r := f.serve()
	g := r.join()
	conn, err := pgx.Connect(t.Context(), f.dsn)
	f.must(err)
	defer conn.Close(t.Context())
	sql := func(statement string, args ...any) {
		t.Helper()
		pgtest.Exec(t, f.dsn, statement, args...)
	}
	publish := func(serial int64, change func(*bundle.Bundle)) {
		t.Helper()
		if status, said := r.publish(f.bundleWith(serial, change)); status != 200 {
			t.Fatalf("publish: %d %s", status, said)
		}
	}
	ended, _ := r.ask(g, f.question(g, func(q *approval.Request) { q.Routing.Need.Expires = time.Millisecond }))
	open, _ := r.ask(g, f.question(g))
	eventually(t, "it ends", func() bool {
		row, err := f.db.Request(t.Context(), ended)
		return err == nil && row.State != policy.StatePending // no policy knows the machine
	})
	if status := r.do("POST", "/gate/v1/audit", g, records(g.id, 0, make([]byte, sha256.Size), 10), nil); status != 200 {
		t.Fatalf("records: %d", status)
	}
	key, err := server.ReadLogKey(f.folder + "/log.key")
	f.must(err)
	_, err = f.db.MakeCheckpoint(t.Context(), key)
	f.must(err)
	sql(`INSERT INTO team.votes (tenant, request, person, vote, decision) VALUES ('acme', $1, $2, '{}', '{}')`, ended, f.ann.ID)
	sql(`UPDATE team.events SET at = at - interval '90 days'`)
	sql(`UPDATE team.requests SET changed = changed - interval '90 days', created = created - interval '90 days'`)
	sql(`INSERT INTO team.outbox (tenant, kind, subject, body, created, next_at)
		VALUES ('acme', 'request.settled', $1, '{}', now() - interval '90 days', 'infinity')`, ended)

	left := func() (out [4]int) {
		t.Helper()
		f.must(r.server.Prune(t.Context()))
		f.must(conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM team.requests), (SELECT count(*) FROM team.votes),
			(SELECT count(*) FROM team.events), (SELECT count(*) FROM team.outbox WHERE next_at = 'infinity')`).Scan(&out[0], &out[1], &out[2], &out[3]))
		return out
	}
	all := left()
	if all[0] != 2 || all[1] != 1 || all[2] != 10 || all[3] != 1 {
		t.Fatalf("without a policy %v are left", all)
	}
	for i, c := range []struct {
		what   string
		change func(*bundle.Bundle)
	}{
		{"that says nothing", func(*bundle.Bundle) {}},
		{"that keeps longer", func(b *bundle.Bundle) { b.KeepDays = 91 }},
		{"that has expired", func(b *bundle.Bundle) {
			b.KeepDays, b.Issued, b.Expires = 30, b.Issued.AddDate(0, 0, -2), b.Expires.AddDate(0, 0, -2)
		}},
	} {
		publish(int64(i+1), c.change)
		if got := left(); got != all {
			t.Errorf("with a policy %s %v are left, of %v", c.what, got, all)
		}
	}
	stranger := *f
	stranger.key, _ = teamKeys(t)
	sql(`INSERT INTO team.bundles (tenant, serial, note) VALUES ('acme', 4, $1)`,
		stranger.bundleWith(4, func(b *bundle.Bundle) { b.KeepDays = 1 }))
	if got := left(); got != all {
		t.Errorf("with a policy of another key %v are left, of %v", got, all)
	}
	sql(`DELETE FROM team.bundles WHERE serial = 4`)

	publish(4, func(b *bundle.Bundle) { b.KeepDays = 89 })
	if got := left(); got != [4]int{1, 0, 1, 0} {
		t.Errorf("%v are left", got)
	}
	if row, err := f.db.Request(t.Context(), open); err != nil || row.State != policy.StatePending {
		t.Errorf("what waits is gone: %v", err)
	}
	cfg, err := server.ReadConfig(f.file())
	f.must(err)
	for _, c := range server.Check(t.Context(), cfg) {
		if c.What == "database" && !strings.Contains(c.Text(), "records are kept for 89 days") {
			t.Errorf("--check says %q", c.Text())
		}
	}
}
