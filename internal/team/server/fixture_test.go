//go:build all && linux

package server_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/server"
	"github.com/assent-dev/assent/internal/team/wire"
)

func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{"serve": serveRole})
	os.Exit(m.Run())
}

// A team is a database with people in it, and what its servers are started with.
type team struct {
	testing.TB
	db     *db.DB
	dsn    string
	folder string
	key    note.Signer
	trust  string
	pool   *x509.CertPool
	ann    db.Person
	tls    bool
	extra  string // further lines of the file
	log    *bytes.Buffer
}

func newTeam(t testing.TB, options ...pgtest.Options) *team {
	t.Helper()
	return teamOn(t, pgtest.Start(t, options...).DSN())
}

func teamOn(t testing.TB, dsn string) *team {
	t.Helper()
	f := &team{TB: t, dsn: dsn, folder: t.TempDir(), tls: true, pool: x509.NewCertPool()}
	f.key, f.trust = teamKeys(t)
	f.write("dsn", f.dsn)
	f.certificate()
	_, err := server.MakeLogKey(filepath.Join(f.folder, "log.key"), "acme")
	f.must(err)
	f.db, err = db.Open(context.Background(), f.dsn, "acme")
	f.must(err)
	t.Cleanup(f.db.Close)
	f.ann, err = f.db.AddPerson(context.Background(), "https://idp.example.org", "ann", "Ann")
	f.must(err)
	return f
}

func (f *team) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *team) write(name, text string) {
	f.Helper()
	f.must(os.WriteFile(filepath.Join(f.folder, name), []byte(text), 0o600))
}

