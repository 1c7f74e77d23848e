//go:build all && linux

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/team/admin"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/internal/team/server"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// An office is a team's database, its server's file, and the commands of who administers it.
type office struct {
	*testing.T
	dir, state string
	dsn        string
	db         *db.DB
	trust      string
	key        admin.Key // of the log
	log        *store.Store
	ago        time.Duration // how old what it records is
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{T: t, dir: t.TempDir()}
	o.state = filepath.Join(o.dir, "state")
	t.Setenv("HOME", o.dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(o.dir, "config"))
	o.dsn = pgtest.Start(t).DSN()
	put(t, o.file("dsn"), o.dsn)
	_, err := server.MakeLogKey(o.file("log.key"), "acme")
	o.must(err)
	o.key, err = admin.ReadKey(o.file("log.key"))
	o.must(err)
	o.trust = strings.TrimSpace(o.ok("policy", "key", "acme", "--file", o.file("acme.key")))
	put(t, o.file("serve.yaml"), fmt.Sprintf("tenant: acme\nlisten: 127.0.0.1:0\nmetrics: \"off\"\nurl: https://assent.example.org\n"+
		"database: {dsn_file: dsn}\ntrust: %s\nlog_key: log.key\n", o.trust))
	o.db, err = db.Open(t.Context(), o.dsn, "acme")
	o.must(err)
	t.Cleanup(o.db.Close)
	return o
}

func (o *office) file(name string) string { return filepath.Join(o.dir, name) }

func (o *office) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

// run runs a command; those about the team get the server's file.
func (o *office) run(args ...string) (status int, stdout, stderr string) {
	switch args[0] {
	case "people", "groups", "gates", "agents":
		args = slices.Insert(args, 1, "--config", o.file("serve.yaml")) // args may end with -- and words
	case "policy":
		if args[1] != "key" && !strings.Contains(strings.Join(args, " "), "--server") {
			args = append(args, "--config", o.file("serve.yaml"))
		}
	}
	var out, errors bytes.Buffer
	status = run(args, &out, &errors)
	return status, out.String(), errors.String()
}

func (o *office) ok(args ...string) string {
	o.Helper()
	status, out, errors := o.run(args...)
	if status != 0 {
		o.Fatalf("assent %v: status %d\n%s%s", args, status, out, errors)
	}
	return out
}

// fails runs a command that must fail and say why.
func (o *office) fails(why string, args ...string) {
	o.Helper()
	if status, out, errors := o.run(args...); status == 0 || !strings.Contains(errors, why) {
		o.Errorf("assent %v: status %d, want %q\n%s%s", args, status, why, out, errors)
	}
}

func (o *office) sees(text string, words ...string) {
	o.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			o.Errorf("%q is not in\n%s", w, text)
		}
	}
}

// join makes this a machine of the team, with a log of its own.
func (o *office) join() string {
	o.Helper()
	token := strings.TrimSpace(o.ok("gates", "invite", "--sponsor", "ann"))
	public, private, err := ed25519.GenerateKey(nil)
	o.must(err)
	gate, err := o.db.Join(o.Context(), wire.Join{Token: token, Public: public, Host: "laptop", User: "ann"})
	o.must(err)
	if _, err := o.db.Join(o.Context(), wire.Join{Token: token, Public: make([]byte, 32), Host: "other"}); err == nil {
		o.Error("a token works twice")
	}
	o.must(os.MkdirAll(o.state, 0o700))
	o.must(member.SaveMachine(o.state, &member.Machine{Tenant: "acme", Gate: gate.ID, Server: "https://assent.example.org", Private: private}))
	o.log, err = store.Open(o.Context(), o.state, store.Options{Detail: approval.DetailRedacted})
	o.must(err)
	o.Cleanup(func() { _ = o.log.Close() })
	return gate.ID
}

