//go:build all && linux

package server_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
)

// Only the machine itself is let in.
func TestCallsThatAreRefused(t *testing.T) {
	f := newTeam(t)
	r := f.serve()
	g, other := r.join(), r.join()
	unsigned := func(q *http.Request) { q.Header.Del("Authorization") }
	for _, c := range []struct{ method, path string }{
		{"POST", "/gate/v1/requests"}, {"POST", "/gate/v1/ended"}, {"GET", "/gate/v1/wait"}, {"GET", "/gate/v1/bundle"},
		{"POST", "/gate/v1/audit"}, {"POST", "/gate/v1/leave"},
	} {
		var body []byte
		if c.method == "POST" {
			body = []byte("[]")
		}
		r.refused(401, "not signed", c.method, c.path, g, body, unsigned)
		r.refused(401, "not signed", c.method, c.path, g, body, func(q *http.Request) { q.Header.Set("Authorization", "Bearer x") })
		r.refused(401, "does not know this machine", c.method, c.path, gate{"g_nobody", g.key}, body)
		r.refused(401, "is not valid", c.method, c.path, gate{g.id, other.key}, body)
		r.refused(401, "does not know this machine", c.method, c.path, gate{"g_\xff", g.key}, body)
		r.refused(401, "is not valid", c.method, c.path, g, body, func(q *http.Request) { q.URL.RawQuery = "after=1&x=y" })
		r.refused(401, "set it", c.method, c.path, g, body, func(q *http.Request) {
			wire.SignCall(q, body, g.id, g.key, time.Now().Add(-wire.MaxSkew-time.Minute))
		})
	}
	// The signature of another call or of another body is not valid.
	tampered := []byte(`[{"request":"r","state":"denied"}]`)
	r.refused(401, "is not valid", "POST", "/gate/v1/ended", g, tampered, func(q *http.Request) { wire.SignCall(q, []byte("[]"), g.id, g.key, time.Now()) })
	q, err := http.NewRequest("POST", r.url+"/gate/v1/ended", nil)
	f.must(err)
	wire.SignCall(q, []byte("{}"), g.id, g.key, time.Now())
	r.refused(401, "is not valid", "POST", "/gate/v1/leave", gate{}, []byte("{}"), func(p *http.Request) { p.Header = q.Header })
	if status := r.do("POST", "/gate/v1/ended", g, []wire.Ended{}, nil); status != 200 {
		t.Errorf("the machine itself: %d", status)
	}
}

func TestBodiesThatAreRefused(t *testing.T) {
	f := newTeam(t)
	f.extra = "limits: {request_bytes: 100000, audit_bytes: 100000, audit_in_flight: 90000}\n"
	r := f.serve()
	g := r.join()
	for body, why := range map[string]string{"": "JSON", "{}": "JSON", "[": "JSON", "[] []": "more than one", `[{"request":{},"signature":"","more":1}]`: "unknown field"} {
		r.refused(400, why, "POST", "/gate/v1/requests", g, []byte(body))
	}
	for _, body := range []string{`[{"request":"","state":"denied"}]`, `[{"request":"r","state":"whatever"}]`} {
		r.refused(400, "is invalid", "POST", "/gate/v1/ended", g, []byte(body))
	}
	nul := records("g", 0, make([]byte, sha256.Size), 1)
	nul.Rows[0].Texts = []string{"a\x00b"}
	data, err := json.Marshal(nul)
	f.must(err)
	r.refused(400, "NUL", "POST", "/gate/v1/audit", g, data)
	r.refused(413, "at most 100000", "POST", "/gate/v1/requests", g, bytes.Repeat([]byte(" "), 100001))
	r.refused(413, "at most 4096", "POST", "/gate/v1/join", gate{}, bytes.Repeat([]byte(" "), 1<<20))
	large := bytes.Repeat([]byte(" "), bundle.MaxBytes+1)
	r.refused(413, "at most", "POST", "/policy/v1/bundle", gate{}, large, f.signedBy(large))
	r.refused(413, "at most 0", "GET", "/gate/v1/wait", g, []byte("{}"))
	r.refused(503, "try again", "POST", "/gate/v1/audit", g, bytes.Repeat([]byte(" "), 95000)) // more than is in hand at once
	if status, said := r.publish(large[1:]); status != 422 {                                   // however little that is, a bundle fits
		t.Errorf("a bundle of the largest size: %d %s", status, said)
	}
	r.refused(400, "not a number", "GET", "/gate/v1/wait?after=-1", g, nil)
	// Nothing of it is held.
	if text := r.scrape(); !strings.Contains(text, "assent_body_bytes_free 90000\n") {
		t.Error(text)
	}
	many := make([]wire.Ended, 1000)
	for i := range many {
		many[i] = wire.Ended{Request: "r", State: policy.StateDenied}
	}
	if status := r.do("POST", "/gate/v1/ended", g, many, nil); status != 413 {
		t.Errorf("1000 at once: %d", status)
	}
}

