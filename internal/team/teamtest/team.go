// Package teamtest is a whole team for tests on one machine: a database, a sign-in service, the server of people with
// TLS, and gates that ask. Gates count votes as they do anywhere: with what member holds.
package teamtest

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/internal/team/people"
	"github.com/assent-dev/assent/internal/team/signin"
	"github.com/assent-dev/assent/internal/team/testissuer"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// Tenant is the team's name.
const Tenant = "acme"

// A Team is the whole of it.
type Team struct {
	t      testing.TB
	DB     *db.DB
	Issuer *testissuer.Issuer
	URL    string
	Trust  string
	signer note.Signer
	dsn    string
	// Bundle is what [Team.Publish] signs next.
	Bundle bundle.Bundle
	gates  []*Gate
	ahead  atomic.Int64 // of the clock of all servers and gates, in nanoseconds
}

// Now is the time for servers and gates.
func (x *Team) Now() time.Time { return time.Now().Add(time.Duration(x.ahead.Load())) }

// Pass lets time pass for servers and gates. That of the database stays.
func (x *Team) Pass(d time.Duration) { x.ahead.Add(int64(d)) }

// Age lets time pass in the database for all requests, and does what is due then.
func (x *Team) Age(d time.Duration) {
	x.t.Helper()
	x.Write(`UPDATE team.requests SET created = created - $1::interval, escalates_at = escalates_at - $1::interval,
		expires_at = expires_at - $1::interval`, d)
	court := db.Court{People: x.Bundle.Directory(x.Now()), Gate: func(id string) ed25519.PublicKey {
		if m := x.Bundle.Machine(id); m != nil {
			return m.Public
		}
		return nil
	}}
	if err := x.DB.Sweep(x.t.Context(), court); err != nil {
		x.t.Fatal(err)
	}
}

// Names are those who can sign in; who is a person of the team is [Team.Person]'s to say.
var Names = []string{"Ann", "Bob", "Cleo", "Mallory"}

// New starts a team on a database. Passkeys wait so long before they count; less than zero not at all.
func New(t testing.TB, dsn string, wait time.Duration) *Team {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	x := &Team{t: t, dsn: dsn}
	var err error
	x.DB, err = db.Open(t.Context(), dsn, Tenant)
	must(err)
	t.Cleanup(x.DB.Close)
	var persons []testissuer.Person
	for _, n := range Names {
		persons = append(persons, testissuer.Person{Subject: strings.ToLower(n), Name: n})
	}
	x.Issuer, err = testissuer.Start("127.0.0.1:0", persons...)
	must(err)
	t.Cleanup(func() { _ = x.Issuer.Close() })

	private, public, err := note.GenerateKey(rand.Reader, Tenant)
	must(err)
	x.Trust = public
	x.signer, err = note.NewSigner(private)
	must(err)
	x.Bundle = bundle.Bundle{Version: bundle.Version, Tenant: Tenant, MaxAge: bundle.Duration(24 * time.Hour), Stale: bundle.StaleAsk, Policy: "version: 1\n"}
	x.URL = x.Serve(wait, nil)
	x.Bundle.Server = x.URL
	return x
}