// call records a command that was answered so, and ships the log.
func (o *office) call(gate string, state policy.State, asked bool, words ...string) {
	o.Helper()
	act := policy.Act{Name: policy.ActShell, Target: policy.CommandTarget(words...), Verdict: policy.VerdictAsk, Known: true}
	e := approval.Event{Kind: approval.EventEnded, At: time.Now().Add(-o.ago), Session: "s", CallID: fmt.Sprint("c", time.Now().UnixNano()), Tool: "shell",
		State: state, ActData: []policy.Act{act}, Acts: []string{act.String()}}
	if asked {
		e.Requested = e.At
	}
	o.must(o.log.Record(o.Context(), e))
	rows, err := o.log.ChainRows(o.Context(), 0, 1000, 1<<20)
	o.must(err)
	records := wire.Records{Stream: gate}
	for _, r := range rows {
		records.Rows = append(records.Rows, wire.Record(r))
	}
	_, err = o.db.Append(o.Context(), gate, records)
	o.must(err)
}

// A team is set up, its policy published, tried and taken back with commands.
func TestTeam_Administration(t *testing.T) {
	o := newOffice(t)
	o.fails("--issuer", "people", "add", "ann", "--name", "Ann", "--subject", "1")
	file, err := os.ReadFile(o.file("serve.yaml"))
	o.must(err)
	put(t, o.file("serve.yaml"), string(file)+"oidc: {issuer: https://login.example.org, client_id: assent}\n")
	o.fails("people sign in at https://login.example.org", "people", "add", "ann", "--name", "Ann", "--subject", "1", "--issuer", "https://login.example.org/")
	for _, who := range []string{"ann", "bob", "eve"} {
		o.ok("people", "add", who, "--name", strings.ToUpper(who[:1])+who[1:], "--subject", who)
	}
	o.fails("somebody already has", "people", "add", "other", "--name", "Other", "--issuer", "https://login.example.org", "--subject", "ann")
	o.fails("unknown person \"nobody\"", "groups", "add", "sre", "ann", "nobody")
	if out := o.ok("groups", "list"); !strings.Contains(out, "There are no groups") {
		t.Errorf("a command that failed left a group: %s", out)
	}
	o.ok("groups", "add", "sre", "ann", "bob")
	o.ok("groups", "add", "oncall", "bob", "--until", "30d")
	o.ok("groups", "add", "oncall", "ann", "--from", "30d")
	o.fails("which policies use", "groups", "add", "sponsor", "ann")
	o.sees(o.ok("groups", "list"), "sre", "p_ann", "until 20")
	o.fails("unknown person \"nobody\"", "groups", "remove", "sre", "ann", "nobody")
	o.sees(o.ok("groups", "list"), "2 members")
	o.ok("people", "disable", "eve")
	o.fails("p_eve is disabled", "gates", "invite", "--sponsor", "eve")
	o.fails("missing --sponsor", "gates", "invite")
	gate := o.join()
	o.ok("agents", "set", "laptop", "claude-code", "--sponsor", "bob")
	o.sees(o.ok("agents", "list"), gate, "claude-code", "sponsor p_bob")
	o.sees(o.ok("gates", "list"), gate, "ann@laptop", "sponsor p_ann")
	secret := strings.TrimSpace(o.ok("people", "invite", "ann", "--by", "bob"))
	if who, by, err := o.db.Invited(t.Context(), secret); err != nil || who != "p_ann" || by != "p_bob" {
		t.Errorf("invited %q by %q: %v", who, by, err)
	}
	var people []map[string]any
	o.must(json.Unmarshal([]byte(o.ok("people", "list", "--json")), &people))
	if text := o.ok("people", "list", "--json"); len(people) != 3 || strings.Contains(text, secret) {
		t.Errorf("people: %s", text)
	}

	o.call(gate, policy.StateAutoApproved, false, "npm", "test")
	o.call(gate, policy.StateDenied, true, "git", "push")
	o.call(gate, policy.StateApproved, true, "kubectl", "delete", "pod")
	key := o.file("acme.key")
	put(t, o.file("team.yaml"), "version: 1\nrules:\n  - deny shell(npm publish)\n")
	o.fails("--editor", "policy", "publish", o.file("team.yaml"), "--key", key, "--yes")
	o.fails("there is nobody to ask", "policy", "publish", o.file("team.yaml"), "--key", key, "--editor", "ann")
	o.fails("not one of the people", "policy", "publish", o.file("team.yaml"), "--key", key, "--editor", "eve", "--yes")
	o.sees(o.ok("policy", "diff", o.file("team.yaml"), "--editor", "ann"), "+ p_bob in oncall until 20", "+ p_ann in oncall from 20", "+ p_ann in sre\n")
	o.sees(o.ok("policy", "publish", o.file("team.yaml"), "--key", key, "--editor", "ann", "--yes"), "Published serial 1.")
	put(t, o.file("second.yaml"), "version: 1\nrules:\n  - allow shell(git push)\n  - deny shell(npm test)\ndeciders:\n"+
		"  - acts: [\"shell(kubectl delete *)\"]\n    need: [{from: sre, count: 2}]\n    not: [sponsor]\n")
	diff := o.ok("policy", "diff", o.file("second.yaml"), "--editor", "bob")
	o.sees(diff, "From serial 1 to 2:", "-  - deny shell(npm publish)", "+ shell(kubectl delete *): 2 of sre", "editors p_bob, was p_ann",
		"Note: Decider 1 needs 2 of sre with a passkey, and 0 can",
		"Tried on 3 calls of 1 machine", "! 1× shell(git push) (was ask", "1× shell(npm test) (was ask", "1× shell(kubectl delete pod) (was ask, now 2 of sre",
		"1 call, marked with !, would have run")
	if strings.Contains(diff, "Eve") {
		t.Errorf("somebody who is disabled is in the bundle: %s", diff)
	}
	var published struct {
		Published  bool
		Serial     int64
		ValidUntil time.Time `json:"valid_until"`
	}
	said := o.ok("policy", "publish", o.file("second.yaml"), "--key", key, "--editor", "bob", "--yes", "--json", "--valid", "30d")
	o.must(json.Unmarshal([]byte(said), &published))
	left := time.Until(published.ValidUntil).Round(time.Hour)
	if !published.Published || published.Serial != 2 || left != 30*24*time.Hour {
		t.Errorf("%+v in %s", published, said)
	}
	o.sees(o.ok("policy", "history", "--limit", "1"), "1 decider ")
	for want, args := range map[string][]string{
		"missing FILE": {"policy", "publish"}, "missing ID": {"people", "add"}, "missing GROUP": {"groups", "add"},
		"missing AGENT": {"agents", "set", "laptop"}, "--until": {"groups", "add", "sre", "--until", "soon"},
		"--valid": {"policy", "diff", "x", "--valid", "xd"},
	} {
		if status, _, errors := o.run(args...); status != 2 || !strings.Contains(errors, want) {
			t.Errorf("assent %v: status %d: %s", args, status, errors)
		}
	}
	if _, help, _ := o.run("policy", "publish", "--help"); !strings.Contains(help, "(default 90d)") {
		t.Errorf("%s", help)
	}
	o.sees(o.ok("policy", "rollback", "1", "--key", key, "--editor", "ann", "--yes"), "Published serial 3.")
	o.fails("no bundle has the serial number 9", "policy", "rollback", "9", "--key", key, "--editor", "ann", "--yes")
	o.sees(o.ok("policy", "history"), "3", "by p_ann", "2", "by p_bob")
	newest, err := admin.Newest(t.Context(), &admin.Local{DB: o.db, Trust: o.trust}, o.trust)
	if err != nil || newest.Serial != 3 || newest.Policy != "version: 1\nrules:\n  - deny shell(npm publish)\n" || len(newest.Deciders) != 0 {
		t.Errorf("after the rollback: %+v, %v", newest, err)
	}
	o.ok("policy", "key", "acme", "--file", o.file("other.key"))
	o.fails("is not the key that", "policy", "publish", o.file("team.yaml"), "--key", o.file("other.key"), "--editor", "ann", "--yes")
	o.must(os.Chmod(key, 0o644))
	o.fails("others can read", "policy", "publish", o.file("team.yaml"), "--key", key, "--editor", "ann", "--yes")
}