func (f *team) certificate() {
	f.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	f.must(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(90 * 24 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	f.must(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	f.must(err)
	chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	f.write("tls.pem", string(chain))
	f.write("tls.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	f.pool.AppendCertsFromPEM(chain)
}

// file writes the file of a server and returns its path.
func (f *team) file() string {
	f.Helper()
	text := fmt.Sprintf("tenant: acme\nteam: Acme\nlisten: 127.0.0.1:0\nurl: https://localhost\nmetrics: 127.0.0.1:0\n"+
		"database: {dsn_file: dsn}\ntrust: %s\nlog_key: log.key\n", f.trust)
	if f.tls {
		text += "tls: {certificate: tls.pem, key: tls.key}\n"
	}
	f.write("serve.yaml", text+f.extra)
	return filepath.Join(f.folder, "serve.yaml")
}

// A replica is a server that runs, with a client for it.
type replica struct {
	*team
	url, metrics string
	http         *http.Client
	server       *server.Server // nil if it is a process of its own
}

// serve starts a replica in this process.
func (f *team) serve(options ...func(*server.Options)) *replica {
	f.Helper()
	cfg, err := server.ReadConfig(f.file())
	f.must(err)
	o := server.Options{Config: cfg}
	if f.log != nil {
		o.Log = slog.New(slog.NewJSONHandler(f.log, nil))
	}
	for _, change := range options {
		change(&o)
	}
	s, err := server.Start(context.Background(), o)
	f.must(err)
	r := f.replica(s.Addr(), s.MetricsAddr())
	r.server = s
	f.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = s.Stop(ctx)
	})
	return r
}

func (f *team) replica(address, metrics string) *replica {
	scheme := "https://"
	if !f.tls {
		scheme = "http://"
	}
	return &replica{team: f, url: scheme + address, metrics: "http://" + metrics, http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: f.pool}, MaxIdleConnsPerHost: 1000, MaxIdleConns: 1000},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// A gate is a machine that has joined.
type gate struct {
	id  string
	key ed25519.PrivateKey
}

func newKey(t testing.TB) (ed25519.PublicKey, ed25519.PrivateKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return public, private
}

// join lets a machine join through the replica.
func (r *replica) join() gate {
	r.Helper()
	token, err := r.db.JoinToken(context.Background(), r.ann.ID, "test", time.Hour)
	r.must(err)
	public, private := newKey(r)
	var joined wire.Joined
	if status := r.do("POST", "/gate/v1/join", gate{}, wire.Join{Token: token, Public: public, Host: "laptop", User: "ann"}, &joined); status != 200 {
		r.Fatalf("join: %d", status)
	}
	return gate{joined.Gate, private}
}

// gates lets many machines join, directly in the database.
func (f *team) gates(n int) []gate {
	f.Helper()
	out := make([]gate, n)
	for i := range out {
		token, err := f.db.JoinToken(context.Background(), f.ann.ID, "test", time.Hour)
		f.must(err)
		public, private := newKey(f)
		g, err := f.db.Join(context.Background(), wire.Join{Token: token, Public: public, Host: fmt.Sprint("host", i), User: "ann"})
		f.must(err)
		out[i] = gate{g.ID, private}
	}
	return out
}

// call makes a call, signed by the gate if it has a key, and returns status, headers and body.
func (r *replica) call(method, path string, g gate, body []byte, change ...func(*http.Request)) (int, http.Header, []byte) {
	r.Helper()
	q, err := http.NewRequest(method, r.url+path, bytes.NewReader(body))
	r.must(err)
	if g.key != nil {
		wire.SignCall(q, body, g.id, g.key, time.Now())
	}
	for _, c := range change {
		c(q)
	}
	answer, err := r.http.Do(q)
	r.must(err)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	r.must(err)
	if answer.StatusCode >= 400 {
		var p wire.Problem
		if answer.Header.Get("Content-Type") != "application/problem+json" || json.Unmarshal(data, &p) != nil || p.Status != answer.StatusCode || p.Detail == "" {
			r.Errorf("%s %s: %d is not a problem as RFC 9457 has it: %s", method, path, answer.StatusCode, data)
		}
	}
	return answer.StatusCode, answer.Header, data
}

// publish sends a bundle in a call that the team's key signs, as 'assent policy publish' does.
func (r *replica) publish(note []byte) (status int, said string) {
	r.Helper()
	status, _, body := r.call("POST", "/policy/v1/bundle", gate{}, note, r.signedBy(note))
	return status, string(body)
}

// signedBy signs a call with the team's key.
func (f *team) signedBy(body []byte) func(*http.Request) {
	return func(q *http.Request) { f.must(wire.SignPolicyCall(q, body, f.key, time.Now())) }
}

// do calls with JSON.
func (r *replica) do(method, path string, g gate, in, out any, change ...func(*http.Request)) int {
	r.Helper()
	var body []byte
	if in != nil {
		var err error
		body, err = json.Marshal(in)
		r.must(err)
	}
	status, _, data := r.call(method, path, g, body, change...)
	if out != nil && status == 200 {
		r.must(json.Unmarshal(data, out))
	}
	return status
}

// refused is a call that must not be let through, with a part of the reason.
func (r *replica) refused(status int, why, method, path string, g gate, body []byte, change ...func(*http.Request)) {
	r.Helper()
	got, _, data := r.call(method, path, g, body, change...)
	if got != status || !strings.Contains(string(data), why) {
		r.Errorf("%s %s: %d %s, want %d %q", method, path, got, data, status, why)
	}
}

// question makes a signed question of a gate; change may spoil it before it is signed.
func (f *team) question(g gate, change ...func(*approval.Request)) wire.Signed {
	f.Helper()
	all, err := approvaltest.NewRequests(1, "s1")
	f.must(err)
	q := all[0]
	q.ID = "r_" + rand.Text()
	q.Origin.Folder = "/home/ann/shop"
	q.Routing = &approval.Routing{Tenant: "acme", Gate: g.id, Agent: "claude-code", Sponsor: f.ann.ID, Serial: 1,
		Need: approval.Need{From: []approval.Count{{Group: "sre", Count: 1}}, Proof: approval.StrengthPasskey}}
	for _, c := range change {
		c(q)
	}
	data, err := json.Marshal(q)
	f.must(err)
	return wire.Signed{Request: data, Signature: wire.SignRequest(g.key, data)}
}

// ask asks one question, and returns what became of it.
func (r *replica) ask(g gate, q wire.Signed) (id, refused string) {
	r.Helper()
	var taken wire.Taken
	if status := r.do("POST", "/gate/v1/requests", g, []wire.Signed{q}, &taken); status != 200 {
		r.Fatalf("ask: %d", status)
	}
	for _, why := range taken.Refused {
		return "", why
	}
	if len(taken.Requests) != 1 {
		r.Fatalf("ask: %+v", taken)
	}
	return taken.Requests[0], ""
}

// bundle makes a signed bundle with these machines.
func (f *team) bundle(serial int64, machines ...gate) []byte {
	f.Helper()
	return f.bundleWith(serial, func(b *bundle.Bundle) {
		for _, g := range machines {
			b.Machines = append(b.Machines, bundle.Machine{ID: g.id, Public: g.key.Public().(ed25519.PublicKey), Host: "h", Sponsor: f.ann.ID})
		}
	})
}

func (f *team) bundleWith(serial int64, change func(*bundle.Bundle)) []byte {
	f.Helper()
	b := &bundle.Bundle{Version: bundle.Version, Tenant: "acme", Serial: serial, Issued: time.Now().UTC(), Expires: time.Now().Add(24 * time.Hour).UTC(),
		MaxAge: bundle.Duration(time.Hour), Stale: bundle.StaleAsk, Editors: []string{f.ann.ID}, Policy: "version: 1\n",
		People: []bundle.Person{{ID: f.ann.ID, Name: "Ann"}}}
	change(b)
	data, err := bundle.Sign(b, f.key)
	f.must(err)
	return data
}

// eventually waits for something that another goroutine or process brings about.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	limit := time.After(20 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: it did not come", what)
		}
	}
}

func (r *replica) scrape() string {
	r.Helper()
	answer, err := http.Get(r.metrics + "/metrics")
	r.must(err)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	r.must(err)
	return string(data)
}

// send is do for a replica that may be away.
func (r *replica) send(method, path string, g gate, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	q, err := http.NewRequest(method, r.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	wire.SignCall(q, body, g.id, g.key, time.Now())
	answer, err := r.http.Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, data)
	}
	if err == nil && out != nil {
		err = json.Unmarshal(data, out)
	}
	return err
}