// Serve starts another replica and returns its address. Change, if it is there, stands between it and who calls: a replica
// that lies.
func (x *Team) Serve(wait time.Duration, change func(http.Handler) http.Handler) string {
	x.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		x.t.Fatal(err)
	}
	address := fmt.Sprintf("https://localhost:%d", listener.Addr().(*net.TCPAddr).Port)
	door, err := signin.New(signin.Config{URL: address, Team: "Acme", Issuer: x.Issuer.URL, ClientID: x.Issuer.Client, ClientSecret: x.Issuer.Secret, DB: x.DB, Wait: wait})
	if err != nil {
		x.t.Fatal(err)
	}
	stopping := make(chan struct{})
	handler, err := people.New(people.Config{DB: x.DB, Team: "Acme", URL: address, Trust: x.Trust, Door: door, Clock: x.Now, Stopping: stopping,
		Log: slog.New(slog.NewTextHandler(x.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		x.t.Fatal(err)
	}
	if change != nil {
		handler = change(handler)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Listener.Close()
	server.Listener = listener
	server.StartTLS()
	x.t.Cleanup(func() {
		close(stopping)
		server.CloseClientConnections()
		server.Close()
	})
	return address
}

// Person adds somebody to the directory, to groups, and to the next bundle.
func (x *Team) Person(name string, groups ...string) db.Person {
	x.t.Helper()
	ctx := x.t.Context()
	p, err := x.DB.AddPerson(ctx, x.Issuer.URL, strings.ToLower(name), name)
	if err != nil {
		x.t.Fatal(err)
	}
	x.Bundle.People = append(x.Bundle.People, bundle.Person{ID: p.ID, Name: name, Groups: groups})
	return p
}

// Decide has people decide about acts.
func (x *Team) Decide(acts []string, need []bundle.From, not ...string) {
	x.Bundle.Deciders = append(x.Bundle.Deciders, bundle.Decider{Acts: acts, Need: need, Not: not, Proof: approval.StrengthPasskey, Expires: bundle.Duration(time.Hour)})
}

// Publish signs the next bundle, with the passkeys that may count by now, and brings it to the server and all gates.
func (x *Team) Publish() {
	x.t.Helper()
	ctx := x.t.Context()
	for i := range x.Bundle.People {
		p := &x.Bundle.People[i]
		all, err := x.DB.Credentials(ctx, p.ID)
		if err != nil {
			x.t.Fatal(err)
		}
		p.Credentials = nil
		for _, c := range all {
			if c.Revoked.IsZero() && !time.Now().Before(c.CountsFrom) {
				p.Credentials = append(p.Credentials, bundle.Credential{ID: c.ID, Kind: "passkey", Public: c.Public, RP: c.RP, Since: c.CountsFrom})
			}
		}
	}
	x.Bundle.Serial++
	x.Bundle.Issued = time.Now().UTC().Truncate(time.Second)
	x.Bundle.Expires = x.Bundle.Issued.Add(90 * 24 * time.Hour)
	data, err := bundle.Sign(&x.Bundle, x.signer)
	if err == nil {
		_, err = x.DB.Publish(ctx, data, func(note []byte) (int64, error) {
			b, err := bundle.Open(note, x.Trust)
			if err != nil {
				return 0, err
			}
			return b.Serial, nil
		})
	}
	for _, g := range x.gates {
		if err == nil {
			_, err = member.SaveBundle(g.state, g.team, data)
		}
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// A Gate is a machine that asks its team.
type Gate struct {
	x         *Team
	ID        string
	state     string
	team      config.Team
	private   ed25519.PrivateKey
	row       db.Gate
	Member    *member.Member
	gate      *approval.Gate
	mu        sync.Mutex
	proposals map[string]approval.Proposal
	// Asked is how often somebody was asked, as a number that grows.
	Asked chan *approval.Request
}

// Gate has a machine join. It is known with the next [Team.Publish].
func (x *Team) Gate(host string, sponsor db.Person) *Gate {
	x.t.Helper()
	ctx := x.t.Context()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		x.t.Fatal(err)
	}
	token, err := x.DB.JoinToken(ctx, sponsor.ID, "admin", time.Hour)
	if err != nil {
		x.t.Fatal(err)
	}
	row, err := x.DB.Join(ctx, wire.Join{Token: token, Public: public, Host: host, User: "dev"})
	if err != nil {
		x.t.Fatal(err)
	}
	g := &Gate{x: x, ID: row.ID, state: x.t.TempDir(), team: config.Team{Trust: x.Trust, Name: Tenant}, private: private, row: row,
		proposals: map[string]approval.Proposal{}, Asked: make(chan *approval.Request, 100)}
	err = member.SaveMachine(g.state, &member.Machine{Tenant: Tenant, Gate: row.ID, Server: x.URL, Private: private})
	if err != nil {
		x.t.Fatal(err)
	}
	x.Bundle.Machines = append(x.Bundle.Machines, bundle.Machine{ID: row.ID, Public: public, Host: host, Sponsor: sponsor.ID})
	x.gates = append(x.gates, g)
	g.Member = member.Load(g.state, g.team, x.Now)
	g.gate, err = approval.New(approval.Config{Preparer: g, Clock: x.Now, NewID: rand.Text, Session: "s", Approver: approval.ApproverFunc(g.ask),
		Rules: approval.NewMemory(0), Team: g.Member, Origin: func(context.Context) approval.Origin {
			return approval.Origin{Agent: "Claude Code", Folder: "/home/dev/src/shop", Branch: "main"}
		}})
	if err != nil {
		x.t.Fatal(err)
	}
	x.t.Cleanup(g.gate.Close)
	return g
}

// Prepare implements [approval.Preparer].
func (g *Gate) Prepare(_ context.Context, c policy.Call) (approval.Proposal, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok := g.proposals[c.ID]
	if !ok {
		return p, fmt.Errorf("no call %q", c.ID)
	}
	return p, nil
}

// Calls has an agent call a tool, and sends what became of it.
func (g *Gate) Calls(tool, arguments string, p approval.Proposal) <-chan approval.Outcome {
	id := rand.Text()
	g.mu.Lock()
	g.proposals[id] = p
	g.mu.Unlock()
	out := make(chan approval.Outcome, 1)
	go func() {
		out <- g.gate.Decide(g.x.t.Context(), policy.Call{ID: id, Tool: tool, Arguments: json.RawMessage(arguments)})[0]
	}()
	return out
}

// ask sends a question to the server and waits for the answer, as a bridge does.
func (g *Gate) ask(ctx context.Context, r *approval.Request) (approval.Decision, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cursor, err := g.x.DB.Cursor(ctx, g.ID)
	if err != nil {
		return approval.Decision{}, err
	}
	body, err := json.Marshal(r)
	if err != nil {
		return approval.Decision{}, err
	}
	taken, err := g.x.DB.Ask(ctx, g.row, []wire.Signed{{Request: body, Signature: wire.SignRequest(g.private, body)}})
	if err != nil || len(taken.Requests) != 1 {
		return approval.Decision{}, fmt.Errorf("not taken: %v, %v", taken.Refused, err)
	}
	g.Asked <- r
	answers := make(chan wire.Answer, 1)
	go g.x.DB.Watch(ctx, func(db.Changes) {
		news, err := g.x.DB.NewsFor(ctx, g.ID, cursor)
		if err != nil {
			return
		}
		for _, a := range news.Answers {
			if a.Request == r.ID {
				select {
				case answers <- a:
				default:
				}
			}
		}
	})
	select {
	case a := <-answers:
		return decided(r, a), nil
	case <-ctx.Done():
		return approval.Decision{}, ctx.Err()
	}
}

// decided is an answer as a gate takes it; the gate counts the votes itself.
func decided(r *approval.Request, a wire.Answer) approval.Decision {
	d := r.Deny(a.Note)
	if a.Decision != nil {
		d = *a.Decision
	}
	d.Votes, d.Note, d.By, d.At = a.Votes, a.Note, policy.Who{Via: policy.ViaTeam}, time.Now()
	return d
}

// Browser is a client with cookies of its own that takes the certificate, and says where it comes from as a browser does.
func (x *Team) Browser() *http.Client {
	jar, err := cookiejar.New(nil)
	if err != nil {
		x.t.Fatal(err)
	}
	return &http.Client{Jar: jar, Timeout: 30 * time.Second, Transport: &sameOrigin{&http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}}
}

// sameOrigin adds what a browser says about a call of a page of the server itself.
type sameOrigin struct{ next *http.Transport }

func (s *sameOrigin) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Sec-Fetch-Site") == "" && r.URL.Scheme == "https" {
		r = r.Clone(r.Context())
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return s.next.RoundTrip(r)
}

// SignIn goes the way of a browser, as somebody.
func (x *Team) SignIn(c *http.Client, name string) (status int, page string) {
	x.t.Helper()
	stay := *c
	stay.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	first, err := stay.Get(x.URL + "/signin")
	if err != nil {
		x.t.Fatal(err)
	}
	first.Body.Close()
	to, err := url.Parse(first.Header.Get("Location"))
	if err != nil {
		x.t.Fatal(err)
	}
	q := to.Query()
	q.Set("subject", strings.ToLower(name))
	response, err := c.Get(x.Issuer.URL + "/auth/as?" + q.Encode())
	if err != nil {
		x.t.Fatal(err)
	}
	defer response.Body.Close()
	var text strings.Builder
	buf := make([]byte, 16<<10)
	for {
		n, err := response.Body.Read(buf)
		text.Write(buf[:n])
		if err != nil {
			break
		}
	}
	return response.StatusCode, text.String()
}

// Shown is a view that is there already.
func Shown(v present.View) func(context.Context) (present.View, error) {
	return func(context.Context) (present.View, error) { return v, nil }
}

// Force puts a vote into the database as whoever can write there does, without any check.
func (x *Team) Force(request string, p approval.Proof) {
	x.t.Helper()
	x.Write(`INSERT INTO team.votes (tenant, request, person, vote, decision) SELECT $1, $2, $3, $4, $5`, Tenant, request, rand.Text(),
		mustJSON(approval.Vote{Proof: p}), mustJSON(approval.Decision{Request: request, Answer: approval.AnswerApprove}))
}

// Settle ends a request in the database without any check: approved, with this decision.
func (x *Team) Settle(r *approval.Request, d approval.Decision) {
	x.t.Helper()
	x.Write(`WITH n AS (UPDATE team.news SET last = last + 1 WHERE tenant = $1 AND gate = $5 RETURNING last)
		UPDATE team.requests SET state = $3, decision = $4, version = version + 1, changed = now(), news = (SELECT last FROM n) WHERE tenant = $1 AND id = $2`,
		Tenant, r.ID, string(policy.StateApproved), mustJSON(d), r.Routing.Gate)
}

func mustJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// Read reads a row of the database as whoever can read there does.
func (x *Team) Read(query string, into ...any) {
	x.t.Helper()
	conn, err := pgx.Connect(x.t.Context(), x.dsn)
	if err == nil {
		err = conn.QueryRow(x.t.Context(), query).Scan(into...)
		_ = conn.Close(x.t.Context())
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// Write changes the database behind everybody's back, as whoever owns it can.
func (x *Team) Write(statement string, args ...any) {
	x.t.Helper()
	conn, err := pgx.Connect(x.t.Context(), x.dsn)
	if err == nil {
		_, err = conn.Exec(x.t.Context(), statement, args...)
		_ = conn.Close(x.t.Context())
	}
	if err != nil {
		x.t.Fatal(err)
	}
}