// A key is named until it is signed in, with who let it in and how to end it.
func TestTeam_NewKeysAreNamed(t *testing.T) {
	o := newOffice(t)
	for _, who := range []string{"ann", "bob"} {
		o.ok("people", "add", who, "--name", strings.ToUpper(who[:1])+who[1:], "--issuer", "https://login.example.org", "--subject", who)
	}
	enrol := func(id string, wait time.Duration) {
		t.Helper()
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		o.must(err)
		public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
		o.must(err)
		code := strings.TrimSpace(o.ok("people", "invite", "bob", "--by", "ann"))
		_, err = o.db.Enrol(t.Context(), db.Credential{ID: id, Person: "p_bob", Kind: approval.StrengthPasskey, Public: public, RP: "assent.example.org",
			Name: "phone"}, code, wait)
		o.must(err)
	}
	enrol("-ready", -time.Second)
	enrol("early", time.Hour)
	put(t, o.file("team.yaml"), "version: 1\n")
	const ready, early = `New: passkey "phone" of p_bob, added `, "If Bob did not add it: assent people revoke-key early\n"
	o.sees(o.ok("people", "list"), "waits for the next signed bundle\n", "waits until 20", ready, "let in by p_ann. If Bob did not add it: assent people revoke-key -- -ready\n", early)
	o.sees(o.ok("policy", "diff", o.file("team.yaml"), "--editor", "ann"), "+ passkey -ready of p_bob, key ",
		`Note: This signs in a new key, the passkey "phone" of p_bob (-ready), let in by p_ann`, `Note: The passkey "phone" of p_bob (early), let in by p_ann, is left out`)
	o.ok("policy", "publish", o.file("team.yaml"), "--key", o.file("acme.key"), "--editor", "ann", "--yes")
	if out := o.ok("people", "list"); strings.Contains(out, "revoke-key -- -ready") || !strings.Contains(out, early) {
		t.Errorf("after it was signed in:\n%s", out)
	}
	if out := o.ok("policy", "diff", o.file("team.yaml"), "--editor", "ann"); strings.Contains(out, "new key") {
		t.Errorf("a key that was signed in is new:\n%s", out)
	}
	o.ok("people", "revoke-key", "early")
	if out := o.ok("people", "list"); strings.Contains(out, "New: ") || !strings.Contains(out, "revoked 20") {
		t.Errorf("after it was revoked:\n%s", out)
	}
	o.ok("people", "revoke-key", "--", "-ready")
	o.sees(o.ok("policy", "diff", o.file("team.yaml"), "--editor", "ann"), "- passkey -ready of p_bob")
}

