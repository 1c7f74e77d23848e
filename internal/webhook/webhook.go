// Package webhook tells a server of the user's own that a request waits, signed as Standard Webhooks says.
// What it sends has no authority and hardly any content: the id of the request, the tool, the project's name
// and how urgent it is. Nothing that the server answers means anything.
//
// It is a package of its own so that the hook, which notices that a request waits, links no HTTP: it starts
// 'assent notify-webhook' instead.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/assent-dev/assent/tool/hosts"
)

// A Notice is what is told.
type Notice struct {
	ID      string `json:"id"`
	Tool    string `json:"tool"`
	Project string `json:"project,omitempty"`
	Urgency string `json:"urgency"`
}

// A Target is who is told.
type Target struct {
	URL    string
	Secret string // whsec_ and base64
}

// Check reports why nobody can be told so: an address that is neither https nor on this machine, or a
// secret that is none.
func (t Target) Check() error {
	if err := CheckURL(t.URL); err != nil {
		return err
	}
	_, err := standardwebhooks.NewWebhook(t.Secret)
	return err
}

// CheckURL reports why nothing can be sent to an address: it is neither https nor on this machine.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return err
	case u.Scheme == "https" && u.Host != "" && u.User == nil:
	case u.Scheme == "http" && local(u.Hostname()) && u.User == nil:
	default:
		return errors.New("write https://HOST/PATH, or http://localhost:PORT/PATH for a program on this machine")
	}
	return nil
}

// local reports whether a host is written as one of this machine.
func local(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// tries is how often it is sent, until somebody takes it.
const tries = 3

// errFinal marks what another try would not change.
var errFinal = errors.New("not sent")

// Post tells a server something once, and is for whoever tries again later. Final reports for its error
// whether that is of no use.
func Post(ctx context.Context, t Target, id, kind string, at time.Time, data any) error {
	if err := t.Check(); err != nil {
		return fmt.Errorf("%w: %w", errFinal, err)
	}
	body, err := message(kind, at, data)
	if err != nil {
		return fmt.Errorf("%w: %w", errFinal, err)
	}
	return t.post(ctx, id, body)
}

// Final reports whether another try would change nothing.
func Final(err error) bool { return errors.Is(err, errFinal) }

func message(kind string, at time.Time, data any) ([]byte, error) {
	return json.Marshal(map[string]any{"type": kind, "timestamp": at.UTC(), "data": data})
}

// Send tells one notice, with a few tries if the server is away or busy.
func Send(ctx context.Context, t Target, n Notice) error {
	if err := t.Check(); err != nil {
		return err
	}
	body, err := message("request.waiting", time.Now(), n)
	if err != nil {
		return err
	}
	for try := 0; ; try++ {
		err := t.post(ctx, n.ID, body)
		if err == nil || try+1 == tries || errors.Is(err, errFinal) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(time.Second << try):
		}
	}
}

func (t Target) post(ctx context.Context, id string, body []byte) error {
	hook, err := standardwebhooks.NewWebhook(t.Secret)
	if err != nil {
		return err
	}
	at := time.Now()
	signature, err := hook.Sign(id, at, body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(standardwebhooks.HeaderWebhookID, id)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	got, err := t.client().Do(r)
	if err != nil {
		return withoutAddress(r.URL, err)
	}
	defer got.Body.Close()
	switch code := got.StatusCode; {
	case code/100 == 2:
		return nil
	case code/100 == 5 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return fmt.Errorf("%s answered %s", r.URL.Host, got.Status)
	default:
		return fmt.Errorf("%w: %s answered %s", errFinal, r.URL.Host, got.Status)
	}
}

// withoutAddress is an error of a call that names the host alone: at many services the rest of the address is the secret.
func withoutAddress(u *url.URL, err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("%s: %w", u.Host, err)
}

// client follows no redirection, and reaches no address of a private network unless it is this machine's own
// and written so: a name that somebody else controls must not lead there.
func (t Target) client() *http.Client {
	u, _ := url.Parse(t.URL) // it was checked
	own := local(u.Hostname())
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		a, err := netip.ParseAddrPort(address)
		switch ip := a.Addr().Unmap(); {
		case err != nil:
			return err
		case own && ip.IsLoopback():
			return nil
		case hosts.Special(ip) != "":
			return fmt.Errorf("%w: %s leads to %s, %s", errFinal, u.Hostname(), ip, hosts.Special(ip))
		}
		return nil
	}}
	return &http.Client{Timeout: 8 * time.Second, Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
