package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/descope/virtualwebauthn"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// A person has a phone: a browser that is signed in, and a passkey in it.
type person struct {
	s         *stage
	id, name  string
	client    *http.Client
	rp        virtualwebauthn.RelyingParty
	device    virtualwebauthn.Authenticator
	key       virtualwebauthn.Credential
	questions map[string]bool // which they have seen
}

// arrives gives somebody a phone and signs them in at the sign-in service, the way a browser goes.
func (s *stage) arrives(name string) *person {
	jar, err := cookiejar.New(nil)
	must(err)
	p := &person{s: s, id: "p_" + strings.ToLower(name), name: name, questions: map[string]bool{}, device: virtualwebauthn.NewAuthenticator(),
		key: newPasskey(), rp: virtualwebauthn.RelyingParty{ID: "localhost", Name: "assent", Origin: s.front.url},
		client: &http.Client{Jar: jar, Timeout: patience, Transport: browser{&http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.roots}}}}}
	stay := *p.client
	stay.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	first, err := stay.Get(s.front.url + "/signin")
	must(err)
	_ = first.Body.Close()
	to, err := url.Parse(first.Header.Get("Location"))
	must(err)
	q := to.Query()
	q.Set("subject", strings.ToLower(name)) // what a click on their name does
	last, err := p.client.Get(s.issuer.URL + "/auth/as?" + q.Encode())
	must(err)
	defer last.Body.Close()
	page, err := io.ReadAll(last.Body)
	must(err)
	if last.StatusCode != http.StatusOK || !strings.Contains(string(page), "You are signed in") {
		fail("%s could not sign in: %s", name, last.Status)
	}
	return p
}

// A browser says where a call comes from, as browsers do for the pages of the server itself.
type browser struct{ http.RoundTripper }

func (b browser) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == "https" {
		r = r.Clone(r.Context())
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return b.RoundTripper.RoundTrip(r)
}

// newPasskey makes a passkey. The library writes a coordinate that begins with a zero too short, which is no key.
func newPasskey() virtualwebauthn.Credential {
	for {
		c := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2)
		if _, err := webauthncose.ParsePublicKey(c.Key.AttestationData()); err == nil {
			return c
		}
	}
}

type object = map[string]any

// call makes a call of the people's API. It returns why it was refused; out gets the answer otherwise.
func (p *person) call(method, path string, body, out any) error {
	data, err := json.Marshal(body)
	must(err)
	r, err := http.NewRequestWithContext(p.s.ctx, method, p.s.front.url+"/api/v1"+path, bytes.NewReader(data))
	must(err)
	r.Header.Set("Content-Type", "application/json")
	response, err := p.client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		var problem struct{ Detail string }
		_ = json.Unmarshal(text, &problem)
		return fmt.Errorf("%d %s", response.StatusCode, problem.Detail)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// enrol makes a passkey known, with the code of an invitation.
func (p *person) enrol(invitation string) {
	var begun struct {
		Options struct {
			PublicKey json.RawMessage `json:"publicKey"`
		}
	}
	must(p.call(http.MethodPost, "/keys/begin", object{}, &begun))
	options, err := virtualwebauthn.ParseAttestationOptions(`{"publicKey":` + string(begun.Options.PublicKey) + `}`)
	must(err)
	made := virtualwebauthn.CreateAttestationResponse(p.rp, p.device, p.key, *options)
	must(p.call(http.MethodPost, "/keys", object{"name": "phone", "credential": json.RawMessage(made), "invitation": invitation}, nil))
}

// A question is one that waits for a person.
type question struct {
	ID, Summary, Agent, Machine, Need, Not, State string
}

// asked waits for a question that the person has not seen yet.
func (p *person) asked(summary string) (q question) {
	p.s.until("a question for "+p.name, func() bool {
		var list struct{ Requests []question }
		if p.call(http.MethodGet, "/requests", nil, &list) != nil {
			return false
		}
		for _, r := range list.Requests {
			if !p.questions[r.ID] && strings.Contains(r.Summary, summary) {
				q, p.questions[r.ID] = r, true
				return true
			}
		}
		return false
	})
	return q
}

// A detail is a question with all that a person needs to answer it.
type detail struct {
	Fingerprint policy.Digest `json:"fingerprint"`
	Digest      policy.Digest `json:"view_digest"`
	Serial      int64         `json:"serial"`
	View        present.View  `json:"view"`
	Ended       string        `json:"ended"`
	Need        string        `json:"need"`
}

func (p *person) reads(id string) (d detail) {
	must(p.call(http.MethodGet, "/requests/"+id, nil, &d))
	return d
}

// answerContext keeps a signature under an answer from being taken for one under anything else.
const answerContext = "assent-answer-v1\x00"

// vote says yes to a question: it signs a statement of all that the yes does with the passkey.
func (p *person) vote(id string) (words string, err error) {
	d := p.reads(id)
	text, err := json.Marshal(approval.Statement{Version: 1, Tenant: tenant, Request: id, Fingerprint: d.Fingerprint, View: d.Digest,
		Answer: approval.AnswerApprove, Serial: d.Serial, Expires: time.Now().Add(time.Hour).Unix(), Nonce: rand.Text()})
	must(err)
	proof := p.touch([]byte(answerContext + string(text)))
	proof.Statement = string(text)
	var out struct{ Results []struct{ Words string } }
	if err := p.call(http.MethodPost, "/votes", object{"votes": []object{{"request": id, "proof": proof}}}, &out); err != nil {
		return "", err
	}
	return out.Results[0].Words, nil
}

// yes is a vote that the server must take.
func (p *person) yes(id string) string {
	words, err := p.vote(id)
	if err != nil {
		fail("the yes of %s is refused: %v", p.name, err)
	}
	return words
}

// touch signs a message with the passkey.
func (p *person) touch(message []byte) approval.Proof {
	challenge := sha256.Sum256(message)
	text := virtualwebauthn.CreateAssertionResponse(p.rp, p.device, p.key,
		virtualwebauthn.AssertionOptions{Challenge: challenge[:], RelyingPartyID: p.rp.ID})
	var said struct {
		Response struct{ AuthenticatorData, ClientDataJSON, Signature string }
	}
	must(json.Unmarshal([]byte(text), &said))
	data := func(text string) []byte {
		out, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
		must(err)
		return out
	}
	return approval.Proof{Credential: base64.RawURLEncoding.EncodeToString(p.key.ID), Signature: data(said.Response.Signature),
		Authenticator: data(said.Response.AuthenticatorData), Client: data(said.Response.ClientDataJSON)}
}