// Over HTTP it works for who has the team's key, and for nobody else.
func TestTeam_PolicyOverTheNetwork(t *testing.T) {
	o := newOffice(t)
	o.ok("people", "add", "ann", "--name", "Ann", "--issuer", "https://login.example.org", "--subject", "1")
	cfg, err := server.ReadConfig(o.file("serve.yaml"))
	o.must(err)
	s, err := server.Start(t.Context(), server.Options{Config: cfg})
	o.must(err)
	t.Cleanup(func() { o.must(s.Stop(context.WithoutCancel(t.Context()))) })
	url, key := "http://"+s.Addr(), o.file("acme.key")
	put(t, o.file("team.yaml"), "version: 1\nrules:\n  - deny shell(npm publish)\n")
	o.fails("--server needs --key", "policy", "diff", o.file("team.yaml"), "--server", url)
	o.sees(o.ok("policy", "publish", o.file("team.yaml"), "--key", key, "--yes", "--server", url), "Published serial 1.")
	gate := o.join()
	o.call(gate, policy.StateApproved, true, "npm", "publish")
	o.sees(o.ok("policy", "diff", o.file("team.yaml"), "--key", key, "--server", url), "+ "+gate+" (laptop)", "Tried on 1 call of 1 machine")
	o.ok("policy", "key", "acme", "--file", o.file("other.key"))
	o.fails("not signed with the key of this team", "policy", "history", "--key", o.file("other.key"), "--server", url)
	// Two people who publish at once: one of them is told.
	d, err := admin.Dial(url, admin.Signed(o.policyKey()))
	o.must(err)
	all, err := d.Bundles(t.Context(), 0)
	o.must(err)
	o.ok("policy", "publish", o.file("team.yaml"), "--key", key, "--yes", "--server", url)
	if err := d.Publish(t.Context(), all[0].Note); err == nil || !strings.Contains(err.Error(), "published in the meantime") {
		t.Errorf("an older bundle: %v", err)
	}
	o.sees(o.ok("audit", "export", "--server="+url, "--key", key, "--state", o.state), `"gate":"`+gate+`"`, `"tool":"shell"`)
	o.fails("127.0.0.1:1 cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused; check the address", "policy", "history",
		"--key", key, "--server", "http://127.0.0.1:1")
}

