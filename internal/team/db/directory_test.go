//go:build all && linux

package db_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/wire"
)

func TestPeopleGroupsAndKeys(t *testing.T) {
	d := open(t, pgtest.Start(t).DSN())
	ann := sponsor(t, d)
	if again := sponsor(t, d); again.ID != ann.ID {
		t.Error("a person is there twice")
	}
	bob, err := d.AddPerson(t.Context(), "https://issuer.example", "bob", "Bob")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.AddGroup(t.Context(), "sre"); err != nil {
		t.Fatal(err)
	}
	now, err := d.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []db.Membership{{Person: ann.ID, Source: "admin"}, {Person: bob.ID, From: now.Add(-2 * time.Hour), Until: now.Add(-time.Hour)}} {
		if err := d.SetMember(t.Context(), "sre", m); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.SetMember(t.Context(), "nobody", db.Membership{Person: ann.ID}); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("a group that is not there: %v", err)
	}
	people, err := d.People(t.Context())
	if err != nil || len(people) != 2 || !slices.Equal(people[0].Groups, []string{"sre"}) || len(people[1].Groups) != 0 {
		t.Errorf("%+v, %v", people, err)
	}

	key := db.Credential{ID: "k1", Person: bob.ID, Kind: approval.StrengthPasskey, Public: []byte("public"), RP: "assent.example.org", Name: "phone", EnrolledBy: bob.ID}
	if _, err := d.Enrol(t.Context(), key, "", time.Hour); err == nil {
		t.Error("a first key without an invitation")
	}
	if _, err := d.Invite(t.Context(), bob.ID, bob.ID, "", time.Hour); err == nil {
		t.Error("an invitation by oneself")
	}
	secret, err := d.Invite(t.Context(), bob.ID, ann.ID, "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	stolen := key
	stolen.Person = ann.ID
	if _, err := d.Enrol(t.Context(), stolen, secret, time.Hour); !errors.Is(err, db.ErrSpent) {
		t.Errorf("an invitation for another person: %v", err)
	}
	got, err := d.Enrol(t.Context(), key, secret, time.Hour)
	if err != nil || got.EnrolledBy != ann.ID || got.CountsFrom.Sub(got.Created) != time.Hour {
		t.Errorf("%+v, %v", got, err)
	}
	key.ID = "k2"
	if _, err := d.Enrol(t.Context(), key, secret, time.Hour); !errors.Is(err, db.ErrSpent) {
		t.Errorf("an invitation twice: %v", err)
	}
	if _, err := d.Enrol(t.Context(), key, "", time.Hour); err == nil {
		t.Error("a key vouched for by one that still waits")
	}
	// Somebody else's key under another id: its public half is no secret.
	secret, err = d.Invite(t.Context(), ann.ID, bob.ID, "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	copied := key
	copied.ID, copied.Person = "k3", ann.ID
	if _, err := d.Enrol(t.Context(), copied, secret, time.Hour); !errors.Is(err, db.ErrExists) {
		t.Errorf("the key of another: %v", err)
	}
	// What somebody vouched for who is disabled by now, or was since.
	token, err := d.JoinToken(t.Context(), bob.ID, "admin", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, disabled := range []bool{true, false} {
		if err := d.DisablePerson(t.Context(), bob.ID, disabled); err != nil {
			t.Fatal(err)
		}
		copied.Public = []byte("another")
		_, err := d.Enrol(t.Context(), copied, secret, time.Hour)
		if !errors.Is(err, db.ErrSpent) {
			t.Errorf("an invitation by somebody who is disabled (%v): %v", disabled, err)
		}
		_, err = d.Join(t.Context(), wire.Join{Token: token, Public: bytes.Repeat([]byte("k"), 32), Host: "h", User: "u"})
		if !errors.Is(err, db.ErrSpent) {
			t.Errorf("a token for somebody who is disabled (%v): %v", disabled, err)
		}
	}
	notices, err := d.TakeNotices(t.Context(), 1, time.Minute)
	if err != nil || len(notices) != 1 || notices[0].Kind != db.NoticeEnrolled || bytes.Contains(notices[0].Body, []byte(secret)) {
		t.Errorf("%+v, %v", notices, err)
	}
}

func TestAMachineJoinsOnce(t *testing.T) {
	d := open(t, pgtest.Start(t).DSN())
	ann := sponsor(t, d)
	token, err := d.JoinToken(t.Context(), ann.ID, "admin", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	ids, refused := map[string]bool{}, 0
	var all sync.WaitGroup
	for i := range 8 {
		j := wire.Join{Token: token, Public: bytes.Repeat([]byte{byte(i / 4)}, 32), Host: "laptop"}
		all.Go(func() {
			g, err := d.Join(t.Context(), j)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				ids[g.ID] = true
			case errors.Is(err, db.ErrSpent):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(ids) != 1 || refused != 4 {
		t.Errorf("%d machines joined, %d were refused", len(ids), refused)
	}
	old, err := d.JoinToken(t.Context(), ann.ID, "admin", -time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Join(t.Context(), wire.Join{Token: old, Public: bytes.Repeat([]byte{9}, 32)}); !errors.Is(err, db.ErrSpent) {
		t.Errorf("an expired token: %v", err)
	}
	for id := range ids {
		if err := d.Lease(t.Context(), map[string]int64{id: 7}, time.Minute); err != nil {
			t.Fatal(err)
		}
		if err := d.SetAgent(t.Context(), db.Agent{Gate: id, Name: "claude-code", Sponsor: "nobody"}); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("an agent without a sponsor: %v", err)
		}
		if g, err := d.Gate(t.Context(), id); err != nil || g.Serial != 7 || !g.LeaseUntil.After(g.Created) {
			t.Errorf("%+v, %v", g, err)
		}
	}
}

// verify takes a note that says "signed N".
func verify(note []byte) (serial int64, err error) {
	_, err = fmt.Sscanf(string(note), "signed %d", &serial)
	return serial, err
}

func TestBundlesRiseByOne(t *testing.T) {
	dsn := pgtest.Start(t).DSN()
	d := open(t, dsn)
	publish := func(serial int) error {
		_, err := d.Publish(t.Context(), []byte("signed "+strconv.Itoa(serial)), verify)
		return err
	}
	if _, err := d.Newest(t.Context(), verify); !errors.Is(err, db.ErrNotFound) {
		t.Errorf("none yet: %v", err)
	}
	// Somebody who writes to the database is in nobody's way.
	sql(t, dsn, `INSERT INTO team.bundles (tenant, serial, note) SELECT $1, n, 'forged' FROM generate_series(2, 60) AS n`, tenant)
	sql(t, dsn, `INSERT INTO team.bundles (tenant, serial, note) VALUES ($1, 9000000000000000000, 'signed 1')`, tenant)
	for serial, want := range []error{nil, nil, nil} {
		if err := publish(serial + 1); !errors.Is(err, want) {
			t.Errorf("%d: %v", serial+1, err)
		}
	}
	for _, serial := range []int{2, 5} {
		if err := publish(serial); !errors.Is(err, db.ErrSerial) {
			t.Errorf("%d: %v", serial, err)
		}
	}
	if _, err := d.Publish(t.Context(), []byte("forged"), verify); err == nil {
		t.Error("a bundle that does not verify")
	}
	list, err := d.Bundles(t.Context(), verify)
	if err != nil || len(list) != 3 || list[0].Serial != 3 {
		t.Errorf("%+v, %v", list, err)
	}
	var won int
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			_, err := d.Publish(t.Context(), fmt.Appendf(nil, "signed 4 by %d", i), verify)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.Is(err, db.ErrSerial) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if won != 1 {
		t.Errorf("%d bundles have the serial 4", won)
	}
}

// A call that began before somebody signed out, and ends later, does not bring their session back.
func TestAttack_ASessionThatComesBack(t *testing.T) {
	d := open(t, pgtest.Start(t).DSN())
	s, until := d.Sessions(), time.Now().Add(time.Hour)
	if err := s.Commit("token", []byte("data"), until); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete("token"); err != nil {
		t.Fatal(err)
	}
	for _, between := range []func() error{func() error { return nil }, func() error { return d.Prune(t.Context(), 0) }} {
		if err := errors.Join(between(), s.Commit("token", []byte("data"), until)); err != nil {
			t.Fatal(err)
		}
		if data, found, err := s.Find("token"); err != nil || found {
			t.Errorf("the session is back: %q, %v", data, err)
		}
	}
}

// What lets in a key or a machine ends with the person by whom or for whom it is, and does not begin anew with them.
func TestAttack_AnInvitationThatOutlivesAPerson(t *testing.T) {
	d := open(t, pgtest.Start(t).DSN())
	ann := sponsor(t, d)
	bob, err := d.AddPerson(t.Context(), "https://issuer.example", "bob", "Bob")
	if err != nil {
		t.Fatal(err)
	}
	token, err := d.JoinToken(t.Context(), bob.ID, ann.ID, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{} // for whom by what
	for _, who := range []struct{ person, by string }{{ann.ID, bob.ID}, {bob.ID, ann.ID}} {
		secret, err := d.Invite(t.Context(), who.person, who.by, "", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		secrets[secret] = who.person
	}
	for _, disabled := range []bool{true, false} {
		if err := d.DisablePerson(t.Context(), bob.ID, disabled); err != nil {
			t.Fatal(err)
		}
	}
	for secret, person := range secrets {
		key := db.Credential{ID: "k" + person, Person: person, Kind: approval.StrengthPasskey, Public: []byte(person), RP: "h",
			Name: "phone"}
		if _, err := d.Enrol(t.Context(), key, secret, time.Hour); !errors.Is(err, db.ErrSpent) {
			t.Errorf("a key of %s was let in: %v", person, err)
		}
	}
	_, err = d.Join(t.Context(), wire.Join{Token: token, Public: make([]byte, 32), Host: "h", User: "u"})
	if !errors.Is(err, db.ErrSpent) {
		t.Errorf("a machine of Bob joined: %v", err)
	}
}

func TestWebSessionsAndNotices(t *testing.T) {
	dsn := pgtest.Start(t).DSN()
	d := open(t, dsn)
	s := d.Sessions()
	if err := s.Commit("token", []byte("data"), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit("old", []byte("data"), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if data, found, err := s.Find("token"); err != nil || !found || string(data) != "data" {
		t.Errorf("%q, %v, %v", data, found, err)
	}
	if _, found, err := s.Find("old"); err != nil || found {
		t.Errorf("an expired session: %v, %v", found, err)
	}
	if err := s.Delete("token"); err != nil {
		t.Fatal(err)
	}
	if _, found, err := s.Find("token"); err != nil || found {
		t.Errorf("a deleted session: %v, %v", found, err)
	}

	sql(t, dsn, `INSERT INTO team.outbox (tenant, kind, subject, body) SELECT $1, 'request.opened', n::text, '{}' FROM generate_series(1, 100) AS n`, tenant)
	var mu sync.Mutex
	taken := map[int64]int{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				list, err := d.TakeNotices(t.Context(), 7, time.Hour)
				if err != nil {
					t.Error(err)
				}
				if len(list) == 0 {
					return
				}
				mu.Lock()
				for _, n := range list {
					taken[n.ID]++
				}
				mu.Unlock()
				if err := d.Sent(t.Context(), list[1:]...); err != nil {
					t.Error(err)
				}
				if err := d.NotSent(t.Context(), list[0], errors.New("refused")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for id, times := range taken {
		if times != 1 {
			t.Errorf("notice %d was taken %d times", id, times)
		}
	}
	if len(taken) != 100 {
		t.Errorf("%d were taken", len(taken))
	}
	sql(t, dsn, `UPDATE team.outbox SET next_at = now() - interval '1 second'`)
	again, err := d.TakeNotices(t.Context(), 100, time.Hour)
	if err != nil || len(again) < 15 || again[0].Tries != 2 {
		t.Errorf("%d are tried again, %v", len(again), err)
	}
}

// A connection string with a mistake does not come into the log with its password.
func TestAttack_PasswordInAMistake(t *testing.T) {
	for _, dsn := range []string{"secret", "password = secret x", "host=h password= secret", "password='secret", "postgres://u:secret%zz@h/x",
		"postgres://u:se/cret@h/x", "postgres://u@secret@h:x/y", "user=u password=secret sslrootcert=/nowhere sslmode=verify-full"} {
		d, err := db.Open(t.Context(), dsn, tenant)
		if err == nil {
			d.Close()
		}
		if err == nil || strings.Contains(err.Error(), "cret") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

// An administrator copies the command. An id that somebody wrote into the database is no other command.
func TestAttack_IDThatIsACommand(t *testing.T) {
	for id, want := range map[string]string{
		"c_7f3a": "c_7f3a", "-AB_c": "-- -AB_c", "x; touch /tmp/x": "'x; touch /tmp/x'", "$(id)": "'$(id)'",
		"x'; id #": `'x'\''; id #'`, "-x `id`": "-- '-x `id`'", "": "''",
	} {
		if got := (&db.Credential{ID: id}).RevokeCommand(); got != "assent people revoke-key "+want {
			t.Errorf("%q: %s", id, got)
		}
	}
}

// Of many enrolments of one key at the same moment one is taken, and a database from before that was sure keeps the first.
func TestOneKeyIsEnrolledOnce(t *testing.T) {
	dsn := pgtest.Start(t).DSN()
	d := open(t, dsn)
	bob, err := d.AddPerson(t.Context(), "https://issuer.example", "bob", "Bob")
	if err != nil {
		t.Fatal(err)
	}
	const tries = 8
	results := make(chan error, tries)
	for i := range tries {
		secret, err := d.Invite(t.Context(), bob.ID, "admin", "", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		key := db.Credential{ID: "k" + strconv.Itoa(i), Person: bob.ID, Kind: approval.StrengthPasskey, Public: []byte("public")}
		go func() {
			_, err := d.Enrol(t.Context(), key, secret, 0)
			results <- err
		}()
	}
	taken := 0
	for range tries {
		if err := <-results; err == nil {
			taken++
		} else if !errors.Is(err, db.ErrExists) {
			t.Error(err)
		}
	}
	if taken != 1 {
		t.Errorf("%d of %d were taken", taken, tries)
	}

	sql(t, dsn, `ALTER TABLE team.credentials DROP CONSTRAINT credentials_tenant_public_key`)
	sql(t, dsn, `ALTER TABLE team.people DROP COLUMN era`)
	sql(t, dsn, `ALTER TABLE team.invitations DROP COLUMN nonce`)
	sql(t, dsn, `ALTER TABLE team.votes DROP COLUMN expires`)
	sql(t, dsn, `DELETE FROM schema_versions WHERE component = 'team' AND version = 2`)
	sql(t, dsn, `INSERT INTO team.credentials SELECT tenant, 'later', person, kind, public, rp, aaguid, backed_up, name, enrolled_by,
		created + interval '1 second', counts_from, revoked FROM team.credentials`)
	first, err := d.Credentials(t.Context(), bob.ID)
	if err != nil || len(first) != 2 {
		t.Fatalf("%+v, %v", first, err)
	}
	kept, err := open(t, dsn).Credentials(t.Context(), bob.ID)
	if err != nil || len(kept) != 1 || kept[0].ID != first[0].ID {
		t.Errorf("%+v, %v", kept, err)
	}
}
