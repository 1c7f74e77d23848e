//go:build all

package people_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/teamtest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// stays wants that nothing has let the call run.
func stays(t *testing.T, out <-chan approval.Outcome) {
	t.Helper()
	select {
	case o := <-out:
		t.Errorf("it was answered: %s (%s)", o.State, o.Why)
	default:
	}
}

// vote sends one vote, signed or not.
func (p *phone) vote(id string, pr approval.Proof) (int, string) {
	p.t.Helper()
	return p.call("POST", "/api/v1/votes", object{"votes": []object{{"request": id, "proof": pr}}}, nil)
}

// A stolen cookie reads and denies. It never approves, whatever is sent with it.
func TestAttack_StolenCookie(t *testing.T) {
	x, g, _, bob, cleo := three(t)
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	own, _ := url.Parse(x.URL)
	cookie := bob.client.Jar.Cookies(own)[0].String()
	// As curl: no browser, no headers of one but those that the thief invents.
	thief := &phone{t: t, x: x, client: x.Browser(), rp: bob.rp, device: cleo.device, key: cleo.key}
	thief.client.Jar = nil
	thief.client.Transport = withCookie{cookie, thief.client.Transport}
	if status, _ := thief.call("GET", "/api/v1/requests/"+r.ID, nil, nil); status != http.StatusOK {
		t.Errorf("reading: %d", status)
	}
	statement := thief.states(r.ID)
	unsigned := approval.Proof{Credential: credentialOf(bob), Statement: statement}
	cleos := thief.touch(proof.Answer(statement)) // another person's key, in Bob's session
	cleos.Statement = statement
	forged := cleos
	forged.Credential = credentialOf(bob)
	for name, pr := range map[string]approval.Proof{"no signature": unsigned, "the key of somebody else": cleos, "a signature of another key": forged, "nothing": {}} {
		if status, why := thief.vote(r.ID, pr); status != http.StatusForbidden && status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", name, status, why)
		}
	}
	// Nor does it make a passkey, or invite somebody.
	thief.key = bob.key
	if status, why := thief.enrols("", nil); status != http.StatusForbidden {
		t.Errorf("a passkey without a word of another: %d %s", status, why)
	}
	if status, _ := thief.call("POST", "/api/v1/invitations", object{"person": "x", "proof": object{"credential": credentialOf(bob), "statement": "{}", "signature": "", "authenticator": "", "client": ""}}, nil); status != http.StatusForbidden {
		t.Errorf("an invitation: %d", status)
	}
	stays(t, out)
	if status, _ := thief.call("POST", "/api/v1/requests/"+r.ID+"/deny", object{}, nil); status != http.StatusOK {
		t.Errorf("denying: %d", status)
	}
	if o := <-out; o.State != policy.StateDenied {
		t.Error(o.State)
	}
	// Signing out ends it.
	bob.call("POST", "/api/v1/sign-out", object{}, nil)
	if status, _ := thief.call("GET", "/api/v1/requests", nil, nil); status != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", status)
	}
}

func credentialOf(p *phone) string { return p.touch(nil).Credential }

type withCookie struct {
	cookie string
	next   http.RoundTripper
}

func (w withCookie) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Cookie", w.cookie)
	return w.next.RoundTrip(r)
}