// The record of who invited and added names a person, also behind sudo.
func TestTeam_WhoAdministers(t *testing.T) {
	o := newOffice(t)
	t.Setenv("USER", "")
	t.Setenv("SUDO_USER", "cleo")
	o.ok("people", "add", "ann", "--name", "Ann", "--issuer", "https://login.example.org", "--subject", "1")
	o.ok("groups", "add", "sre", "ann")
	o.sees(o.ok("groups", "list"), "added by administrator cleo")
	t.Setenv("SUDO_USER", "")
	o.ok("groups", "add", "oncall", "ann")
	me, err := user.Current()
	o.must(err)
	o.sees(o.ok("groups", "list"), "added by administrator "+me.Username)
}

// While the database is away, an administrator reads what failed and what to do, and the server's log says why.
func TestTeam_TheDatabaseIsAway(t *testing.T) {
	o := newOffice(t)
	cfg, err := server.ReadConfig(o.file("serve.yaml"))
	o.must(err)
	log, err := os.Create(o.file("serve.log"))
	o.must(err)
	defer log.Close()
	s, err := server.Start(t.Context(), server.Options{Config: cfg, Log: slog.New(slog.NewTextHandler(log, nil))})
	o.must(err)
	t.Cleanup(func() { o.must(s.Stop(context.WithoutCancel(t.Context()))) })
	pgtest.Exec(t, o.dsn, "DROP TABLE team.bundles")
	o.fails("its log says why", "policy", "history", "--key", o.file("acme.key"), "--server", "http://"+s.Addr())
	said, err := os.ReadFile(o.file("serve.log"))
	o.must(err)
	o.sees(string(said), "call failed", "/policy/v1/bundles", "team.bundles")
	put(t, o.file("dsn"), "postgres://assent@127.0.0.1:1/assent?sslmode=disable")
	o.fails("is PostgreSQL running, and is its address right?", "people", "list")
}

// A machine that ships a record which is none keeps nobody from publishing, not even its own removal, and hides no record.
func TestTeam_Attack_ARecordThatIsNone(t *testing.T) {
	o := newOffice(t)
	o.ok("people", "add", "ann", "--name", "Ann", "--issuer", "https://login.example.org", "--subject", "1")
	gate := o.join()
	o.call(gate, policy.StateApproved, true, "npm", "publish")
	row := wire.Record{Seq: 1, Prev: make([]byte, 32), Body: []byte("no record")}
	sum := new(audit.Chain).Hash(row.Prev, nil, nil, row.Body)
	row.Hash = sum[:]
	_, err := o.db.Append(t.Context(), gate, wire.Records{Stream: "a", Rows: []wire.Record{row}})
	o.must(err)
	put(t, o.file("team.yaml"), "version: 1\nrules:\n  - deny shell(npm publish)\n")
	o.sees(o.ok("policy", "diff", o.file("team.yaml")), "Tried on 1 call of 1 machine", "1 record cannot be read")
	o.sees(o.ok("audit", "export", "--config", o.file("serve.yaml"), "--state", o.state), `"unreadable":true`, `"tool":"shell"`)
}

// Who can write the database takes the newest policy away, and makes a key count again that the policy had removed. The
// editor is told, and signs nothing.
func TestTeam_Attack_APolicyThatIsGone(t *testing.T) {
	o := newOffice(t)
	o.ok("people", "add", "ann", "--name", "Ann", "--issuer", "https://login.example.org", "--subject", "1")
	o.ok("people", "add", "bob", "--name", "Bob", "--issuer", "https://login.example.org", "--subject", "2")
	put(t, o.file("team.yaml"), "version: 1\n")
	publish := []string{"policy", "publish", o.file("team.yaml"), "--key", o.file("acme.key"), "--editor", "ann", "--yes",
		"--days", "0"}
	o.ok(publish...)
	o.ok("people", "disable", "bob")
	o.sees(o.ok(publish...), "Published serial 2.")
	pgtest.Exec(t, o.dsn, "DELETE FROM team.bundles WHERE serial = 2")
	o.ok("people", "enable", "bob")
	o.fails("serial 1 as the newest policy, and serial 2 was published from here", publish...)
	o.fails("serial 1 as the newest policy", slices.Concat([]string{"policy", "rollback", "1"}, publish[3:])...)
	pgtest.Exec(t, o.dsn, "DELETE FROM team.bundles")
	o.fails("the server has no policy", publish...)
	// Whoever knows why removes the file.
	o.must(os.Remove(o.file("acme.key.newest")))
	o.sees(o.ok(publish...), "Published serial 1.")
}

