package webhook_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/assent-dev/assent/internal/webhook"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// A server that knows the secret can tell that the notice is from us, and learns nothing but what it needs.
func TestSend(t *testing.T) {
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	var tried atomic.Int32
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if tried.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if err := hook.Verify(body, r.Header); err != nil {
			t.Error(err)
		}
		got = string(body)
	}))
	defer server.Close()
	n := webhook.Notice{ID: "r1", Tool: "shell", Project: "shop", Urgency: "high"}
	if err := webhook.Send(t.Context(), webhook.Target{URL: server.URL, Secret: secret}, n); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"type":"request.waiting"`, `"id":"r1"`, `"tool":"shell"`, `"project":"shop"`, `"urgency":"high"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	if tried.Load() != 2 {
		t.Errorf("sent %d times", tried.Load())
	}
}

func TestWhoIsNotTold(t *testing.T) {
	for _, c := range []webhook.Target{
		{URL: "http://example.org/x", Secret: secret}, {URL: "https://", Secret: secret}, {URL: "file:///etc/passwd", Secret: secret},
		{URL: "https://ann:x@example.org/", Secret: secret}, {URL: "https://example.org/", Secret: "not base64!"},
		{URL: "https://10.0.0.1/", Secret: secret}, {URL: "https://169.254.169.254/latest", Secret: secret}, {URL: "https://[fd00::1]/", Secret: secret},
		{URL: "https://100.64.0.1/", Secret: secret}, {URL: "https://0.0.0.0/", Secret: secret}, {URL: "https://[::ffff:10.0.0.1]/", Secret: secret},
		{URL: "https://[64:ff9b::10.0.0.1]/", Secret: secret}, {URL: "https://[2002:a00:1::]/", Secret: secret}, {URL: "https://[::10.0.0.1]/", Secret: secret},
		{URL: "https://2130706433/", Secret: secret}, {URL: "https://127.1/", Secret: secret}, {URL: "http://0x7f.1/", Secret: secret},
	} {
		if err := webhook.Send(t.Context(), c, webhook.Notice{ID: "r"}); err == nil {
			t.Errorf("%s was told", c.URL)
		}
	}
}

// An address can hold a secret: it does not come into the log.
func TestAttack_AnAddressInAnError(t *testing.T) {
	for _, address := range []string{"https://127.0.0.2:1/services/SECRET?token=SECRET", "https://nowhere.invalid/SECRET",
		"https://10.0.0.1/SECRET"} {
		err := webhook.Post(t.Context(), webhook.Target{URL: address, Secret: secret}, "1", "k", time.Now(), nil)
		if err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%v", err)
		}
	}
}

// A redirection is not followed: it may lead anywhere.
func TestRedirected(t *testing.T) {
	var reached atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Store(true) }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	if err := webhook.Send(t.Context(), webhook.Target{URL: server.URL, Secret: secret}, webhook.Notice{ID: "r"}); err == nil || reached.Load() {
		t.Errorf("%v, reached %v", err, reached.Load())
	}
}