// Another page cannot use the session, and a page by another name is another origin.
func TestAttack_CrossOrigin(t *testing.T) {
	x, g, _, bob, _ := three(t)
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	deny := x.URL + "/api/v1/requests/" + r.ID + "/deny"
	for name, header := range map[string]http.Header{
		"another site":             {"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}},
		"another port of the host": {"Sec-Fetch-Site": {"same-site"}, "Origin": {"https://localhost:1"}},
		"only the origin":          {"Sec-Fetch-Site": {"same-origin"}, "Origin": {"https://evil.example"}},
		"a null origin":            {"Sec-Fetch-Site": {"cross-site"}, "Origin": {"null"}},
		"a form":                   {"Sec-Fetch-Site": {"same-origin"}, "Content-Type": {"text/plain"}},
		"opened by hand":           {"Sec-Fetch-Site": {"none"}},
		"neither header":           nil,
	} {
		client := *bob.client
		if name == "neither header" {
			client.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
			header = nil
		}
		status, why := call(t, &client, "POST", deny, object{}, nil, header)
		if status != http.StatusForbidden && status != http.StatusUnsupportedMediaType {
			t.Errorf("%s: %d %s", name, status, why)
		}
	}
	stays(t, out)
	for name, header := range map[string]http.Header{"a picture": {"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}},
		"a frame": {"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"iframe"}}} {
		for _, path := range []string{"/", "/api/v1/me", "/page/keys", "/static/team.js"} {
			if status, _ := call(t, bob.client, "GET", x.URL+path, nil, nil, header); status != http.StatusForbidden {
				t.Errorf("%s of %s: %d", name, path, status)
			}
		}
	}
	other, err := http.NewRequest("GET", x.URL+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	other.Host = "evil.example"
	response, err := bob.client.Do(other)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("by another name: %d", response.StatusCode)
	}
	for _, path := range []string{"/", "/api/v1/me", "/page/keys", "/static/team.js", "/static/style.css"} {
		response, err := bob.client.Get(x.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		csp := response.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "require-trusted-types-for 'script'") || !strings.Contains(csp, "frame-ancestors 'none'") {
			t.Errorf("%s: %s", path, csp)
		}
	}
}

// GET changes nothing, so that nobody who opens links for somebody answers.
func TestAttack_LinksThatAreOpened(t *testing.T) {
	x, g, _, bob, _ := three(t)
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	for _, path := range []string{"/r/" + r.ID, "/api/v1/requests/" + r.ID + "/deny", "/api/v1/votes", "/api/v1/sign-out", "/signin", "/keys"} {
		for _, method := range []string{"GET", "HEAD"} {
			call(t, bob.client, method, x.URL+path, nil, nil, nil)
		}
	}
	stays(t, out)
	if status, _ := bob.call("GET", "/api/v1/me", nil, nil); status != http.StatusOK {
		t.Errorf("signed out: %d", status)
	}
}

// An agent that drives a browser enrols a passkey of its own: it needs an invitation, waits, is announced, and counts
// only once a person has signed it into a bundle.
func TestAttack_AgentEnrolsAPasskey(t *testing.T) {
	x := teamtest.New(t, pgtest.Start(t).DSN(), 24*time.Hour)
	ann, bob := x.Person("Ann", "sre"), x.Person("Bob", "sre")
	g := x.Gate("laptop", ann)
	x.Decide([]string{"write_file"}, []bundle.From{{From: "sre", Count: 1}})
	x.Publish()
	agent := newPhone(t, x, "Bob") // with the session of Bob
	agent.knows()
	if status, why := agent.enrols("", nil); status != http.StatusForbidden || !strings.Contains(why, "needs an invitation code") {
		t.Errorf("without an invitation: %d %s", status, why)
	}
	if status, _ := agent.enrols("made-up", nil); status != http.StatusForbidden {
		t.Errorf("with a made-up one: %d", status)
	}
	anns, err := x.DB.Invite(t.Context(), ann.ID, "admin", "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := agent.enrols(anns, nil); status != http.StatusForbidden {
		t.Errorf("with Ann's: %d", status)
	}
	if _, err := x.DB.Invite(t.Context(), bob.ID, bob.ID, "", time.Hour); err == nil {
		t.Error("Bob invites himself")
	}
	other := newPhone(t, x, "Ann")
	hears, _ := other.listens()
	agent.invited(bob) // somebody was tricked
	hears("keys")
	id := base64.RawURLEncoding.EncodeToString(agent.key.ID)
	for path, words := range map[string][]string{ // what each of them sees
		"Ann": {"New keys that do not count yet: Bob", "passkey “phone” of <strong>Bob</strong>", "let in by admin", "It waits until ", "revoke-key " + id},
		"Bob": {`class="mine problem" role="alert"`, "A new passkey for you: “phone”", "let in by admin", "If you did not make it, revoke it now"},
	} {
		who := map[string]*phone{"Ann": other, "Bob": agent}[path]
		page := who.page("/page/new-keys")
		for _, w := range words {
			if !strings.Contains(page, w) {
				t.Errorf("%s does not see %q:\n%s", path, w, page)
			}
		}
	}
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	if _, status, why := agent.approves(r.ID); status != http.StatusForbidden {
		t.Errorf("at once: %d %s", status, why)
	}
	x.Publish() // the publisher leaves out what waits
	agent.knows()
	if _, status, why := agent.approves(r.ID); status != http.StatusForbidden {
		t.Errorf("while it waits: %d %s", status, why)
	}
	stays(t, out)
	notices, err := x.DB.TakeNotices(t.Context(), 100, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	announced := false
	for _, n := range notices {
		announced = announced || n.Kind == "credential.enrolled"
	}
	if !announced {
		t.Error("nobody was told")
	}
	if page := other.page("/page/new-keys"); !strings.Contains(page, id) {
		t.Errorf("it is not told any more, and waits:\n%s", page)
	}
	// A key that waits vouches for no other.
	second := newPhone(t, x, "Bob")
	if status, why := second.enrols("", agent); status != http.StatusForbidden {
		t.Errorf("vouched for by a key that waits: %d %s", status, why)
	}
	// Bob sees it and ends it, and nobody is told about it any more.
	if status, why := second.call("DELETE", "/api/v1/keys/"+id, nil, nil); status >= 300 {
		t.Errorf("%d %s", status, why)
	}
	if page := other.page("/page/new-keys"); strings.TrimSpace(page) != "" {
		t.Errorf("a key that was revoked is told:\n%s", page)
	}
}

// A second passkey needs the first, or somebody's invitation, which that person signs.
func TestSecondPasskey(t *testing.T) {
	x, _, ann, bob, _ := three(t)
	second := newPhone(t, x, "Bob")
	if status, why := second.enrols("", ann); status != http.StatusForbidden {
		t.Errorf("vouched for by Ann's key: %d %s", status, why)
	}
	if status, why := second.enrols("", bob); status != http.StatusOK {
		t.Errorf("vouched for by Bob's: %d %s", status, why)
	}
	var me struct{ ID string }
	bob.call("GET", "/api/v1/me", nil, &me)
	invite := func(by *phone, person string) (int, string, string) {
		text := strings.NewReplacer("PERSON", person, "EXPIRES", strconv.FormatInt(time.Now().Add(time.Minute).Unix(), 10)).Replace(`{"version":1,"tenant":"acme","person":"PERSON","expires":EXPIRES,"nonce":"n"}`)
		signed := by.touch([]byte("assent-invite-v1\x00" + text))
		signed.Statement = text
		var out struct{ Code string }
		status, why := by.call("POST", "/api/v1/invitations", object{"person": person, "proof": object{"credential": signed.Credential, "statement": text,
			"signature": signed.Signature, "authenticator": signed.Authenticator, "client": signed.Client}}, &out)
		return status, why, out.Code
	}
	if status, _, _ := invite(bob, me.ID); status == http.StatusOK {
		t.Error("Bob invites himself")
	}
	status, why, code := invite(ann, me.ID)
	if status != http.StatusOK || code == "" {
		t.Fatalf("%d %s", status, why)
	}
	if status, why, _ := invite(ann, me.ID); status != http.StatusForbidden {
		t.Errorf("what was signed once invites twice: %d %s", status, why)
	}
	third := newPhone(t, x, "Bob")
	if status, why := third.enrols(code, nil); status != http.StatusOK {
		t.Errorf("%d %s", status, why)
	}
	if status, _ := newPhone(t, x, "Bob").enrols(code, nil); status != http.StatusForbidden {
		t.Errorf("used twice: %d", status)
	}
	// Revoking ends it here at once.
	if status, _ := ann.call("DELETE", "/api/v1/keys/"+credentialOf(bob), nil, nil); status != http.StatusNotFound {
		t.Errorf("Ann revokes Bob's key: %d", status)
	}
	if status, why := bob.call("DELETE", "/api/v1/keys/"+credentialOf(bob), nil, nil); status >= 300 {
		t.Errorf("%d %s", status, why)
	}
	if status, _, _ := invite(bob, me.ID); status != http.StatusForbidden {
		t.Errorf("a revoked key: %d", status)
	}
}

// What a model wrote stays text, wherever it stands.
func TestAttack_ScriptInEveryField(t *testing.T) {
	x, g, _, bob, _ := three(t)
	const script = `<img src=x onerror=alert(1)></script><script>alert(1)</script>" onfocus="alert(1)`
	view := present.DiffView(present.Side{Name: script, Text: script + "\n"}, present.Side{Name: script, Text: "b " + script + "\n"})
	g.Calls("write_file", `{"path":"a","content":"b"}`, approval.Proposal{Summary: script, View: teamtest.Shown(view), Choices: []approval.Choice{{ID: script, Label: script}},
		Acts: []policy.Act{{Name: "write_file", Target: policy.PathTarget(script), Known: true, Verdict: policy.VerdictAsk, Why: script}}})
	r := <-g.Asked
	for _, path := range []string{"/page/request/" + r.ID, "/page/votes/" + r.ID, "/page/history", "/page/people", "/page/keys"} {
		response, err := bob.client.Get(x.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v %s", path, response.StatusCode, err, text)
		}
		if bytes.Contains(text, []byte("<img")) || bytes.Contains(text, []byte("<script")) || bytes.Contains(text, []byte(`" onfocus=`)) {
			t.Errorf("%s:\n%s", path, text)
		}
	}
}

// A replica that shows something else than was asked, and has people sign that, makes no gate run anything; nor does one
// that answers itself.
func TestAttack_ReplicaThatLies(t *testing.T) {
	x, g, _, bob, cleo := three(t)
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	harmless := policy.DigestOf([]byte("something harmless"))
	lies := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/api/v1/requests/") {
				next.ServeHTTP(w, r)
				return
			}
			kept := httptest.NewRecorder()
			next.ServeHTTP(kept, r)
			view := viewOf(kept.Body.String())
			w.WriteHeader(kept.Code)
			_, _ = io.WriteString(w, strings.ReplaceAll(kept.Body.String(), view, harmless.String()))
		})
	}
	replica := x.Serve(-1, lies)
	true1 := x.URL
	for _, who := range []*phone{bob, cleo} {
		x.URL = replica
		who.client = x.Browser()
		who.rp.Origin = replica
		x.SignIn(who.client, map[*phone]string{bob: "Bob", cleo: "Cleo"}[who])
		statement := who.states(r.ID)
		if !strings.Contains(statement, harmless.String()) {
			t.Fatalf("the replica told the truth: %s", statement)
		}
		// Whatever the replica writes into the database for it:
		x.Force(r.ID, who.signs(statement))
	}
	x.URL = true1
	x.Settle(r, r.Approve(""))
	if o := <-out; o.State == policy.StateApproved {
		t.Errorf("the gate ran what nobody saw: %s", o.Why)
	}
}