// A machine names itself, and whoever makes a key names it: no such name makes a line of its own in a list.
func TestTeam_Attack_NamesWithLines(t *testing.T) {
	o := newOffice(t)
	o.ok("people", "add", "ann", "--name", "Ann", "--issuer", "https://login.example.org", "--subject", "1")
	token := strings.TrimSpace(o.ok("gates", "invite", "--sponsor", "ann"))
	_, err := o.db.Join(t.Context(), wire.Join{Token: token, Public: make([]byte, 32), Host: "laptop\nNo new keys.",
		User: "ann\nNo new keys."})
	o.must(err)
	code := strings.TrimSpace(o.ok("people", "invite", "ann"))
	key := db.Credential{ID: "k", Person: "p_ann", Kind: approval.StrengthPasskey, Public: []byte("k"), RP: "h",
		Name: "phone\nNo new keys."}
	_, err = o.db.Enrol(t.Context(), key, code, time.Hour)
	o.must(err)
	for _, text := range []string{o.ok("gates", "list"), o.ok("people", "list")} {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "No new keys.") {
				t.Errorf("a name makes a line:\n%s", text)
			}
		}
		o.sees(text, `\nNo new keys.`)
	}
}

func (o *office) policyKey() admin.Key {
	o.Helper()
	key, err := admin.ReadKey(o.file("acme.key"))
	o.must(err)
	return key
}

