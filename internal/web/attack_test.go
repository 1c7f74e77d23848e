package web_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/inbox"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/web"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// An attack tries to answer, or to read, without being the person. It reports whether it got through.
type attack struct {
	name string
	try  func(a *attempt) (through bool)
}

// An attempt is what an attacker has: the address, a request that waits, tokens of all rights, and what a
// person's browser sent before.
type attempt struct {
	*house
	person     *browser
	request    *approval.Request
	read, deny string // tokens
}

func ok(r response) bool { return r.status >= 200 && r.status < 300 }

var jsonHeader = http.Header{"Content-Type": {"application/json"}}

// path is where an answer goes.
func (a *attempt) path() string { return "/api/v1/requests/" + a.request.ID + "/answer" }

// yes is what a person would send, signed.
func (a *attempt) yes() []byte {
	text, err := json.Marshal(a.person.signed(a.request, a.request.Approve("")))
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}

// post sends a body with headers on top of what an answer needs.
func (a *attempt) post(path string, body []byte, header ...string) response {
	h := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {rand.Text()}}
	for i := 0; i+1 < len(header); i += 2 {
		if h.Set(header[i], header[i+1]); header[i+1] == "" {
			h.Del(header[i])
		}
	}
	return a.send(http.MethodPost, path, body, h)
}

// signedCall is the header of a call of the person.
func (a *attempt) signedCall(method, path string, body []byte) string {
	return a.person.authorize(method, path, body, time.Now(), rand.Text())
}

// A foreigner is a browser with a key that nobody let in.
func (a *attempt) foreigner() *browser {
	private, public := newKey(a.t)
	return &browser{a.house, proof.ID(public), private}
}

func (a *attempt) statement(change func(*approval.Statement)) map[string]any {
	return a.person.signed(a.request, a.request.Approve(""), change)
}

