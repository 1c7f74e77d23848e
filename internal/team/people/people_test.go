//go:build all

package people_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/teamtest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// A phone is a browser with an authenticator, without the page.
type phone struct {
	t      *testing.T
	x      *teamtest.Team
	client *http.Client
	rp     virtualwebauthn.RelyingParty
	device virtualwebauthn.Authenticator
	key    virtualwebauthn.Credential
}

func newPhone(t *testing.T, x *teamtest.Team, name string) *phone {
	t.Helper()
	p := &phone{t: t, x: x, client: x.Browser(), device: virtualwebauthn.NewAuthenticator(), key: newKey(),
		rp: virtualwebauthn.RelyingParty{ID: "localhost", Name: "Acme", Origin: x.URL}}
	if status, page := x.SignIn(p.client, name); status != http.StatusOK || !strings.Contains(page, "You are signed in") {
		t.Fatalf("%s could not sign in: %d %s", name, status, page)
	}
	return p
}

// newKey makes a passkey. The library writes a coordinate that begins with a zero too short; no authenticator does.
func newKey() virtualwebauthn.Credential {
	for {
		c := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		if _, err := webauthncose.ParsePublicKey(c.Key.AttestationData()); err == nil {
			return c
		}
	}
}

// call makes a call and returns its status; out gets the answer, or the words of a refusal.
func (p *phone) call(method, path string, body, out any) (int, string) {
	p.t.Helper()
	return call(p.t, p.client, method, p.x.URL+path, body, out, nil)
}