// S63: somebody outside checks that a record is in the log, unchanged, and that the log of last month is a prefix
// of today's.
func TestS63_ProveIt(t *testing.T) {
	o := newOffice(t)
	o.ok("people", "add", "ann", "--name", "Ann", "--issuer", "https://login.example.org", "--subject", "1")
	gate := o.join()
	put(t, o.file("team.yaml"), "version: 1\n")
	o.ok("policy", "publish", o.file("team.yaml"), "--key", o.file("acme.key"), "--yes")
	config1 := []string{"--config", o.file("serve.yaml"), "--state", o.state}
	audit := func(args ...string) []string { return append(append([]string{"audit"}, args...), config1...) }
	o.call(gate, policy.StateApproved, true, "git", "push")
	o.fails("no checkpoint has this record yet", audit("prove", "1")...)
	checkpoint := func() {
		t.Helper()
		_, err := o.db.MakeCheckpoint(t.Context(), o.key)
		o.must(err)
	}
	checkpoint()
	put(t, o.file("last-month"), o.ok(audit("seal")...))
	for i := range 3 {
		o.call(gate, policy.StateApproved, true, "make", fmt.Sprint(i))
		checkpoint()
	}
	o.call(gate, policy.StateApproved, true, "make", "later")

	// Beside the server, and on the machine itself.
	o.sees(o.ok(audit("verify", "--since", o.file("last-month"))...), "up to 4, are in the server's log", "1 newer ones", "from 1 to 4 leaves")
	o.sees(o.ok(audit("verify")...), "from 4 to 4 leaves") // the one that was kept

	// Outside: two files and a key.
	proof := o.ok(audit("prove", "1", "--since", o.file("last-month"))...)
	put(t, o.file("proof.json"), proof)
	outside := func(file, since string) (int, string, string) {
		return o.run("audit", "verify", "--proof", file, "--log-key", o.key.Public, "--since", since, "--state", o.file("nothing"))
	}
	status, out, errors := outside(o.file("proof.json"), o.file("last-month"))
	if status != 0 {
		t.Fatal(out, errors)
	}
	o.sees(out, "Record 1 of machine "+gate+" is in the log", "shell", "it grew from 1 to 4 leaves")

	// Any changed byte of what counts is found.
	var p admin.Proof
	o.must(json.Unmarshal([]byte(proof), &p))
	for name, change := range map[string]func(p *admin.Proof){
		"body":       func(p *admin.Proof) { p.Inclusion.Records[0].Body[10] ^= 1 },
		"text":       func(p *admin.Proof) { p.Inclusion.Records[0].Texts[0] += "x" },
		"number":     func(p *admin.Proof) { p.Inclusion.Records[0].Numbers[0]++ },
		"place":      func(p *admin.Proof) { p.Inclusion.Records[0].Seq++ },
		"machine":    func(p *admin.Proof) { p.Inclusion.Gate = "g_other" },
		"tenant":     func(p *admin.Proof) { p.Inclusion.Tenant = "other" },
		"leaf":       func(p *admin.Proof) { p.Inclusion.Index++ },
		"way":        func(p *admin.Proof) { p.Inclusion.Proof[0][3] ^= 1 },
		"checkpoint": func(p *admin.Proof) { p.Checkpoint = strings.Replace(p.Checkpoint, "\n4\n", "\n5\n", 1) },
		"growth":     func(p *admin.Proof) { p.Consistency.Proof[0][0] ^= 1 },
		"newer":      func(p *admin.Proof) { p.Consistency.Newer = p.Consistency.Older },
		"no growth":  func(p *admin.Proof) { p.Consistency = nil },
	} {
		var changed admin.Proof
		o.must(json.Unmarshal([]byte(proof), &changed))
		change(&changed)
		data, err := json.Marshal(changed)
		o.must(err)
		put(t, o.file("changed.json"), string(data))
		if status, out, _ := outside(o.file("changed.json"), o.file("last-month")); status == 0 {
			t.Errorf("a changed %s is not found:\n%s", name, out)
		}
	}
	last, err := os.ReadFile(o.file("last-month"))
	o.must(err)
	for i := range last {
		changed := bytes.Clone(last)
		changed[i] ^= 1
		if _, err := p.Check(o.key.Public, string(changed)); err == nil {
			t.Errorf("last month's checkpoint with byte %d changed passes", i)
		}
	}
	_, err = server.MakeLogKey(o.file("other.log"), "acme")
	o.must(err)
	other, err := admin.ReadKey(o.file("other.log"))
	o.must(err)
	if _, err := p.Check(other.Public, ""); err == nil {
		t.Error("a checkpoint of another key passes")
	}
}

// The policy says how long records stay. What is left after that, and every checkpoint, is still proved.
func TestTeam_ProofsAfterRetention(t *testing.T) {
	o := newOffice(t)
	o.ok("people", "add", "ann", "--name", "Ann", "--issuer", "https://login.example.org", "--subject", "1")
	gate := o.join()
	beside := []string{"--config", o.file("serve.yaml"), "--state", o.state}
	audit := func(args ...string) []string { return append(append([]string{"audit"}, args...), beside...) }
	call := func(what string) {
		t.Helper()
		o.call(gate, policy.StateApproved, true, "make", what)
		_, err := o.db.MakeCheckpoint(t.Context(), o.key)
		o.must(err)
	}
	call("one")
	call("two")
	put(t, o.file("last-month"), o.ok(audit("seal")...))
	put(t, o.file("proof.json"), o.ok(audit("prove", "1")...))
	call("three")
	pgtest.Exec(t, o.dsn, `UPDATE team.events SET at = at - interval '40 days'`)
	call("four")

	put(t, o.file("team.yaml"), "version: 1\nkeep_days: 30\n")
	o.sees(o.ok("policy", "diff", o.file("team.yaml")), "+ keep_days 30", "Note: Within an hour the server deletes records and settled requests that are older than 30 days")
	o.ok("policy", "publish", o.file("team.yaml"), "--key", o.file("acme.key"), "--yes")
	cfg, err := server.ReadConfig(o.file("serve.yaml"))
	o.must(err)
	s, err := server.Start(t.Context(), server.Options{Config: cfg})
	o.must(err)
	t.Cleanup(func() { o.must(s.Stop(t.Context())) })
	o.must(s.Prune(t.Context()))
	if kept, err := o.db.Records(t.Context(), gate, gate, 0, 100); err != nil || len(kept) != 1 || kept[0].Seq != 4 {
		t.Fatalf("%d records are left, %v", len(kept), err)
	}

	o.sees(o.ok(audit("verify", "--since", o.file("last-month"))...), "up to 4, are in the server's log", "from 2 to 4 leaves")
	remote := []string{"--server=http://" + s.Addr(), "--key", o.file("acme.key"), "--state", o.state}
	for _, at := range [][]string{beside, remote} {
		o.fails("older than keep_days of the team's policy", append([]string{"audit", "prove", "3", "--gate", gate}, at...)...)
	}
	o.sees(o.ok(audit("prove", "4", "--since", o.file("last-month"))...), `"consistency"`)
	o.sees(o.ok("audit", "verify", "--proof", o.file("proof.json"), "--log-key", o.key.Public, "--state", o.file("nothing")), "Record 1 of machine "+gate)
	call("five")
	o.sees(o.ok(audit("verify", "--since", o.file("last-month"))...), "up to 5, are in the server's log", "from 2 to 5 leaves")

	// The rest is checked as before: a record that somebody took out is missed.
	pgtest.Exec(t, o.dsn, `DELETE FROM team.events WHERE seq = 5`)
	o.fails("the record is gone", audit("verify")...)
}