// attacks are those that need no browser. Each is tried on a server of its own, with a request that waits.
var attacks = []attack{
	// Without a key.
	{"no key", func(a *attempt) bool { return ok(a.post(a.path(), a.yes())) }},
	{"no key, no proof", func(a *attempt) bool {
		return ok(a.post(a.path(), []byte(`{"answer":"approve","fingerprint":"`+a.request.Fingerprint.String()+`"}`)))
	}},
	{"reading without a key", func(a *attempt) bool { return ok(a.send("GET", "/api/v1/requests", nil, nil)) }},
	{"one request without a key", func(a *attempt) bool { return ok(a.send("GET", "/api/v1/requests/"+a.request.ID, nil, nil)) }},
	{"events without a key", func(a *attempt) bool { return ok(a.send("GET", "/api/v1/events", nil, nil)) }},
	{"a page without a key", func(a *attempt) bool { return ok(a.send("GET", "/page/request/"+a.request.ID, nil, nil)) }},
	{"the shell has no data", func(a *attempt) bool {
		return strings.Contains(a.send("GET", "/r/"+a.request.ID, nil, nil).body, a.request.Summary)
	}},
	{"a basic password", func(a *attempt) bool { return ok(a.post(a.path(), a.yes(), "Authorization", "Basic YW5uOmFubg==")) }},
	{"an empty scheme", func(a *attempt) bool { return ok(a.post(a.path(), a.yes(), "Authorization", "Assent ")) }},
	{"a foreign key", func(a *attempt) bool {
		f := a.foreigner()
		return ok(f.answer(a.request, f.signed(a.request, a.request.Approve(""))))
	}},
	{"a foreign key under the person's name", func(a *attempt) bool {
		f := a.foreigner()
		f.id = a.person.id
		return ok(f.answer(a.request, f.signed(a.request, a.request.Approve(""))))
	}},
	{"a call of the person with a foreign proof", func(a *attempt) bool {
		f := a.foreigner()
		return ok(a.person.answer(a.request, f.signed(a.request, a.request.Approve(""))))
	}},
	{"a cookie", func(a *attempt) bool { return ok(a.post(a.path(), a.yes(), "Cookie", "assent="+a.person.id)) }},
	{"the key's id in the address", func(a *attempt) bool { return ok(a.post(a.path()+"?key="+a.person.id, a.yes())) }},

	// Replays and changes on the way.
	{"a call sent again", func(a *attempt) bool {
		h := http.Header{"Authorization": {a.signedCall("GET", "/api/v1/requests", nil)}}
		a.send("GET", "/api/v1/requests", nil, h)
		return ok(a.send("GET", "/api/v1/requests", nil, h))
	}},
	{"an old call", func(a *attempt) bool {
		auth := a.person.authorize("GET", "/api/v1/requests", nil, time.Now().Add(-3*time.Minute), rand.Text())
		return ok(a.send("GET", "/api/v1/requests", nil, http.Header{"Authorization": {auth}}))
	}},
	{"a call from the future", func(a *attempt) bool {
		auth := a.person.authorize("GET", "/api/v1/requests", nil, time.Now().Add(time.Hour), rand.Text())
		return ok(a.send("GET", "/api/v1/requests", nil, http.Header{"Authorization": {auth}}))
	}},
	{"another body", func(a *attempt) bool {
		return ok(a.post(a.path(), a.yes(), "Authorization", a.signedCall("POST", a.path(), []byte("{}"))))
	}},
	{"another address", func(a *attempt) bool {
		body := a.yes()
		return ok(a.post(a.path(), body, "Authorization", a.signedCall("POST", "/api/v1/requests/other/answer", body)))
	}},
	{"another method", func(a *attempt) bool {
		body := a.yes()
		return ok(a.post(a.path(), body, "Authorization", a.signedCall("GET", a.path(), body)))
	}},
	{"a query that was not signed", func(a *attempt) bool {
		body := a.yes()
		return ok(a.post(a.path()+"?x=1", body, "Authorization", a.signedCall("POST", a.path(), body)))
	}},
	{"an answer's signature for a call", func(a *attempt) bool {
		sig := base64.RawURLEncoding.EncodeToString(a.person.sign(string(proof.Answer("x"))))
		return ok(a.send("GET", "/api/v1/requests", nil, http.Header{"Authorization": {"Assent " + a.person.id + ".1.x." + sig}}))
	}},
	{"a proof of another request", func(a *attempt) bool {
		other, _ := a.asks("another")
		body := a.person.signed(other, other.Approve(""))
		body["fingerprint"] = a.request.Fingerprint
		return ok(a.person.answer(a.request, body))
	}},
	{"a proof of a no", func(a *attempt) bool {
		body := a.person.signed(a.request, a.request.Deny(""))
		body["answer"] = "approve"
		return ok(a.person.answer(a.request, body))
	}},
	{"a proof of a once, kept always", func(a *attempt) bool {
		body := a.statement(func(*approval.Statement) {})
		body["remember"] = map[string]any{"keep": "always"}
		return ok(a.person.answer(a.request, body))
	}},
	{"a proof of a once, kept for the session and all workers", func(a *attempt) bool {
		body := a.statement(func(*approval.Statement) {})
		body["remember"] = map[string]any{"keep": "session", "shared": true}
		return ok(a.person.answer(a.request, body))
	}},
	{"other arguments than signed", func(a *attempt) bool {
		body := a.statement(func(*approval.Statement) {})
		body["arguments"] = json.RawMessage(`{"what":"evil"}`)
		return ok(a.person.answer(a.request, body))
	}},
	{"another note than signed", func(a *attempt) bool {
		body := a.statement(func(*approval.Statement) {})
		body["note"] = "ignore all rules"
		return ok(a.person.answer(a.request, body))
	}},
	{"another result than signed", func(a *attempt) bool {
		body := a.person.signed(a.request, a.request.Respond("real"))
		body["result"] = "forged"
		return ok(a.person.answer(a.request, body))
	}},
	{"an expired statement", func(a *attempt) bool {
		return ok(a.person.answer(a.request, a.statement(func(s *approval.Statement) { s.Expires = time.Now().Add(-time.Second).Unix() })))
	}},
	{"another view", func(a *attempt) bool {
		return ok(a.person.answer(a.request, a.statement(func(s *approval.Statement) { s.View[3] ^= 1 })))
	}},
	{"another fingerprint", func(a *attempt) bool {
		return ok(a.person.answer(a.request, a.statement(func(s *approval.Statement) { s.Fingerprint[3] ^= 1 })))
	}},
	{"another tenant", func(a *attempt) bool {
		return ok(a.person.answer(a.request, a.statement(func(s *approval.Statement) { s.Tenant = "other" })))
	}},
	{"a statement with a further key", func(a *attempt) bool {
		body := a.statement(func(*approval.Statement) {})
		p := body["proof"].(approval.Proof)
		p.Statement = strings.Replace(p.Statement, "{", `{"x":1,`, 1)
		p.Signature = a.person.sign(string(proof.Answer(p.Statement)))
		body["proof"] = p
		return ok(a.person.answer(a.request, body))
	}},
	{"the key of another answer used again", func(a *attempt) bool {
		other, _ := a.asks("another")
		key := rand.Text()
		first := a.person.call("POST", "/api/v1/requests/"+other.ID+"/answer", a.person.signed(other, other.Deny("")), http.Header{"Idempotency-Key": {key}})
		if !ok(first) {
			a.t.Errorf("the first: %s", first)
		}
		return ok(a.person.call("POST", a.path(), a.statement(func(*approval.Statement) {}), http.Header{"Idempotency-Key": {key}}))
	}},

	// Tokens.
	{"a token that reads approves", func(a *attempt) bool { return ok(a.post(a.path(), a.yes(), "Authorization", "Bearer "+a.read)) }},
	{"a token that reads denies", func(a *attempt) bool {
		return ok(a.post(a.path(), []byte(`{"answer":"deny","fingerprint":"`+a.request.Fingerprint.String()+`"}`), "Authorization", "Bearer "+a.read))
	}},
	{"a token that denies approves", func(a *attempt) bool { return ok(a.post(a.path(), a.yes(), "Authorization", "Bearer "+a.deny)) }},
	{"a token that denies answers instead", func(a *attempt) bool {
		return ok(a.post(a.path(), []byte(`{"answer":"respond","result":"x","fingerprint":"`+a.request.Fingerprint.String()+`"}`), "Authorization", "Bearer "+a.deny))
	}},
	{"a token that denies, always", func(a *attempt) bool {
		return ok(a.post(a.path(), []byte(`{"answer":"deny","remember":{"keep":"always"},"fingerprint":"`+a.request.Fingerprint.String()+`"}`), "Authorization", "Bearer "+a.deny))
	}},
	{"a token that denies reads", func(a *attempt) bool {
		return ok(a.send("GET", "/api/v1/requests", nil, http.Header{"Authorization": {"Bearer " + a.deny}}))
	}},
	{"a token lists browsers", func(a *attempt) bool {
		return ok(a.send("GET", "/api/v1/keys", nil, http.Header{"Authorization": {"Bearer " + a.read}}))
	}},
	{"a token revokes a browser", func(a *attempt) bool {
		return ok(a.send("DELETE", "/api/v1/keys/"+a.person.id, nil, http.Header{"Authorization": {"Bearer " + a.deny}}))
	}},
	{"a token gets a page", func(a *attempt) bool {
		return ok(a.send("GET", "/page/request/"+a.request.ID, nil, http.Header{"Authorization": {"Bearer " + a.read}}))
	}},
	{"a token takes an answer back", func(a *attempt) bool {
		return ok(a.post("/api/v1/requests/"+a.request.ID+"/take-back", []byte(`{"answer":""}`), "Authorization", "Bearer "+a.deny))
	}},
	{"a revoked token", func(a *attempt) bool {
		for id := range must(a.book.Tokens(a.t.Context())) {
			if err := a.book.RevokeToken(a.t.Context(), id); err != nil {
				a.t.Fatal(err)
			}
		}
		return ok(a.send("GET", "/api/v1/requests", nil, http.Header{"Authorization": {"Bearer " + a.read}}))
	}},
	{"a token with another end", func(a *attempt) bool {
		return ok(a.send("GET", "/api/v1/requests", nil, http.Header{"Authorization": {"Bearer " + a.read + "A"}}))
	}},
	{"half a token", func(a *attempt) bool {
		return ok(a.send("GET", "/api/v1/requests", nil, http.Header{"Authorization": {"Bearer " + a.read[:len(a.read)-3]}}))
	}},
	{"a token in the address", func(a *attempt) bool { return ok(a.send("GET", "/api/v1/requests?token="+a.read, nil, nil)) }},

	// Being let in.
	{"a guessed code", func(a *attempt) bool {
		_, public := newKey(a.t)
		body, _ := json.Marshal(map[string]any{"code": rand.Text(), "public": public, "name": "x"})
		return ok(a.send("POST", "/api/v1/keys", body, http.Header{"Content-Type": {"application/json"}, "Origin": {a.server.URL()}}))
	}},
	{"a code used twice", func(a *attempt) bool {
		_, code, _ := strings.Cut(a.server.Link(), "#code=")
		var last response
		for range 2 {
			_, public := newKey(a.t)
			body, _ := json.Marshal(map[string]any{"code": code, "public": public, "name": "x"})
			last = a.send("POST", "/api/v1/keys", body, http.Header{"Content-Type": {"application/json"}, "Origin": {a.server.URL()}})
		}
		return ok(last)
	}},
	{"a code from a program", func(a *attempt) bool {
		_, code, _ := strings.Cut(a.server.Link(), "#code=")
		_, public := newKey(a.t)
		body, _ := json.Marshal(map[string]any{"code": code, "public": public, "name": "x"})
		return ok(a.send("POST", "/api/v1/keys", body, jsonHeader))
	}},
	{"a code as a form", func(a *attempt) bool {
		_, code, _ := strings.Cut(a.server.Link(), "#code=")
		return ok(a.send("POST", "/api/v1/keys", []byte("code="+code), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {a.server.URL()}}))
	}},
	{"a weak key", func(a *attempt) bool {
		_, code, _ := strings.Cut(a.server.Link(), "#code=")
		body, _ := json.Marshal(map[string]any{"code": code, "public": bytes.Repeat([]byte{0}, 91), "name": "x"})
		return ok(a.send("POST", "/api/v1/keys", body, http.Header{"Content-Type": {"application/json"}, "Origin": {a.server.URL()}}))
	}},
	{"a link that a scanner opens", func(a *attempt) bool { // a fragment is not sent, and GET changes nothing
		link := a.server.Link()
		_, code, _ := strings.Cut(link, "#code=")
		a.send("GET", "/", nil, nil)
		a.send("HEAD", "/?code="+code, nil, nil)
		a.send("GET", "/r/"+a.request.ID+"?answer=approve", nil, nil)
		_, public := newKey(a.t)
		body, _ := json.Marshal(map[string]any{"code": code, "public": public, "name": "x"})
		return !ok(a.send("POST", "/api/v1/keys", body, http.Header{"Content-Type": {"application/json"}, "Origin": {a.server.URL()}}))
	}},
	{"a revoked browser", func(a *attempt) bool {
		if err := a.book.EndKeys(a.t.Context(), a.person.id, "", time.Now()); err != nil {
			a.t.Fatal(err)
		}
		return ok(a.person.answer(a.request, a.statement(func(*approval.Statement) {})))
	}},
	{"a browser of a server that ended", func(a *attempt) bool {
		other, err := inbox.Open(a.t.Context(), a.store, inbox.Options{Owner: store.ThisProcess()})
		if err != nil {
			a.t.Fatal(err)
		}
		private, public := newKey(a.t)
		id := must(a.book.AddKey(a.t.Context(), proof.Key{Public: public, Session: other.Session(), Created: time.Now().Add(-time.Hour)}))
		b := &browser{a.house, id, private}
		if ok(b.answer(a.request, b.signed(a.request, a.request.Approve("")))) { // at this server
			return true
		}
		if err := a.book.EndKeys(a.t.Context(), "", other.Session(), time.Now().Add(-time.Minute)); err != nil {
			a.t.Fatal(err)
		}
		if err := other.Close(); err != nil {
			a.t.Fatal(err)
		}
		d := a.request.Approve("")
		d.By, d.Proof = policy.Who{Via: policy.ViaBrowser}, new(b.signed(a.request, d)["proof"].(approval.Proof))
		d.Proof.Public = public
		_ = a.store.Answer(a.t.Context(), d) // into the store, past the server
		return false                         // whether it ran is looked at below
	}},
	{"an answer into the store without a proof", func(a *attempt) bool {
		d := a.request.Approve("")
		d.By = policy.Who{User: "ann", Via: policy.ViaBrowser}
		_ = a.store.Answer(a.t.Context(), d)
		return false
	}},
	{"an answer into the store as the API", func(a *attempt) bool {
		d := a.request.Approve("")
		d.By = policy.Who{User: "ann", Via: policy.ViaAPI}
		_ = a.store.Answer(a.t.Context(), d)
		return false
	}},

	// Other pages and other names.
	{"another origin", func(a *attempt) bool {
		body := a.yes()
		return ok(a.post(a.path(), body, "Authorization", a.signedCall("POST", a.path(), body), "Origin", "http://localhost:3000"))
	}},
	{"the null origin", func(a *attempt) bool {
		body := a.yes()
		return ok(a.post(a.path(), body, "Authorization", a.signedCall("POST", a.path(), body), "Origin", "null"))
	}},
	{"a cross-site fetch", func(a *attempt) bool {
		return ok(a.send("GET", "/api/v1/requests", nil, http.Header{"Authorization": {a.signedCall("GET", "/api/v1/requests", nil)}, "Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"cors"}}))
	}},
	{"a same-site fetch of another port", func(a *attempt) bool {
		return ok(a.send("GET", "/api/v1/requests", nil, http.Header{"Authorization": {a.signedCall("GET", "/api/v1/requests", nil)}, "Sec-Fetch-Site": {"same-site"}}))
	}},
	{"a plain-text post without a preflight", func(a *attempt) bool {
		return ok(a.post(a.path(), a.yes(), "Content-Type", "text/plain", "Sec-Fetch-Site", "cross-site"))
	}},
	{"a frame of another page", func(a *attempt) bool {
		got := a.send("GET", "/", nil, http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"iframe"}})
		return ok(got)
	}},
	{"a preflight", func(a *attempt) bool {
		got := a.send("OPTIONS", a.path(), nil, http.Header{"Origin": {"http://evil.example"}, "Access-Control-Request-Method": {"POST"}})
		return got.header.Get("Access-Control-Allow-Origin") != "" || ok(got)
	}},
	{"rebinding to another name", func(a *attempt) bool {
		return ok(a.send("GET", "/static/app.js", nil, http.Header{"Host": {"evil.example"}}))
	}},
	{"rebinding with the port", func(a *attempt) bool {
		port := a.server.URL()[strings.LastIndex(a.server.URL(), ":"):]
		return ok(a.send("GET", "/", nil, http.Header{"Host": {"evil.example" + port}}))
	}},
	{"the address as the name", func(a *attempt) bool {
		port := a.server.URL()[strings.LastIndex(a.server.URL(), ":"):]
		return ok(a.send("GET", "/", nil, http.Header{"Host": {"127.0.0.1" + port}}))
	}},
	{"localhost without the port", func(a *attempt) bool { return ok(a.send("GET", "/", nil, http.Header{"Host": {"localhost"}})) }},
	{"a dot after localhost", func(a *attempt) bool {
		port := a.server.URL()[strings.LastIndex(a.server.URL(), ":"):]
		return ok(a.send("GET", "/", nil, http.Header{"Host": {"localhost." + port}}))
	}},

	// By the method, the path and the size.
	{"an answer by GET", func(a *attempt) bool {
		return ok(a.send("GET", a.path(), nil, http.Header{"Authorization": {a.signedCall("GET", a.path(), nil)}}))
	}},
	{"an override of the method", func(a *attempt) bool {
		got := a.send("GET", a.path()+"?_method=POST", nil, http.Header{"Authorization": {a.signedCall("GET", a.path()+"?_method=POST", nil)}, "X-Http-Method-Override": {"POST"}})
		return ok(got)
	}},
	{"out of the folder of files", func(a *attempt) bool {
		return strings.Contains(a.send("GET", "/static/../../../../../etc/passwd", nil, nil).body, "root:") ||
			strings.Contains(a.send("GET", "/static/%2e%2e/%2e%2e/etc/passwd", nil, nil).body, "root:")
	}},
	{"a second slash before the API", func(a *attempt) bool {
		return ok(a.send("GET", "//api/v1/requests", nil, nil)) && strings.Contains(a.send("GET", "//api/v1/requests", nil, nil).body, a.request.ID)
	}},
	{"an answer as large as a disk", func(a *attempt) bool {
		body := bytes.Repeat([]byte("x"), 5<<20)
		return ok(a.post(a.path(), body, "Authorization", a.signedCall("POST", a.path(), body)))
	}},
	{"no key for repeats", func(a *attempt) bool {
		return ok(a.person.call("POST", a.path(), a.statement(func(*approval.Statement) {}), nil))
	}},
	{"an unknown answer", func(a *attempt) bool {
		body := a.statement(func(*approval.Statement) {})
		body["answer"] = "expire"
		return ok(a.person.answer(a.request, body))
	}},
	{"other spellings of the host", func(a *attempt) bool {
		port := a.server.URL()[strings.LastIndex(a.server.URL(), ":"):]
		for _, host := range []string{"LOCALHOST" + port, "[::1]" + port, "localhost:0" + port[1:], "x@localhost" + port, "localhost" + port + ",localhost" + port, ""} {
			if strings.Contains(a.raw("GET / HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n"), " 200 ") {
				return true
			}
		}
		return false
	}},
	{"the whole address in the first line", func(a *attempt) bool {
		return strings.Contains(a.raw("GET http://evil.example/ HTTP/1.1\r\nHost: "+a.server.URL()[len("http://"):]+"\r\nConnection: close\r\n\r\n"), " 200 ")
	}},
	{"no host at all", func(a *attempt) bool { return strings.Contains(a.raw("GET / HTTP/1.0\r\n\r\n"), " 200 ") }},
	{"options of the whole server", func(a *attempt) bool {
		return strings.Contains(a.raw("OPTIONS * HTTP/1.1\r\nHost: evil\r\nConnection: close\r\n\r\n"), " 200 ")
	}},
	{"a second request in the body of the first", func(a *attempt) bool {
		host := a.server.URL()[len("http://"):]
		return strings.Contains(a.raw("POST /api/v1/keys HTTP/1.1\r\nHost: "+host+"\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"+
			"0\r\n\r\nGET /static/app.js HTTP/1.1\r\nHost: evil\r\nConnection: close\r\n\r\n"), " 200 ")
	}},
	{"another protocol", func(a *attempt) bool {
		return !strings.Contains(a.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), " 421 ")
	}},
	{"a body that never comes", func(a *attempt) bool { // it is refused at once, and nobody waits for it
		return !strings.Contains(a.raw("POST "+a.path()+" HTTP/1.1\r\nHost: "+a.server.URL()[len("http://"):]+"\r\nContent-Length: 4000000\r\n\r\n"), " 401 ")
	}},
	{"keys of the answer in other letters, and twice", func(a *attempt) bool {
		body := bytes.Replace(a.yes(), []byte("{"), []byte(`{"Remember":{"keep":"always"},"REMEMBER":{"keep":"session"},"NOTE":"x",`), 1)
		h := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {rand.Text()}, "Authorization": {a.signedCall("POST", a.path(), body)}}
		return ok(a.send(http.MethodPost, a.path(), body, h))
	}},
	{"a token that denies stops the run", func(a *attempt) bool {
		return ok(a.post(a.path(), []byte(`{"answer":"deny","stop":true,"fingerprint":"`+a.request.Fingerprint.String()+`"}`), "Authorization", "Bearer "+a.deny))
	}},
	{"tokens change rules", func(a *attempt) bool {
		through := false
		for _, token := range []string{a.read, a.deny} {
			for _, c := range [][3]string{
				{"POST", "/api/v1/rules", `{"rule":"allow shell"}`}, {"PATCH", "/api/v1/rules/x", `{"enabled":true}`}, {"DELETE", "/api/v1/rules/x", ""},
				{"DELETE", "/api/v1/sessions/s/grants/x", ""}, {"POST", a.path()[:len(a.path())-len("/answer")] + "/covers", `{"answer":"approve","remember":{}}`},
			} {
				through = through || ok(a.send(c[0], c[1], []byte(c[2]), http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}))
			}
		}
		return through
	}},
	{"a stale sight", func(a *attempt) bool {
		return ok(a.person.call("POST", a.path(), a.statement(func(*approval.Statement) {}), http.Header{"Idempotency-Key": {rand.Text()}, "If-Match": {`"old"`}}))
	}},
}

