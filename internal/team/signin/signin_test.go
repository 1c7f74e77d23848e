//go:build all

package signin_test

import (
	"bytes"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/team/teamtest"
)

func newTeam(t *testing.T) *teamtest.Team {
	t.Helper()
	return teamtest.New(t, pgtest.Start(t).DSN(), -1)
}

// signed reports whether a browser has a session.
func signed(t *testing.T, x *teamtest.Team, c *http.Client) bool {
	t.Helper()
	response, err := c.Get(x.URL + "/api/v1/me")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// Who was added comes in, with a cookie that only this host gets; who was not is told what to do.
func TestSignIn(t *testing.T) {
	x := newTeam(t)
	x.Person("Ann")
	c := x.Browser()
	if signed(t, x, c) {
		t.Fatal("signed in before")
	}
	if status, page := x.SignIn(c, "Ann"); status != http.StatusOK || !strings.Contains(page, "Welcome, Ann.") {
		t.Fatalf("%d %s", status, page)
	}
	if !signed(t, x, c) {
		t.Error("not signed in")
	}
	own, _ := url.Parse(x.URL)
	cookies := c.Jar.Cookies(own)
	if len(cookies) != 1 || cookies[0].Name != "__Host-assent" {
		t.Fatalf("%v", cookies)
	}
	// Whoever reads the database has no session.
	var hash, data []byte
	x.Read(`SELECT hash, data FROM team.web_sessions`, &hash, &data)
	if bytes.Contains(data, []byte(cookies[0].Value)) || string(hash) == cookies[0].Value {
		t.Error("the token is in the database")
	}
	mallory := x.Browser()
	status, page := x.SignIn(mallory, "Mallory")
	if status != http.StatusForbidden || !strings.Contains(page, "You are not in this team yet") || !strings.Contains(page, "--subject mallory") {
		t.Errorf("%d %s", status, page)
	}
	if signed(t, x, mallory) {
		t.Error("Mallory is signed in")
	}
}

// The cookies can be read by no script and go to no other site or host.
func TestCookies(t *testing.T) {
	x := newTeam(t)
	x.Person("Ann")
	c := x.Browser()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	response, err := c.Get(x.URL + "/signin?to=//evil.example")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	attempt := response.Header.Get("Set-Cookie")
	for _, want := range []string{"__Host-assent-signin=", "Secure", "HttpOnly", "SameSite=Lax", "Path=/"} {
		if !strings.Contains(attempt, want) {
			t.Errorf("%s lacks %s", attempt, want)
		}
	}
	to, _ := url.Parse(response.Header.Get("Location"))
	q := to.Query()
	for _, want := range []string{"state", "nonce", "code_challenge"} {
		if q.Get(want) == "" {
			t.Errorf("%s is missing", want)
		}
	}
	if q.Get("code_challenge_method") != "S256" {
		t.Error(q)
	}
	q.Set("subject", "ann")
	back, err := c.Get(x.Issuer.URL + "/auth/as?" + q.Encode())
	if err != nil {
		t.Fatal(err)
	}
	back.Body.Close()
	last, err := c.Get(back.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	last.Body.Close()
	session := strings.Join(last.Header["Set-Cookie"], "\n")
	for _, want := range []string{"__Host-assent=", "Secure", "HttpOnly", "SameSite=Strict", "__Host-assent-signin=;"} {
		if !strings.Contains(session, want) {
			t.Errorf("%s lacks %s", session, want)
		}
	}
	if last.Header.Get("Location") != "" {
		t.Error("a redirect after the sign-in")
	}
}

// What the issuer says counts for this browser, this client and this try alone.
func TestAttack_SignIn(t *testing.T) {
	for name, change := range map[string]func(map[string]any){
		"another audience": func(c map[string]any) { c["aud"] = "another" },
		"another issuer":   func(c map[string]any) { c["iss"] = "https://evil.example" },
		"another nonce":    func(c map[string]any) { c["nonce"] = "of an earlier try" },
		"no nonce":         func(c map[string]any) { delete(c, "nonce") },
		"expired":          func(c map[string]any) { c["exp"] = 1 },
		"another subject":  func(c map[string]any) { c["sub"] = "nobody" },
		"the e-mail of Ann": func(c map[string]any) {
			c["sub"], c["email"], c["email_verified"], c["name"] = "nobody", "ann@example.org", true, "Ann"
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTeam(t)
			x.Person("Ann")
			x.Issuer.Claims(change)
			c := x.Browser()
			if status, page := x.SignIn(c, "Ann"); status != http.StatusForbidden {
				t.Errorf("%d %s", status, page)
			}
			if signed(t, x, c) {
				t.Error("signed in")
			}
		})
	}
}

// An answer that another browser got, or that is sent twice, signs nobody in.
func TestAttack_Callback(t *testing.T) {
	x := newTeam(t)
	x.Person("Ann")
	attacker := x.Browser()
	attacker.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	first, err := attacker.Get(x.URL + "/signin")
	if err != nil {
		t.Fatal(err)
	}
	first.Body.Close()
	to, _ := url.Parse(first.Header.Get("Location"))
	q := to.Query()
	q.Set("subject", "ann")
	back, err := attacker.Get(x.Issuer.URL + "/auth/as?" + q.Encode())
	if err != nil {
		t.Fatal(err)
	}
	back.Body.Close()
	callback := back.Header.Get("Location")
	get := func(c *http.Client, address string) int {
		t.Helper()
		response, err := c.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.StatusCode
	}
	victim := x.Browser()
	if status := get(victim, callback); status != http.StatusForbidden || signed(t, x, victim) {
		t.Errorf("in a browser that did not begin: %d", status)
	}
	begun := x.Browser()
	begun.CheckRedirect = attacker.CheckRedirect
	get(begun, x.URL+"/signin")
	if status := get(begun, callback); status != http.StatusForbidden || signed(t, x, begun) {
		t.Errorf("with the state of another browser: %d", status)
	}
	if status := get(attacker, callback); status != http.StatusOK {
		t.Errorf("in its own browser: %d", status)
	}
	if status := get(attacker, callback); status != http.StatusForbidden {
		t.Errorf("sent twice: %d", status)
	}
}

// Whoever is disabled is out at once, and stays out.
func TestDisabled(t *testing.T) {
	x := newTeam(t)
	ann := x.Person("Ann")
	c := x.Browser()
	x.SignIn(c, "Ann")
	if err := x.DB.DisablePerson(t.Context(), ann.ID, true); err != nil {
		t.Fatal(err)
	}
	if signed(t, x, c) {
		t.Error("still in")
	}
	if status, page := x.SignIn(x.Browser(), "Ann"); status != http.StatusForbidden || !strings.Contains(page, "disabled") {
		t.Errorf("%d %s", status, page)
	}
	if err := x.DB.DisablePerson(t.Context(), ann.ID, false); err != nil {
		t.Fatal(err)
	}
	if signed(t, x, c) {
		t.Error("a session from before is one again")
	}
	if x.SignIn(c, "Ann"); !signed(t, x, c) {
		t.Error("Ann cannot sign in again")
	}
}

// A session that somebody planted before the sign-in is not the one that is signed in.
func TestAttack_Fixation(t *testing.T) {
	x := newTeam(t)
	x.Person("Ann")
	x.Person("Bob")
	thief, victim := x.Browser(), x.Browser()
	x.SignIn(thief, "Bob")
	own, err := url.Parse(x.URL)
	if err != nil {
		t.Fatal(err)
	}
	planted := *thief.Jar.Cookies(own)[0]
	planted.Path, planted.Secure = "/", true
	victim.Jar.SetCookies(own, []*http.Cookie{&planted})
	x.SignIn(victim, "Ann")
	if !signed(t, x, victim) {
		t.Error("Ann is not signed in")
	}
	if signed(t, x, thief) {
		t.Error("the planted session is still one")
	}
}

// Where people choose what the sign-in service calls them, that is no command of the administrator who is to add them.
func TestAttack_SubjectThatIsACommand(t *testing.T) {
	x := newTeam(t)
	for subject, want := range map[string]string{
		"mallory":           "--subject mallory",
		"m; touch /tmp/x":   "--subject 'm; touch /tmp/x'",
		"m'; touch /tmp/x'": `--subject 'm'\''; touch /tmp/x'\'''`,
		"--config=/tmp/x":   "--subject '--config=/tmp/x'",
		"$(id)`id`":         "--subject '$(id)`id`'",
		"m\ntouch /tmp/x":   `--subject 'm`,
	} {
		x.Issuer.Claims(func(c map[string]any) { c["sub"] = subject })
		status, page := x.SignIn(x.Browser(), "Mallory")
		text := html.UnescapeString(page)
		if status != http.StatusForbidden || !strings.Contains(text, want) || strings.Contains(text, "\ntouch") {
			t.Errorf("%q: %d %s", subject, status, text)
		}
	}
}