// A token works once, for one key.
func TestJoinTokens(t *testing.T) {
	f := newTeam(t)
	r := f.serve()
	token, err := f.db.JoinToken(t.Context(), f.ann.ID, "test", time.Hour)
	f.must(err)
	expired, err := f.db.JoinToken(t.Context(), f.ann.ID, "test", -time.Second)
	f.must(err)
	public, _ := newKey(t)
	j := wire.Join{Token: token, Public: public, Host: "h", User: "u"}
	results := make(chan int, 10)
	for range 10 { // ten machines at once, with keys of their own
		go func() {
			mine := j
			mine.Public, _ = newKey(t)
			results <- r.do("POST", "/gate/v1/join", gate{}, mine, nil)
		}()
	}
	won := 0
	for range 10 {
		switch status := <-results; status {
		case 200:
			won++
		case 403:
		default:
			t.Errorf("%d", status)
		}
	}
	if won != 1 {
		t.Errorf("%d machines joined with one token", won)
	}
	for _, bad := range []wire.Join{j, {Token: expired, Public: public}, {Token: "guess", Public: public}} {
		if status := r.do("POST", "/gate/v1/join", gate{}, bad, nil); status != 403 {
			t.Errorf("%+v: %d", bad, status)
		}
	}
	for _, bad := range []wire.Join{{Public: public}, {Token: "x", Public: public[1:]}, {Token: "x", Public: public, Host: strings.Repeat("x", 300)}} {
		if status := r.do("POST", "/gate/v1/join", gate{}, bad, nil); status != 400 {
			t.Errorf("%+v: %d", bad, status)
		}
	}
}

// A machine asks in its own name only, for the person behind it.
func TestQuestionsThatAreRefused(t *testing.T) {
	f := newTeam(t)
	f.extra = "limits: {open_requests: 3}\n"
	r := f.serve()
	g, other := r.join(), r.join()
	for why, change := range map[string]func(*approval.Request){
		"it is of the machine": func(q *approval.Request) { q.Routing.Gate = other.id },
		"it is for the team":   func(q *approval.Request) { q.Routing.Tenant = "evil" },
		"is not the person":    func(q *approval.Request) { q.Routing.Sponsor = "p_bob" },
		"who decides":          func(q *approval.Request) { q.Routing.Need.From = nil },
		"proof":                func(q *approval.Request) { q.Routing.Need.Proof = "" },
		"does not say who":     func(q *approval.Request) { q.Routing = nil },
		"the id of a question": func(q *approval.Request) { q.ID = strings.Repeat("x", 300) },
	} {
		if _, refused := r.ask(g, f.question(g, change)); !strings.Contains(refused, why) {
			t.Errorf("%q: %q", why, refused)
		}
	}
	// Another machine's question, also one that it signed itself.
	if _, refused := r.ask(g, f.question(other)); !strings.Contains(refused, "is not valid") {
		t.Error(refused)
	}
	q := f.question(g)
	q.Request = bytes.Replace(q.Request, []byte("claude-code"), []byte("claude-c0de"), 1)
	if _, refused := r.ask(g, q); !strings.Contains(refused, "is not valid") {
		t.Error(refused)
	}
	// The id of another machine's question is taken.
	theirs := f.question(other)
	id, refused := r.ask(other, theirs)
	if refused != "" {
		t.Fatal(refused)
	}
	if _, refused := r.ask(g, f.question(g, func(q *approval.Request) { q.ID = id })); !strings.Contains(refused, "another request has this id") {
		t.Error(refused)
	}
	// Nor can it end it.
	if status := r.do("POST", "/gate/v1/ended", g, []wire.Ended{{Request: id, State: policy.StateApproved}}, nil); status != 200 {
		t.Error(status)
	}
	if row, err := f.db.Request(t.Context(), id); err != nil || row.State != policy.StatePending {
		t.Errorf("another machine ended it: %v %v", row.State, err)
	}
	// Only so many are open at once; one that is there is taken again.
	first := f.question(g)
	r.ask(g, first)
	r.ask(g, f.question(g))
	r.ask(g, f.question(g))
	if _, refused := r.ask(g, f.question(g)); !strings.Contains(refused, "which is the limit; answer or withdraw some first") {
		t.Error(refused)
	}
	if _, refused := r.ask(g, first); refused != "" {
		t.Error(refused)
	}
}