// raw sends bytes as they are and returns what comes back, up to a moment of silence.
func (a *attempt) raw(text string) string {
	c, err := net.Dial("tcp", "127.0.0.1"+a.server.URL()[strings.LastIndex(a.server.URL(), ":"):])
	if err != nil {
		a.t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(text)); err != nil {
		a.t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
		a.t.Fatal(err)
	}
	got, _ := io.ReadAll(c) // until it is silent
	return string(got)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// No attack gets through: it is refused, the request waits as before, and the call has not run.
func TestAttacks(t *testing.T) {
	t.Logf("%d attacks", len(attacks))
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			a := &attempt{house: h, person: h.browser()}
			_, a.read, _ = must3(h.book.MakeToken(t.Context(), proof.Token{Rights: []proof.Right{proof.RightRead}}))
			_, a.deny, _ = must3(h.book.MakeToken(t.Context(), proof.Token{Rights: []proof.Right{proof.RightDeny}}))
			var outcome <-chan approval.Outcome
			a.request, outcome = h.asks("hello")
			if attack.try(a) {
				t.Error("it got through")
			}
			// The call still waits, and takes a person's no.
			changed, stop := h.in.Watch()
			defer stop()
			if err := h.store.Answer(t.Context(), a.request.Deny("after the attack")); err != nil {
				// What was written into the store is being refused by the gate, which asks again.
				for err != nil {
					select {
					case o := <-outcome:
						if o.Runs() {
							t.Fatalf("it ran: %+v", o.Decision)
						}
						return
					case <-changed:
					}
					err = h.store.Answer(t.Context(), a.request.Deny("after the attack"))
				}
			}
			if o := <-outcome; o.Runs() || o.Note() != "after the attack" {
				t.Errorf("it ended as %s: %q", o.State, o.Note())
			}
		})
	}
}

func must3[A, B any](a A, b B, err error) (A, B, error) {
	if err != nil {
		panic(err)
	}
	return a, b, nil
}

// What a tool call started is refused before anything else.
func TestProcessesOfToolCallsAreRefused(t *testing.T) {
	h := newHouse(t, func(c *web.Config) {
		c.Peer = func(_, _ net.Addr) error { return errInside }
	})
	for _, path := range []string{"/", "/static/app.js", "/api/v1/requests", "/api/v1/openapi.json"} {
		if got := h.send("GET", path, nil, nil); got.status != http.StatusForbidden || !strings.Contains(got.body, errInside.Error()) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

type insideError struct{}

func (insideError) Error() string { return "a process of a tool call cannot answer" }

var errInside insideError