// A machine that has joined checks with its own key, over HTTP, against the bundle that it trusts.
func TestTeam_AMachineChecksTheServer(t *testing.T) {
	o := newOffice(t)
	o.ok("people", "add", "ann", "--name", "Ann", "--issuer", "https://login.example.org", "--subject", "1")
	gate := o.join()
	put(t, o.file("team.yaml"), "version: 1\n")
	o.ok("policy", "publish", o.file("team.yaml"), "--key", o.file("acme.key"), "--yes")
	cfg, err := server.ReadConfig(o.file("serve.yaml"))
	o.must(err)
	s, err := server.Start(t.Context(), server.Options{Config: cfg})
	o.must(err)
	t.Cleanup(func() { o.must(s.Stop(context.WithoutCancel(t.Context()))) })
	before := setup.Administrator
	setup.Administrator = o.file("admin.yaml")
	t.Cleanup(func() { setup.Administrator = before })
	put(t, setup.Administrator, fmt.Sprintf("team: {name: acme, trust: %s}\n", o.trust))
	newest, err := o.db.Newest(t.Context(), func([]byte) (int64, error) { return 1, nil })
	o.must(err)
	_, err = member.SaveBundle(o.state, config.Team{Name: "acme", Trust: o.trust}, newest.Note)
	o.must(err)
	o.call(gate, policy.StateApproved, true, "git", "push")
	_, err = o.db.MakeCheckpoint(t.Context(), o.key)
	o.must(err)
	url := "--server=http://" + s.Addr()
	o.sees(o.ok("audit", "verify", url, "--state", o.state), "up to 1, are in the server's log")
	put(t, o.file("proof.json"), o.ok("audit", "prove", "1", url, "--state", o.state))
	o.fails("its own records only", "audit", "prove", "1", "--gate", "g_other", url, "--state", o.state)
	o.fails("this needs the team's key", "audit", "export", url, "--state", o.state)
	// A record that no checkpoint has after an hour.
	o.ago = time.Hour
	o.call(gate, policy.StateApproved, true, "git", "fetch")
	o.fails("the server has not acknowledged record 2", "audit", "verify", url, "--state", o.state)
	o.must(link.SaveShipped(o.state, 2))
	o.fails("and its newest checkpoint, of ", "audit", "verify", url, "--state", o.state)
	// Somebody replaced the log of the machine, or the server has another one.
	o.must(o.log.Close())
	o.must(os.Remove(filepath.Join(o.state, "assent.db")))
	forged, err := store.Open(t.Context(), o.state, store.Options{})
	o.must(err)
	o.must(forged.Record(t.Context(), approval.Event{Kind: approval.EventEnded, At: time.Now(), Session: "s", CallID: "c", Tool: "shell", State: policy.StateFree}))
	o.must(forged.Close())
	o.fails("differs from the server", "audit", "verify", url, "--state", o.state)
	o.must(o.db.RevokeGate(t.Context(), gate))
	o.fails("does not know this machine", "audit", "verify", url, "--state", o.state)
}
