//go:build all

package signin_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/team/signin"
)

// door is one whose issuer answers so, without a database; log gets what it says.
func door(t *testing.T, issuer http.HandlerFunc) (d *signin.Door, log *bytes.Buffer) {
	t.Helper()
	server := httptest.NewServer(issuer)
	t.Cleanup(server.Close)
	log = new(bytes.Buffer)
	d, err := signin.New(signin.Config{URL: "https://assent.example.org", Team: "Acme", Issuer: server.URL, ClientID: "assent",
		ClientSecret: "the-secret", Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return d, log
}

// An issuer that does not stop to speak takes no memory without end, and the log says what is wrong.
func TestAttack_AnIssuerWithoutEnd(t *testing.T) {
	var sent atomic.Int64 // the handler may go on when the call has ended
	d, log := door(t, func(w http.ResponseWriter, _ *http.Request) {
		for ; sent.Load() < 1000; sent.Add(1) {
			if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
				return
			}
		}
	})
	w := httptest.NewRecorder()
	d.Begin(w, httptest.NewRequest("GET", "/signin", nil))
	if w.Code != http.StatusBadGateway || sent.Load() > 100 || !strings.Contains(log.String(), "too long") {
		t.Errorf("%d after %d MiB: %s", w.Code, sent.Load(), log)
	}
}

// While the issuer hangs, it is asked once for all, and nobody is held after they have gone.
func TestAttack_AnIssuerThatHangs(t *testing.T) {
	asked, release := make(chan bool, 100), make(chan bool)
	d, _ := door(t, func(http.ResponseWriter, *http.Request) {
		asked <- true
		<-release
	})
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan bool, 50)
	for range cap(ended) {
		go func() {
			d.Begin(httptest.NewRecorder(), httptest.NewRequest("GET", "/signin", nil).WithContext(ctx))
			ended <- true
		}()
	}
	<-asked
	cancel()
	for range cap(ended) {
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatal("a call that nobody listens to is held")
		}
	}
	if len(asked) > 0 {
		t.Errorf("the issuer was asked %d times more", len(asked))
	}
}

// The secret and the code go to the address that the issuer named, and not where that leads.
func TestAttack_ATokenAddressThatLeadsAway(t *testing.T) {
	stolen := ""
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen = fmt.Sprint(r.Header.Get("Authorization"), r.FormValue("client_secret"), r.FormValue("code"))
	}))
	defer other.Close()
	d, log := door(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
			return
		}
		own := "http://" + r.Host
		fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"jwks_uri":%q}`,
			own, own+"/auth", own+"/token", own+"/keys")
	})
	began := httptest.NewRecorder()
	d.Begin(began, httptest.NewRequest("GET", "/signin", nil))
	to, err := url.Parse(began.Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	back := httptest.NewRequest("GET", "/signin/callback?code=the-code&state="+to.Query().Get("state"), nil)
	back.AddCookie(began.Result().Cookies()[0])
	w := httptest.NewRecorder()
	d.End(w, back)
	if stolen != "" || w.Code != http.StatusForbidden {
		t.Errorf("%d: somebody else got %q", w.Code, stolen)
	}
	text := log.String()
	if !strings.Contains(text, "307") || strings.Contains(text, "the-secret") || strings.Contains(text, "the-code") {
		t.Error(text)
	}
}
