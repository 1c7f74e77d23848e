package signin

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-webauthn/webauthn/webauthn"
	"golang.org/x/oauth2"

	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/present"
)

// A Config says where people sign in.
type Config struct {
	// URL is the address of this server, without a path.
	URL string
	// Team is what people call the team.
	Team string
	// Issuer, ClientID and ClientSecret are what the sign-in service gave.
	Issuer, ClientID, ClientSecret string
	DB                             *db.DB
	// Wait is how long a new passkey waits before it may be signed into a bundle; zero means [DefaultWait], less
	// than zero not at all.
	Wait time.Duration
	// Client calls the issuer; nil means the default one.
	Client *http.Client
	// Log gets why the issuer is not believed; nil drops it.
	Log *slog.Logger
}

// DefaultWait is long enough that somebody who did not make a passkey hears of it.
const DefaultWait = 24 * time.Hour

// sessionLife is how long somebody stays signed in.
const sessionLife = 12 * time.Hour

// The cookies. The prefix has browsers take them only from this very host, over TLS. The one of an attempt to
// sign in must survive the way back from the issuer, which is another site; the session never leaves ours.
const (
	sessionCookie = "__Host-assent"
	attemptCookie = "__Host-assent-signin"
	attemptLife   = 10 * time.Minute
)

// A Door is where people come in. It is safe for concurrent use.
type Door struct {
	cfg      Config
	host     string // of URL, without the port
	sessions *scs.SessionManager
	passkeys *webauthn.WebAuthn

	provider atomic.Pointer[oidc.Provider] // once the issuer has answered
	mu       sync.Mutex
	asking   *asking // while it is asked
}

// An asking is one call that asks the issuer for its addresses, for all who wait for them.
type asking struct {
	done chan struct{} // closed when it has ended
	err  error
}

// New returns the door of a server. The issuer is asked when somebody first signs in: a server starts without it.
func New(cfg Config) (*Door, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("sign-in: %q is not the address of a server", cfg.URL)
	}
	if cfg.Wait = cmp.Or(cfg.Wait, DefaultWait); cfg.Wait < 0 {
		cfg.Wait = 0
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{Timeout: 30 * time.Second}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Client = careful(cfg.Client)
	d := &Door{cfg: cfg, host: u.Hostname(), sessions: scs.New()}
	d.sessions.Store = cfg.DB.Sessions() // it has only hashes of the tokens
	d.sessions.Lifetime = sessionLife
	d.sessions.Cookie = scs.SessionCookie{Name: sessionCookie, Path: "/", HttpOnly: true, Secure: true, SameSite: http.SameSiteStrictMode, Persist: true}
	d.sessions.ErrorFunc = func(w http.ResponseWriter, _ *http.Request, _ error) {
		http.Error(w, "The database does not answer. Try again.", http.StatusServiceUnavailable)
	}
	d.passkeys, err = relyingParty(cfg.Team, d.host, cfg.URL)
	return d, err
}

// RP is the name that passkeys are made for.
func (d *Door) RP() string { return d.host }

// Wait is how long a new passkey waits before it may be signed into a bundle.
func (d *Door) Wait() time.Duration { return d.cfg.Wait }

// Load finds the session of a request, and keeps what changes in it.
func (d *Door) Load(next http.Handler) http.Handler { return d.sessions.LoadAndSave(next) }

// Why somebody is not let in; match with [errors.Is].
var (
	ErrSignedOut = errors.New("you are not signed in, or your session has ended")
	ErrDisabled  = errors.New("an administrator has disabled you")
)

// Person returns who is signed in. It asks the database each time, so that whoever is disabled is out at once.
func (d *Door) Person(ctx context.Context) (db.Person, error) {
	id := d.sessions.GetString(ctx, "person")
	if id == "" {
		return db.Person{}, ErrSignedOut
	}
	p, err := d.cfg.DB.Person(ctx, id)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return db.Person{}, ErrSignedOut
	case err == nil && !p.Disabled.IsZero():
		return db.Person{}, ErrDisabled
	case err == nil && p.Era != d.sessions.GetInt64(ctx, "era"):
		return db.Person{}, ErrSignedOut
	}
	return p, err
}

