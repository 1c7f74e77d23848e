package bridge

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/present"
)

// How much a server may say at once, and how long it may take.
const (
	maxAnswer  = 8 << 20
	maxBundle  = bundle.MaxBytes
	maxProblem = 64 << 10
	patience   = 30 * time.Second
	heldWait   = wire.LongestWait + 15*time.Second
)

// A Client talks to the server of a team.
type Client struct {
	base *url.URL
	http *http.Client
	gate string
	key  ed25519.PrivateKey
	// skew is how far the clock of the server is ahead, as it said when it refused a call.
	skew  atomic.Int64
	clock func() time.Time
}

// NewClient returns a client of a server that has joined nothing yet. CA are certificates as PEM; empty means those
// of the system.
func NewClient(server, ca string) (*Client, error) {
	base, err := parseServer(server)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(ca)) {
			return nil, errors.New("the CA file contains no certificate in PEM format")
		}
	}
	// A connection that the network forgot is noticed though nothing is said on it.
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3,
	}}
	return &Client{base: base, clock: time.Now, http: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSClientConfig: config,
			TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10, IdleConnTimeout: 90 * time.Second,
			DisableCompression: true, // a small answer cannot become a large one
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// ForMachine returns the client of a machine that has joined.
func ForMachine(m *member.Machine) (*Client, error) {
	c, err := NewClient(m.Server, m.CA)
	if err != nil {
		return nil, err
	}
	c.gate, c.key = m.Gate, m.Private
	return c, nil
}

// parseServer reads the address of a server.
func parseServer(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return nil, fmt.Errorf("invalid server address %q: write it as https://HOST", text)
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, fmt.Errorf("server address %q: http works only on this machine; use https", text)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return nil, fmt.Errorf("invalid server address %q: write only the host and port, as in https://assent.example.org", text)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// A RefusedError is an answer of the server that refuses a call.
type RefusedError struct {
	Status int
	What   string
}

func (e *RefusedError) Error() string { return "the server refuses: " + e.What }

// refusedWith reports whether an error is a refusal with one of these statuses.
func refusedWith(err error, statuses ...int) bool {
	var refused *RefusedError
	if !errors.As(err, &refused) {
		return false
	}
	for _, s := range statuses {
		if refused.Status == s {
			return true
		}
	}
	return false
}

// Join makes a machine with this key a member.
func (c *Client) Join(ctx context.Context, j wire.Join) (out wire.Joined, err error) {
	if err = c.json(ctx, http.MethodPost, "/gate/v1/join", j, &out, patience); err == nil && (out.Tenant == "" || out.Gate == "") {
		err = errors.New("the server did not say which team and machine this is")
	}
	return out, err
}

// Leave ends the key of the machine.
func (c *Client) Leave(ctx context.Context) error {
	return c.json(ctx, http.MethodPost, "/gate/v1/leave", struct{}{}, nil, patience)
}

// Bundle fetches the newest signed bundle. It is not verified here.
func (c *Client) Bundle(ctx context.Context) ([]byte, error) {
	return c.call(ctx, http.MethodGet, "/gate/v1/bundle", nil, maxBundle, patience)
}

func (c *Client) requests(ctx context.Context, in []wire.Signed) (out wire.Taken, err error) {
	return out, c.json(ctx, http.MethodPost, "/gate/v1/requests", in, &out, patience)
}

func (c *Client) ended(ctx context.Context, in []wire.Ended) error {
	return c.json(ctx, http.MethodPost, "/gate/v1/ended", in, nil, patience)
}

// wait waits for news after a cursor, or for another serial than the one that was heard of last.
func (c *Client) wait(ctx context.Context, after, serial int64) (out wire.News, err error) {
	return out, c.json(ctx, http.MethodGet, fmt.Sprintf("/gate/v1/wait?after=%d&serial=%d", after, serial), nil, &out, heldWait)
}

func (c *Client) audit(ctx context.Context, in wire.Records) (out wire.Kept, err error) {
	return out, c.json(ctx, http.MethodPost, "/gate/v1/audit", in, &out, patience)
}

// json sends and gets JSON. In and out may be nil.
func (c *Client) json(ctx context.Context, method, path string, in, out any, within time.Duration) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = wire.Encode(in); err != nil {
			return err
		}
	}
	data, err := c.call(ctx, method, path, body, maxAnswer, within)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%s: the server's answer cannot be read: %w", c.base.Host, err)
	}
	return nil
}

// call makes one call. Of what the server says no more is read than limit, and no longer than within.
func (c *Client) call(ctx context.Context, method, path string, body []byte, limit int64, within time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.key != nil {
		wire.SignCall(r, body, c.gate, c.key, c.clock().Add(time.Duration(c.skew.Load())))
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, wire.Unreached(c.base.Host, "join with its certificate: --ca FILE", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 == 2 {
		return readAtMost(answer.Body, limit, c.base.Host)
	}
	said, err := readAtMost(answer.Body, maxProblem, c.base.Host)
	if err != nil {
		said = nil
	}
	if answer.StatusCode == http.StatusUnauthorized {
		c.heed(answer.Header.Get("Date"))
	}
	return nil, refusal(answer, said)
}

// heed signs from now on with the time of the server: the machine's clock may be wrong, and what a call may do
// does not depend on its time.
func (c *Client) heed(date string) {
	if at, err := http.ParseTime(date); err == nil {
		c.skew.Store(int64(at.Sub(c.clock())))
	}
}

func readAtMost(r io.Reader, limit int64, host string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s: the server's answer is longer than %d bytes", host, limit)
	}
	return data, err
}

// refusal describes why a server refused a call.
func refusal(answer *http.Response, said []byte) error {
	e := &RefusedError{Status: answer.StatusCode, What: answer.Status}
	var p wire.Problem
	switch {
	case answer.StatusCode/100 == 3:
		e.What = "it sends this machine elsewhere, to " + answer.Header.Get("Location") +
			"; join with the address that it has now"
	case json.Unmarshal(said, &p) == nil && p.Detail != "":
		e.What = p.Detail
	case p.Title != "":
		e.What = p.Title
	default:
		e.What += ", and it does not answer as assent serve does; check the address, and whether it begins with https"
	}
	e.What = present.SafeLine(e.What)
	return e
}