// Whatever stands in a bundle, only the team's key makes it one.
func TestBundlesThatAreRefused(t *testing.T) {
	f := newTeam(t)
	r := f.serve()
	g := r.join()
	evil, _ := teamKeys(t)
	good := f.bundle(1, g)
	b, err := bundle.Open(good, f.trust)
	f.must(err)
	forged, err := bundle.Sign(b, evil)
	f.must(err)
	stripped, _, _ := bytes.Cut(good, []byte("\n\n"))
	foreign, err := note.Sign(&note.Note{Text: "hello\n"}, f.key)
	f.must(err)
	for name, body := range map[string][]byte{
		"forged": forged, "stripped": stripped, "another note": foreign, "empty": nil, "changed": bytes.Replace(good, []byte("acme"), []byte("acmf"), 1),
		"another team": f.bundleWith(1, func(b *bundle.Bundle) { b.Tenant = "other" }),
	} {
		if status, said := r.publish(body); status != 422 {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	if status, said := r.publish(f.bundle(2, g)); status != 409 || !strings.Contains(said, "serial") {
		t.Errorf("a serial that is not the next: %d %s", status, said)
	}
	r.refused(401, "needs the team's key", "POST", "/policy/v1/bundle", gate{}, good)
	r.refused(401, "needs the team's key", "POST", "/policy/v1/bundle", g, good)
	r.refused(401, "not signed with the key of this team", "POST", "/policy/v1/bundle", gate{}, good, f.signedBy(forged))
	r.refused(401, "not signed with the key of this team", "POST", "/policy/v1/bundle", gate{}, good, func(q *http.Request) {
		f.must(wire.SignPolicyCall(q, good, evil, time.Now()))
	})
	if status := r.do("GET", "/gate/v1/bundle", g, nil, nil); status != 404 {
		t.Errorf("after all that was refused, there is a bundle: %d", status)
	}
	for range 2 {
		if status, said := r.publish(good); status != 200 {
			t.Errorf("%d %s", status, said)
		}
	}
	if status, said := r.publish(f.bundle(2, g)); status != 200 {
		t.Errorf("%d %s", status, said)
	}
	if status, said := r.publish(good); status != 409 || !strings.Contains(said, "serial") {
		t.Errorf("an older bundle: %d %s", status, said)
	}
}

// PostgreSQL has no text with a NUL byte. A name with one, which an agent may give itself, is refused by itself: what comes
// with it is taken, and nobody is told to try again.
func TestAttack_NULBytes(t *testing.T) {
	f := newTeam(t)
	r := f.serve()
	g := r.join()
	good := f.question(g)
	for name, change := range map[string]func(*approval.Request){
		"id":         func(q *approval.Request) { q.ID = "r\x00" },
		"agent":      func(q *approval.Request) { q.Routing.Agent = "a\x00b" },
		"group":      func(q *approval.Request) { q.Routing.Need.From[0].Group = "s\x00" },
		"not":        func(q *approval.Request) { q.Routing.Need.Not = []string{"s\x00"} },
		"source":     func(q *approval.Request) { q.Routing.Need.Source = "s\x00" },
		"escalation": func(q *approval.Request) { q.Routing.Need.Escalate = []approval.Escalation{{After: 1, To: "s\x00"}} },
	} {
		var taken wire.Taken
		status := r.do("POST", "/gate/v1/requests", g, []wire.Signed{f.question(g, change), good}, &taken)
		if status != 200 || len(taken.Requests) != 1 || len(taken.Refused) != 1 {
			t.Errorf("%s: %d %+v", name, status, taken)
		}
	}
	if _, why := r.ask(g, f.question(g, func(q *approval.Request) { q.Summary, q.Why, q.Origin.Agent = "\x00", "\x00", "\x00" })); why != "" {
		t.Errorf("a text that is only shown: %s", why)
	}
	r.refused(400, "NUL", "POST", "/gate/v1/ended", g, []byte(`[{"request":"r\u0000","state":"denied"}]`))
	r.refused(400, "NUL", "POST", "/gate/v1/ended", g, []byte(`[{"request":"r","state":"denied","by":{"user":"\u0000"}}]`))
	r.refused(400, "NUL", "POST", "/gate/v1/audit", g, []byte(`{"stream":"\u0000","rows":[]}`))
	r.refused(400, "names", "POST", "/gate/v1/join", gate{}, []byte(`{"token":"x","public":"`+strings.Repeat("A", 43)+`=","host":"\u0000","user":""}`))
}

// Odd paths and methods end at the guard.
func TestPaths(t *testing.T) {
	f := newTeam(t)
	r := f.serve()
	g := r.join()
	for _, path := range []string{"//gate/v1/wait", "/gate//v1/wait", "/gate/v1/./wait", "/gate/v1/../v1/wait", "/gate/v1/%2e%2e/v1/wait", "/gate/v1/%2e%2e%2fv1/wait",
		"/gate/v1/wait/", "/gate/v2/wait", "/gate", "/metrics", "/gate/v1/wait%00", `/gate\v1\wait`} {
		if status, _, _ := r.call("GET", path, g, nil, func(q *http.Request) {
			q.URL.Opaque = strings.TrimPrefix(r.url, "https:") + path // as it is written
		}); status != 404 && status != 401 {
			t.Errorf("%s: %d", path, status)
		}
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS"} {
		if status := r.do(method, "/gate/v1/wait", g, nil, nil); status != 404 {
			t.Errorf("%s: %d", method, status)
		}
	}
}

// Who connects and says nothing, or little by little, is sent away, and takes no memory meanwhile.
func TestSlowCallers(t *testing.T) {
	f := newTeam(t)
	f.extra = "limits: {audit_in_flight: 200000}\n"
	r := f.serve()
	g := r.join()
	dial := func() net.Conn {
		c, err := tls.Dial("tcp", strings.TrimPrefix(r.url, "https://"), &tls.Config{RootCAs: f.pool})
		f.must(err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	half := dial()
	fmt.Fprint(half, "GET /gate/v1/wait HTTP/1.1\r\nHost: x\r\n")
	unread := dial()
	fmt.Fprint(unread, "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
	// A body that never comes holds only the first piece of it, and strangers take nothing from machines, however much
	// they send.
	var slow []net.Conn
	send := func(head, body string) {
		c := dial()
		fmt.Fprintf(c, "POST %s\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", head, 3<<20, body)
		slow = append(slow, c)
	}
	for range 5 {
		send("/gate/v1/audit HTTP/1.1\r\n"+f.head(g, "POST", "/gate/v1/audit"), "")
	}
	for range 20 {
		send("/policy/v1/bundle HTTP/1.1\r\nAuthorization: Assent-Policy acme 1 2 3", strings.Repeat(" ", 20000))
	}
	eventually(t, "they are read", func() bool {
		return strings.Contains(r.scrape(), fmt.Sprintf("assent_body_bytes_free %d\n", 200000-5*16384))
	})
	if status := r.do("POST", "/gate/v1/audit", g, records("g", 0, make([]byte, sha256.Size), 50), nil); status != 200 {
		t.Errorf("others are not let in: %d", status)
	}
	for _, c := range slow {
		c.Close()
	}
	eventually(t, "it is given back", func() bool { return strings.Contains(r.scrape(), "assent_body_bytes_free 200000\n") })
	f.must(half.SetReadDeadline(time.Now().Add(15 * time.Second)))
	if line, err := bufio.NewReader(half).ReadString('\n'); err == nil && !strings.Contains(line, "408") {
		t.Errorf("half a head was answered: %s", line)
	} else if ne, ok := err.(net.Error); ok && ne.Timeout() {
		t.Error("half a head is held for ever")
	}
	f.must(unread.SetReadDeadline(time.Now().Add(15 * time.Second)))
	if _, err := io.Copy(io.Discard, unread); err != nil {
		t.Errorf("a body that nobody reads is waited for: %v", err)
	}
	// A head that is too long.
	long := dial()
	fmt.Fprintf(long, "GET / HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", strings.Repeat("x", 100<<10))
	if line, err := bufio.NewReader(long).ReadString('\n'); err == nil && !strings.Contains(line, "431") {
		t.Errorf("%s", line)
	}
}

// head is what a machine says in a call whose body has a few bytes.
func (f *team) head(g gate, method, path string) string {
	f.Helper()
	q, err := http.NewRequest(method, "https://localhost"+path, nil)
	f.must(err)
	wire.SignCall(q, []byte("[]"), g.id, g.key, time.Now())
	return "Authorization: " + q.Header.Get("Authorization") + "\r\nContent-Digest: " + q.Header.Get("Content-Digest")
}

// Nobody has a body read without a signature, in whose name it ever is: the memory for bodies is for those who can sign.
func TestAttack_BodiesOfStrangers(t *testing.T) {
	f := newTeam(t)
	f.extra = "limits: {audit_in_flight: 200000, audit_bytes: 40000, request_bytes: 40000}\n"
	r := f.serve()
	g := r.join()
	names := map[string]string{"/gate/v1/audit": "Assent-Gate " + g.id, "/policy/v1/bundle": "Assent-Policy acme"}
	for path, name := range names {
		for range 20 {
			c, err := tls.Dial("tcp", strings.TrimPrefix(r.url, "https://"), &tls.Config{RootCAs: f.pool})
			f.must(err)
			defer c.Close()
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s %d 2 3\r\nContent-Length: 8000000\r\n\r\n",
				path, name, time.Now().Unix())
			f.must(c.SetReadDeadline(time.Now().Add(5 * time.Second)))
			if line, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, "401") {
				t.Fatalf("it is read: %q, %v", line, err)
			}
		}
	}
	if !strings.Contains(r.scrape(), "assent_body_bytes_free 200000\n") {
		t.Error("it takes memory")
	}
}

// Calls to join that never end keep nobody from joining or publishing.
func TestAttack_ManyWhoJoinSlowly(t *testing.T) {
	f := newTeam(t)
	f.extra = "limits: {connections: 2200, audit_in_flight: 1000000}\n"
	r := f.serve()
	for range 2100 {
		c, err := tls.Dial("tcp", strings.TrimPrefix(r.url, "https://"), &tls.Config{RootCAs: f.pool})
		f.must(err)
		defer c.Close()
		fmt.Fprint(c, "POST /gate/v1/join HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4096\r\n\r\n{")
	}
	r.join()
	if status, said := r.publish(f.bundle(1)); status != 200 {
		t.Errorf("%d %s", status, said)
	}
}

// One machine, or whoever repeats a call of it that they have recorded, takes no place from others that wait.
func TestAttack_OneMachineWaitsForAll(t *testing.T) {
	f := newTeam(t)
	f.extra = "limits: {waiting: 40}\n"
	r := f.serve()
	g, other := r.join(), r.join()
	ended := make(chan int, 100)
	for range cap(ended) {
		go func() {
			status, _, _ := r.call("GET", "/gate/v1/wait", g, nil)
			ended <- status
		}()
	}
	for range cap(ended) - 16 {
		if status := <-ended; status != 200 {
			t.Errorf("one that is sent away: %d", status)
		}
	}
	waits := make(chan int, 1)
	go func() {
		status, _, _ := r.call("GET", "/gate/v1/wait", other, nil)
		waits <- status
	}()
	eventually(t, "another machine waits", func() bool { return strings.Contains(r.scrape(), "assent_waiting_machines 17\n") })
	if status, said := r.publish(f.bundle(1)); status != 200 { // all are woken
		t.Fatalf("%d %s", status, said)
	}
	if status := <-waits; status != 200 {
		t.Errorf("another machine: %d", status)
	}
}

// Plain HTTP where TLS is meant, and old TLS, get nowhere; a length that is not said is not guessed.
func TestTransport(t *testing.T) {
	f := newTeam(t)
	r := f.serve()
	address := strings.TrimPrefix(r.url, "https://")
	answer, err := http.Get("http://" + address + "/healthz")
	if err == nil {
		answer.Body.Close()
		if answer.StatusCode != 400 {
			t.Errorf("plain HTTP: %s", answer.Status)
		}
	}
	if c, err := tls.Dial("tcp", address, &tls.Config{RootCAs: f.pool, MaxVersion: tls.VersionTLS11}); err == nil {
		c.Close()
		t.Error("TLS 1.1 is taken")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, "POST", r.url+"/gate/v1/join", struct{ *strings.Reader }{strings.NewReader("{}")}) // chunked
	f.must(err)
	got, err := r.http.Do(q)
	f.must(err)
	defer got.Body.Close()
	if got.StatusCode != 411 {
		t.Errorf("chunked: %s", got.Status)
	}
}