func call(t *testing.T, c *http.Client, method, address string, body, out any, header http.Header) (int, string) {
	t.Helper()
	var data []byte
	if body != nil {
		data, _ = json.Marshal(body)
	}
	r, err := http.NewRequest(method, address, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for k, v := range header {
		r.Header[k] = v
	}
	response, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode < 300 && out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	var problem struct{ Detail string }
	_ = json.Unmarshal(text, &problem)
	return response.StatusCode, problem.Detail
}

// page returns the text of a page.
func (p *phone) page(path string) string {
	p.t.Helper()
	response, err := p.client.Get(p.x.URL + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s, %v: %s", path, response.Status, err, text)
	}
	return string(text)
}

type object = map[string]any

// touch signs a message with the passkey.
func (p *phone) touch(message []byte) approval.Proof {
	p.t.Helper()
	challenge := sha256.Sum256(message)
	text := virtualwebauthn.CreateAssertionResponse(p.rp, p.device, p.key, virtualwebauthn.AssertionOptions{Challenge: challenge[:], RelyingPartyID: p.rp.ID})
	var said struct {
		Response struct{ AuthenticatorData, ClientDataJSON, Signature string }
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		p.t.Fatal(err)
	}
	data := func(text string) []byte {
		out, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
		if err != nil {
			p.t.Fatal(err)
		}
		return out
	}
	return approval.Proof{Credential: base64.RawURLEncoding.EncodeToString(p.key.ID), Signature: data(said.Response.Signature),
		Authenticator: data(said.Response.AuthenticatorData), Client: data(said.Response.ClientDataJSON)}
}

// enrols makes the passkey of the phone, and returns what the server said.
func (p *phone) enrols(invitation string, vouches *phone) (int, string) {
	p.t.Helper()
	var begun struct {
		Options struct {
			PublicKey json.RawMessage `json:"publicKey"`
		}
	}
	if status, why := p.call("POST", "/api/v1/keys/begin", object{}, &begun); status != http.StatusOK {
		return status, why
	}
	options, err := virtualwebauthn.ParseAttestationOptions(`{"publicKey":` + string(begun.Options.PublicKey) + `}`)
	if err != nil {
		p.t.Fatal(err)
	}
	made := virtualwebauthn.CreateAttestationResponse(p.rp, p.device, p.key, *options)
	body := object{"name": "phone", "credential": json.RawMessage(made), "invitation": invitation}
	if vouches != nil {
		body["proof"] = vouches.touch([]byte("assent-enrol-v1\x00" + base64.StdEncoding.EncodeToString(spki(p.t, p.key))))
	}
	if invitation == "" {
		delete(body, "invitation")
	}
	return p.call("POST", "/api/v1/keys", body, nil)
}

// spki is the public half of a passkey, as the browser has it.
func spki(t *testing.T, c virtualwebauthn.Credential) []byte {
	t.Helper()
	key, err := webauthncose.ParsePublicKey(c.Key.AttestationData())
	if err != nil {
		t.Fatal(err)
	}
	point := key.(webauthncose.EC2PublicKeyData)
	public, err := point.ToECDSA()
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// invited enrols with an invitation of an administrator.
func (p *phone) invited(who db.Person) *phone {
	p.t.Helper()
	code, err := p.x.DB.Invite(p.t.Context(), who.ID, "admin", "", time.Hour)
	if err != nil {
		p.t.Fatal(err)
	}
	if status, why := p.enrols(code, nil); status != http.StatusOK {
		p.t.Fatalf("%d %s", status, why)
	}
	return p
}

// states is what a yes to a request says.
func (p *phone) states(id string) string { return p.says(id, "approve", "") }

func (p *phone) says(id, answer, note string) string {
	p.t.Helper()
	var r struct {
		Fingerprint, View_digest string
		Serial                   int64
	}
	if status, why := p.call("GET", "/api/v1/requests/"+id, nil, &r); status != http.StatusOK {
		p.t.Fatalf("%d %s", status, why)
	}
	digest := ""
	if note != "" {
		digest = policy.DigestOf([]byte(note)).String()
	}
	text, err := json.Marshal(object{"version": 1, "tenant": teamtest.Tenant, "request": id, "fingerprint": r.Fingerprint, "view": r.View_digest, "answer": answer,
		"choice": "", "note": digest, "arguments": "", "result": "", "stop": false, "remember": object{}, "serial": r.Serial,
		"expires": time.Now().Add(time.Hour).Unix(), "nonce": "n-" + id})
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// approves says yes to requests with one touch, and returns the words for each.
func (p *phone) approves(ids ...string) (results []struct{ Request, State, Missing, Problem string }, status int, why string) {
	p.t.Helper()
	var votes []object
	var digests []policy.Digest
	var statements []string
	for _, id := range ids {
		s := p.states(id)
		statements, digests = append(statements, s), append(digests, policy.DigestOf([]byte(s)))
	}
	var one approval.Proof
	if len(ids) == 1 {
		one = p.touch(proof.Answer(statements[0]))
	} else {
		one = p.touch(proof.Batch(digests))
		one.Batch = digests
	}
	for i, id := range ids {
		one.Statement = statements[i]
		votes = append(votes, object{"request": id, "proof": one})
	}
	var out struct {
		Results []struct{ Request, State, Missing, Problem string }
	}
	status, why = p.call("POST", "/api/v1/votes", object{"votes": votes}, &out)
	return out.Results, status, why
}

// writes is a call that changes a file.
func writes(path, before, after string) approval.Proposal {
	view := present.DiffView(present.Side{Name: path, Text: before}, present.Side{Name: path, Text: after})
	return approval.Proposal{Summary: "Edit " + path, Acts: []policy.Act{{Name: "write_file", Target: policy.PathTarget(path), Known: true, Verdict: policy.VerdictAsk,
		Why: "writes are asked by default"}}, View: teamtest.Shown(view)}
}

// A team of three, two of whom must agree; Ann is behind the agent. Each has a passkey that counts.
func three(t *testing.T) (x *teamtest.Team, g *teamtest.Gate, ann, bob, cleo *phone) {
	t.Helper()
	x = teamtest.New(t, pgtest.Start(t).DSN(), -1)
	a, b, c := x.Person("Ann", "sre"), x.Person("Bob", "sre"), x.Person("Cleo", "sre")
	g = x.Gate("laptop", a)
	x.Decide([]string{"write_file"}, []bundle.From{{From: "sre", Count: 2}}, "sponsor")
	ann, bob, cleo = newPhone(t, x, "Ann").invited(a), newPhone(t, x, "Bob").invited(b), newPhone(t, x, "Cleo").invited(c)
	x.Publish()
	bob.knows()
	return x, g, ann, bob, cleo
}

// knows waits until the server has the newest bundle.
func (p *phone) knows() {
	p.t.Helper()
	for p.t.Context().Err() == nil {
		var me struct{ Serial int64 }
		if status, why := p.call("GET", "/api/v1/me", nil, &me); status != http.StatusOK {
			p.t.Fatalf("%d %s", status, why)
		}
		if me.Serial == p.x.Bundle.Serial {
			return
		}
	}
}

func edit() (tool, args string, p approval.Proposal) {
	return "write_file", `{"path":"notes/a.md","content":"two\n"}`, writes("notes/a.md", "one\n", "two\n")
}

// Two of three: the sponsor's yes does not count, one is not enough, and the call runs with the second.
func TestTwoOfThree(t *testing.T) {
	_, g, ann, bob, cleo := three(t)
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	if _, status, why := ann.approves(r.ID); status != http.StatusForbidden || !strings.Contains(why, "behind the agent") {
		t.Errorf("the sponsor: %d %s", status, why)
	}
	got, status, why := bob.approves(r.ID)
	if status != http.StatusOK || got[0].State != "pending" || got[0].Missing != "1 more of sre" {
		t.Fatalf("%d %s %+v", status, why, got)
	}
	var list struct{ Requests []struct{ Need, Not string } }
	cleo.call("GET", "/api/v1/requests", nil, &list)
	if len(list.Requests) != 1 || list.Requests[0].Need != "2 of sre, not Ann: Bob voted yes" {
		t.Errorf("%+v", list)
	}
	select {
	case o := <-out:
		t.Fatalf("one yes was enough: %+v", o.State)
	default:
	}
	if got, status, why := cleo.approves(r.ID); status != http.StatusOK || got[0].State != "approved" {
		t.Fatalf("%d %s %+v", status, why, got)
	}
	if o := <-out; o.State != policy.StateApproved || o.Decision.By.User != "Bob, Cleo" && o.Decision.By.User != "Cleo, Bob" {
		t.Errorf("%s by %s: %s", o.State, o.Decision.By, o.Why)
	}
}

// One touch answers several.
func TestBatch(t *testing.T) {
	_, g, _, bob, cleo := three(t)
	tool, args, p := edit()
	first, second := g.Calls(tool, args, p), g.Calls(tool, args, writes("notes/b.md", "x\n", "y\n"))
	a, b := <-g.Asked, <-g.Asked
	for _, who := range []*phone{bob, cleo} {
		if got, status, why := who.approves(a.ID, b.ID); status != http.StatusOK || len(got) != 2 || got[0].Problem+got[1].Problem != "" {
			t.Fatalf("%d %s %+v", status, why, got)
		}
	}
	for _, out := range []<-chan approval.Outcome{first, second} {
		if o := <-out; o.State != policy.StateApproved {
			t.Errorf("%s: %s", o.State, o.Why)
		}
	}
}

// Being signed in is enough to deny. What nobody signed does not reach the model.
func TestDenyWithTheSessionAlone(t *testing.T) {
	_, g, _, bob, _ := three(t)
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	if status, why := bob.call("POST", "/api/v1/requests/"+r.ID+"/deny", object{"note": "not today"}, nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, why)
	}
	if o := <-out; o.State != policy.StateDenied || o.Decision.Note != "" {
		t.Errorf("%s %q", o.State, o.Decision.Note)
	}
	if status, _ := bob.call("POST", "/api/v1/requests/"+r.ID+"/deny", object{}, nil); status != http.StatusConflict {
		t.Errorf("denied twice: %d", status)
	}
	var history struct{ Requests []struct{ State, By string } }
	bob.call("GET", "/api/v1/history", nil, &history)
	if len(history.Requests) != 1 || history.Requests[0].State != "denied" || history.Requests[0].By != "Bob" {
		t.Errorf("%+v", history)
	}
}

// A denial of what was shown does not deny another request.
func TestDenyWithAFingerprint(t *testing.T) {
	_, g, _, bob, _ := three(t)
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	path := "/api/v1/requests/" + r.ID + "/deny"
	for _, other := range []string{strings.Repeat("0", 64), "sha256:x"} {
		status, why := bob.call("POST", path, object{"fingerprint": other}, nil)
		if status != http.StatusPreconditionFailed || !strings.Contains(why, "read the request again") {
			t.Errorf("%s: %d %s", other, status, why)
		}
	}
	stays(t, out)
	var shown struct{ Fingerprint string }
	bob.call("GET", "/api/v1/requests/"+r.ID, nil, &shown)
	if status, why := bob.call("POST", path, object{"fingerprint": shown.Fingerprint}, nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, why)
	}
	if o := <-out; o.State != policy.StateDenied {
		t.Errorf("%s", o.State)
	}
	if status, _ := bob.call("POST", path, object{"fingerprint": shown.Fingerprint}, nil); status != http.StatusConflict {
		t.Errorf("denied twice: %d", status)
	}
}

// The person behind an agent sees what it asks, although only others decide, and denies it.
func TestTheListHasWhatOnesOwnAgentsAsk(t *testing.T) {
	_, g, ann, bob, _ := three(t)
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	type item struct {
		ID, Not  string
		DenyOnly bool `json:"deny_only"`
	}
	list := func(p *phone, query string) (l struct{ Requests, Own []item }) {
		t.Helper()
		if status, why := p.call("GET", "/api/v1/requests"+query, nil, &l); status != http.StatusOK {
			t.Fatalf("%d %s", status, why)
		}
		return l
	}
	l := list(ann, "")
	if len(l.Requests) != 0 || len(l.Own) != 1 || l.Own[0].ID != r.ID || !l.Own[0].DenyOnly || l.Own[0].Not == "" {
		t.Errorf("the sponsor sees %+v", l)
	}
	if l := list(ann, "?after=1-x"); len(l.Own) != 0 {
		t.Errorf("a later page has it again: %+v", l)
	}
	if l := list(bob, ""); len(l.Requests) != 1 || l.Requests[0].DenyOnly || len(l.Own) != 0 {
		t.Errorf("who decides sees %+v", l)
	}
	if status, why := ann.call("POST", "/api/v1/requests/"+r.ID+"/deny", object{}, nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, why)
	}
	<-out
	if l := list(ann, ""); len(l.Own) != 0 {
		t.Errorf("after the denial: %+v", l)
	}
}