// Still reports whether the session of a call that lasts is still there.
func (d *Door) Still(ctx context.Context) bool {
	_, found, err := d.cfg.DB.Sessions().FindCtx(ctx, d.sessions.Token(ctx))
	if err != nil || !found {
		return false
	}
	_, err = d.Person(ctx)
	return err == nil
}

// SignOut ends the session.
func (d *Door) SignOut(ctx context.Context) error { return d.sessions.Destroy(ctx) }

// An attempt to sign in, which the browser holds until it comes back. State and nonce bind the answer of the
// issuer to this browser; the verifier has the code work for us alone (PKCE).
type attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	To       string `json:"to"` // where the person wanted to go
}

// Begin sends the browser to the issuer.
func (d *Door) Begin(w http.ResponseWriter, r *http.Request) {
	config, _, err := d.issuer(r.Context())
	if err != nil {
		d.log(r, err)
		d.say(w, http.StatusBadGateway, "The sign-in service does not answer", "Try again in a moment. An administrator finds more in the server's log.", "")
		return
	}
	a := attempt{rand.Text(), rand.Text(), oauth2.GenerateVerifier(), "/"}
	if to := r.URL.Query().Get("to"); ownPath.MatchString(to) {
		a.To = to
	}
	text, err := json.Marshal(a)
	if err != nil {
		panic(err) // four strings
	}
	http.SetCookie(w, attemptIs(base64.RawURLEncoding.EncodeToString(text), int(attemptLife.Seconds())))
	http.Redirect(w, r, config.AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), http.StatusFound)
}

// ownPath is an address of ours: one slash, and nothing that a browser could take for another host.
var ownPath = regexp.MustCompile(`^/([A-Za-z0-9][A-Za-z0-9/_%.~-]*)?$`)

func attemptIs(value string, age int) *http.Cookie {
	return &http.Cookie{Name: attemptCookie, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// End takes the browser back from the issuer and begins a session.
func (d *Door) End(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, attemptIs("", -1))
	p, to, err := d.arrived(r)
	var words *refusal
	switch {
	case errors.As(err, &words):
		d.say(w, words.status, words.title, words.text, "")
		return
	case err == nil:
		err = d.sessions.RenewToken(r.Context())
	}
	if err != nil {
		d.log(r, err)
		d.say(w, http.StatusBadGateway, "You could not be signed in", "The sign-in service or the database did not answer. Try again.", "")
		return
	}
	d.sessions.Put(r.Context(), "person", p.ID)
	d.sessions.Put(r.Context(), "era", p.Era)
	// A redirect would still count as coming from the issuer's site, for which the session's cookie is not sent.
	d.say(w, http.StatusOK, "You are signed in", "Welcome, "+p.Name+".", to)
}

// A refusal is why somebody cannot sign in, for them to read.
type refusal struct {
	status      int
	title, text string
}

func (r *refusal) Error() string { return r.title + ": " + r.text }

// arrived checks what the issuer says, and finds the person.
func (d *Door) arrived(r *http.Request) (p db.Person, to string, err error) {
	again := func(text string) error {
		return &refusal{http.StatusForbidden, "You could not be signed in", text + " Open the sign-in page again."}
	}
	a, err := attemptOf(r)
	q := r.URL.Query()
	switch {
	case err != nil:
		return p, "", again("This browser did not start this sign-in, or started it too long ago.")
	case subtle.ConstantTimeCompare([]byte(a.State), []byte(q.Get("state"))) != 1:
		return p, "", again("This sign-in belongs to another browser.")
	case q.Get("error") != "" || q.Get("code") == "":
		return p, "", again("The sign-in service refused it.")
	}
	config, provider, err := d.issuer(r.Context())
	if err != nil {
		return p, "", err
	}
	ctx := oidc.ClientContext(r.Context(), d.cfg.Client)
	token, err := config.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(a.Verifier))
	if err != nil {
		d.log(r, withoutBody(err))
		return p, "", again("The sign-in service did not accept the code.")
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := provider.VerifierContext(ctx, &oidc.Config{ClientID: d.cfg.ClientID}).Verify(ctx, raw)
	if err == nil && subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(a.Nonce)) != 1 {
		err = errors.New("the token has another nonce")
	}
	if err != nil {
		d.log(r, err)
		return p, "", again("The answer of the sign-in service cannot be trusted.")
	}
	p, err = d.cfg.DB.PersonBySubject(r.Context(), id.Issuer, id.Subject)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return p, "", &refusal{http.StatusForbidden, "You are not in this team yet",
			fmt.Sprintf("Ask an administrator to add you: assent people add ID --name NAME --issuer %s --subject %s",
				word(id.Issuer), word(id.Subject))}
	case err == nil && !p.Disabled.IsZero():
		return p, "", &refusal{http.StatusForbidden, "You cannot sign in",
			"An administrator has disabled your account. Ask them why."}
	}
	return p, a.To, err
}