func viewOf(text string) string {
	_, rest, _ := strings.Cut(text, `"view_digest":"`)
	digest, _, _ := strings.Cut(rest, `"`)
	return digest
}

// One person, or whoever has their cookie, cannot have every replica look at the list again and again.
func TestAttack_ManyStreams(t *testing.T) {
	x, _, _, bob, cleo := three(t)
	open := func(p *phone) (*http.Response, int) {
		response, err := p.client.Get(x.URL + "/api/v1/events")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		return response, response.StatusCode
	}
	var all []*http.Response
	for {
		response, status := open(bob)
		if status == http.StatusTooManyRequests {
			break
		}
		if all = append(all, response); status != http.StatusOK || len(all) > 50 {
			t.Fatalf("%d streams, and %d", len(all), status)
		}
	}
	if _, status := open(cleo); status != http.StatusOK {
		t.Errorf("another person: %d", status)
	}
	for _, response := range all {
		response.Body.Close()
	}
	over := time.After(20 * time.Second)
	for {
		if _, status := open(bob); status == http.StatusOK {
			return
		}
		select {
		case <-over:
			t.Fatal("those that ended still count")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// listens hears events: next waits for one, and skips what was touched.
func (p *phone) listens() (next func(want string) string, lines *bufio.Scanner) {
	p.t.Helper()
	response, err := p.client.Get(p.x.URL + "/api/v1/events")
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { response.Body.Close() })
	lines = bufio.NewScanner(response.Body)
	next = func(want string) string {
		p.t.Helper()
		for lines.Scan() {
			name, ok := strings.CutPrefix(lines.Text(), "event: ")
			if !ok || !lines.Scan() || name == "touched" {
				continue
			}
			if name != want {
				p.t.Fatalf("%s %s instead of %s", name, lines.Text(), want)
			}
			return lines.Text()
		}
		p.t.Fatal("it ended")
		return ""
	}
	next("reset")
	return next, lines
}

// A stream tells of what comes, and ends with the session.
func TestStream(t *testing.T) {
	_, g, _, bob, _ := three(t)
	next, lines := bob.listens()
	tool, args, p := edit()
	out := g.Calls(tool, args, p)
	r := <-g.Asked
	if data := next("waiting"); !strings.Contains(data, r.ID) {
		t.Error(data)
	}
	bob.call("POST", "/api/v1/requests/"+r.ID+"/deny", object{}, nil)
	if data := next("ended"); !strings.Contains(data, "denied by Bob") {
		t.Error(data)
	}
	<-out
	bob.call("POST", "/api/v1/sign-out", object{}, nil)
	for lines.Scan() { // until the server ends it
	}
}