// Who said yes before the no is not named as somebody who denied.
func TestTheHistoryNamesWhoDenied(t *testing.T) {
	_, g, _, bob, cleo := three(t)
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	if _, status, why := bob.approves(r.ID); status != http.StatusOK {
		t.Fatalf("%d %s", status, why)
	}
	if status, why := cleo.call("POST", "/api/v1/requests/"+r.ID+"/deny", object{}, nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, why)
	}
	<-out
	var history struct{ Requests []struct{ State, By string } }
	bob.call("GET", "/api/v1/history", nil, &history)
	if len(history.Requests) != 1 || history.Requests[0].State != "denied" || history.Requests[0].By != "Cleo" {
		t.Errorf("%+v", history)
	}
	var detail struct{ Ended string }
	if bob.call("GET", "/api/v1/requests/"+r.ID, nil, &detail); detail.Ended != "denied by Cleo" {
		t.Errorf("%q", detail.Ended)
	}
}

// A no that is signed brings its note.
func TestDenyWithANote(t *testing.T) {
	_, g, _, bob, _ := three(t)
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	s := bob.says(r.ID, "deny", "not today")
	signed := bob.touch(proof.Answer(s))
	signed.Statement = s
	if status, why := bob.call("POST", "/api/v1/votes", object{"votes": []object{{"request": r.ID, "note": "not today", "proof": signed}}}, nil); status != http.StatusOK {
		t.Fatalf("%d %s", status, why)
	}
	if o := <-out; o.State != policy.StateDenied || o.Decision.Note != "not today" || o.Decision.By.User != "Bob" {
		t.Errorf("%s %q by %s", o.State, o.Decision.Note, o.Decision.By)
	}
}

func TestPages(t *testing.T) {
	_, g, ann, bob, _ := three(t)
	tool, args, p := edit()
	g.Calls(tool, args, p)
	r := <-g.Asked
	for path, words := range map[string][]string{
		"/page/request/" + r.ID: {"2 of sre, not Ann", "Edit notes/a.md", "removed", "Approve", "on <span class=\"path\">laptop"},
		"/page/votes/" + r.ID:   {"Needs 2 of sre"}, "/page/history": {"pending", "Edit notes/a.md"},
		"/page/people": {"Ann, ", "2 of sre, not sponsor", "laptop", "number 1"}, "/page/keys": {"You are Bob", "in force", "Invite somebody"},
	} {
		text := bob.page(path)
		if path == "/page/people" {
			words = words[1:]
		}
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q:\n%s", path, w, text)
			}
		}
	}
	if text := ann.page("/page/request/" + r.ID); !strings.Contains(text, "You cannot approve this: Ann is behind the agent") {
		t.Errorf("%s", text)
	}
}
