// Package testissuer is a sign-in service for tests and examples: OpenID Connect with the code flow and PKCE, for people
// whom it is told, without any password. Never use it for anything else.
package testissuer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

// A Person can sign in.
type Person struct{ Subject, Name string }

// An Issuer is the service. Make one with [Start], and close it.
type Issuer struct {
	URL            string
	Client, Secret string // of the one program that it knows
	key            *ecdsa.PrivateKey
	discovery      *oidctest.Server
	server         *http.Server

	mu     sync.Mutex
	people []Person
	codes  map[string]grant
	// Change, in tests, changes the claims of a token before it is signed.
	change func(claims map[string]any)
}

// A grant is what a code stands for.
type grant struct{ subject, redirect, nonce, challenge string }

// Start serves at an address of loopback, such as 127.0.0.1:0.
func Start(address string, people ...Person) (*Issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	i := &Issuer{URL: "http://" + listener.Addr().String(), Client: "assent", Secret: rand.Text(), key: key, people: people, codes: map[string]grant{}}
	i.discovery = &oidctest.Server{Algorithms: []string{oidc.ES256}, PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "one", Algorithm: oidc.ES256}}}
	i.discovery.SetIssuer(i.URL)
	mux := http.NewServeMux()
	mux.Handle("/", i.discovery)
	mux.HandleFunc("GET /auth", i.choose)
	mux.HandleFunc("GET /auth/as", i.authorise)
	mux.HandleFunc("POST /token", i.token)
	i.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = i.server.Serve(listener) }()
	return i, nil
}

// Close ends the service.
func (i *Issuer) Close() error { return i.server.Close() }

// Claims has f change what later tokens say, as a service does that is broken or broken into; nil ends it.
func (i *Issuer) Claims(f func(claims map[string]any)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.change = f
}

var page = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Who are you?</title></head><body><h1>Who are you?</h1><p>A sign-in service for tests: nobody is asked for a password.</p>
{{range .}}<p><a id="{{.Subject}}" href="{{.Address}}">{{.Name}}</a></p>{{end}}</body></html>`))

// choose asks who it is.
func (i *Issuer) choose(w http.ResponseWriter, r *http.Request) {
	type row struct{ Subject, Name, Address string }
	var rows []row
	for _, p := range i.people {
		q := r.URL.Query()
		q.Set("subject", p.Subject)
		rows = append(rows, row{p.Subject, p.Name, "/auth/as?" + q.Encode()})
	}
	_ = page.Execute(w, rows)
}

// authorise gives the browser a code.
func (i *Issuer) authorise(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != i.Client || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "want client_id, the code flow and PKCE with S256", http.StatusBadRequest)
		return
	}
	to, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		http.Error(w, "redirect_uri", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	i.mu.Lock()
	i.codes[code] = grant{q.Get("subject"), q.Get("redirect_uri"), q.Get("nonce"), q.Get("code_challenge")}
	i.mu.Unlock()
	to.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, to.String(), http.StatusFound)
}

// token gives the program a token for a code, once.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	client, secret, _ := r.BasicAuth()
	if client == "" {
		client, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	i.mu.Lock()
	g, ok := i.codes[r.PostFormValue("code")]
	delete(i.codes, r.PostFormValue("code"))
	change := i.change
	i.mu.Unlock()
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !ok || client != i.Client || subtle.ConstantTimeCompare([]byte(secret), []byte(i.Secret)) != 1 || g.redirect != r.PostFormValue("redirect_uri") ||
		base64.RawURLEncoding.EncodeToString(sum[:]) != g.challenge {
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	now := time.Now()
	claims := map[string]any{"iss": i.URL, "aud": i.Client, "sub": g.subject, "nonce": g.nonce, "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix()}
	if change != nil {
		change(claims)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"access_token":"none","token_type":"Bearer","expires_in":300,"id_token":%q}`, oidctest.SignIDToken(i.key, "one", oidc.ES256, string(text)))
}
