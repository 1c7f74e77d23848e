package admin

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/team/wire"
)

// The calls of a desk over HTTPS:
//
//	GET  /policy/v1/directory         → Directory
//	GET  /policy/v1/bundles?most=N    → []Published
//	POST /policy/v1/bundle            a signed bundle
//	GET  /policy/v1/records?since=T   → a line of JSON for each record
const (
	directoryPath = "/policy/v1/directory"
	bundlesPath   = "/policy/v1/bundles"
	publishPath   = "/policy/v1/bundle"
	recordsPath   = "/policy/v1/records"
)

// A Remote is the desk of who has the team's key: each call is signed with it.
type Remote struct {
	server *url.URL
	sign   func(r *http.Request, body []byte) error
	client *http.Client
}

var _ Desk = (*Remote)(nil)

// Dial returns the desk at a server. Nothing is sent yet. The server must be reached over TLS, unless it is on
// this machine.
func Dial(server string, sign func(*http.Request, []byte) error) (*Remote, error) {
	u, err := url.Parse(strings.TrimSuffix(server, "/"))
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && onThisMachine(u.Hostname())) {
		return nil, fmt.Errorf("server %q: write https://HOST, or http://localhost:PORT on one machine", server)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("the server redirects to another address; name the right one with --server")
	}}
	return &Remote{server: u, sign: sign, client: client}, nil
}

// Trust has the server's certificate checked with these, as PEM, and not with those of the system.
func (r *Remote) Trust(ca string) error {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(ca)) {
		return errors.New("the CA file contains no certificate in PEM format")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	r.client.Transport = transport
	return nil
}

func onThisMachine(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

// Signed signs calls with the team's key.
func Signed(key wire.Signer) func(*http.Request, []byte) error {
	return func(r *http.Request, body []byte) error { return wire.SignPolicyCall(r, body, key, time.Now()) }
}

// maxAnswer bounds an answer that is read as a whole.
const maxAnswer = 256 << 20

// callTime bounds a call that is answered at once.
const callTime = time.Minute

// Call makes a signed call and reads its answer into v, if that is not nil.
func (r *Remote) Call(ctx context.Context, method, path string, body []byte, v any) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	answer, err := r.open(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer answer.Close()
	if v == nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(answer, maxAnswer+1))
	if err == nil && len(data) > maxAnswer {
		err = fmt.Errorf("it is larger than %d bytes", maxAnswer)
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return fmt.Errorf("the answer of %s to %s: %w", r.server.Host, path, err)
	}
	return nil
}

// open makes a call and returns the body of an answer that is good.
func (r *Remote) open(ctx context.Context, method, path string, body []byte) (io.ReadCloser, error) {
	q, err := http.NewRequestWithContext(ctx, method, r.server.String()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if err := r.sign(q, body); err != nil {
		return nil, err
	}
	answer, err := r.client.Do(q)
	if err != nil {
		return nil, wire.Unreached(r.server.Host, "name its certificate in the environment variable SSL_CERT_FILE", err)
	}
	if answer.StatusCode/100 == 2 {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	var p wire.Problem
	data, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if json.Unmarshal(data, &p) != nil || p.Detail == "" {
		p.Detail = answer.Status
	}
	err = fmt.Errorf("%s: %w", r.server.Host, &refusal{answer.StatusCode, p.Detail})
	if answer.StatusCode == http.StatusConflict {
		err = ErrConflict // the server says the same
	}
	return nil, err
}

// A refusal is what a server says to a call that it does not do.
type refusal struct {
	status int
	detail string
}

func (r *refusal) Error() string { return r.detail }

// Directory implements [Desk].
func (r *Remote) Directory(ctx context.Context) (d Directory, err error) {
	return d, r.Call(ctx, http.MethodGet, directoryPath, nil, &d)
}

// Bundles implements [Desk].
func (r *Remote) Bundles(ctx context.Context, most int) (all []Published, err error) {
	return all, r.Call(ctx, http.MethodGet, bundlesPath+"?most="+strconv.Itoa(most), nil, &all)
}

// Publish implements [Desk].
func (r *Remote) Publish(ctx context.Context, note []byte) error {
	return r.Call(ctx, http.MethodPost, publishPath, note, nil)
}

// Records implements [Desk].
func (r *Remote) Records(ctx context.Context, since time.Time) iter.Seq2[Shipped, error] {
	return func(yield func(Shipped, error) bool) {
		body, err := r.open(ctx, http.MethodGet, recordsPath+"?since="+url.QueryEscape(since.UTC().Format(time.RFC3339Nano)), nil)
		if err != nil {
			yield(Shipped{}, err)
			return
		}
		defer body.Close()
		// The last line says that it is the last: a stream that breaks off is not a short log.
		for d := json.NewDecoder(body); ; {
			var line recordLine
			err := d.Decode(&line)
			switch {
			case err == nil && line.End:
				return
			case err == nil && line.Problem != "":
				err = errors.New(line.Problem)
			case errors.Is(err, io.EOF):
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				yield(Shipped{}, fmt.Errorf("the records of %s: %w", r.server.Host, err))
				return
			}
			if !yield(line.Shipped, nil) {
				return
			}
		}
	}
}

// A recordLine is one line of the answer to a call for records.
type recordLine struct {
	Shipped
	End     bool   `json:"end,omitempty"`
	Problem string `json:"problem,omitempty"`
}