// word is a text as one word of a shell: an administrator copies it, and at some services people choose it themselves.
func word(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(present.SafeLine(text), "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@=+][A-Za-z0-9_./:@=+-]*$`)

func attemptOf(r *http.Request) (a attempt, err error) {
	c, err := r.Cookie(attemptCookie)
	if err != nil {
		return a, err
	}
	text, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err == nil && (a.State == "" || a.Nonce == "" || a.Verifier == "" || !ownPath.MatchString(a.To)) {
		err = errors.New("the attempt is not one of ours")
	}
	return a, err
}

// log says to administrators why the issuer is not believed.
func (d *Door) log(r *http.Request, err error) {
	if r.Context().Err() == nil {
		d.cfg.Log.Warn("sign-in failed", "issuer", d.cfg.Issuer, "error", fmt.Sprintf("%.500s", err.Error()))
	}
}

// withoutBody is why a code was not taken, without the answer of the issuer, which may quote what it was sent.
func withoutBody(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) || refused.Response == nil {
		return err
	}
	return fmt.Errorf("the issuer answered %s: %.40q", refused.Response.Status, refused.ErrorCode)
}

// issuer returns how the sign-in service is called. It is asked for its addresses once, for all who wait, and nobody is held
// longer than somebody listens to them.
func (d *Door) issuer(ctx context.Context) (*oauth2.Config, *oidc.Provider, error) {
	p := d.provider.Load()
	if p == nil {
		a := d.ask(ctx)
		select {
		case <-a.done:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		if a.err != nil {
			return nil, nil, fmt.Errorf("sign-in: %s: %w", d.cfg.Issuer, a.err)
		}
		p = d.provider.Load()
	}
	return &oauth2.Config{ClientID: d.cfg.ClientID, ClientSecret: d.cfg.ClientSecret, Endpoint: p.Endpoint(),
		RedirectURL: d.cfg.URL + "/signin/callback", Scopes: []string{oidc.ScopeOpenID}}, p, nil
}

// ask asks the issuer for its addresses, unless that is under way.
func (d *Door) ask(ctx context.Context) *asking {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.asking != nil {
		return d.asking
	}
	a := &asking{done: make(chan struct{})}
	d.asking = a
	go func() {
		// The provider keeps its context for later calls.
		p, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), d.cfg.Client), d.cfg.Issuer)
		if a.err = err; err == nil {
			d.provider.Store(p)
		}
		d.mu.Lock()
		d.asking = nil
		d.mu.Unlock()
		close(a.done)
	}()
	return a
}

// words is a page without any script.
var words = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>assent</title><link rel="stylesheet" href="/static/style.css">{{with .To}}<meta http-equiv="refresh" content="0; url={{.}}">{{end}}</head>
<body><main id="main"><article><h1>{{.Title}}</h1><p>{{.Text}}</p>
<p><a class="target" href="{{or .To "/"}}">{{if .To}}Continue{{else}}Back{{end}}</a></p></article></main></body></html>`))

func (d *Door) say(w http.ResponseWriter, status int, title, text, to string) {
	var out strings.Builder
	if err := words.Execute(&out, struct{ Title, Text, To string }{title, text, to}); err != nil {
		http.Error(w, title, http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(out.String()))
}
