package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// arguments are those of a call.
type arguments struct {
	Method  string            `json:"method,omitempty" jsonschema:"GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS; default GET"`
	URL     string            `json:"url" jsonschema:"the whole URL, with https:// or http://"`
	Headers map[string]string `json:"headers,omitempty" jsonschema:"headers to send, by name"`
	Body    json.RawMessage   `json:"body,omitempty" jsonschema:"what to send: an object or a list as JSON, or a text as it is"`
}

// A request is what a call sends, all of it.
type request struct {
	method  string
	place   place
	headers []header // in order of their names
	body    []byte
	json    bool // the body is JSON
}

type header struct{ name, value string }

// Limits on what a call may send.
const (
	maxBody    = 4 << 20
	maxHeaders = 50
	maxHeader  = 8 << 10
)

// methods are those that can be sent. CONNECT and TRACE are for machines.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// readRequest reads the arguments of a call.
func readRequest(args json.RawMessage) (request, error) {
	wrong := func(field string, err error) (request, error) {
		return request{}, &tool.ArgumentError{Tool: name, Field: field, Err: err}
	}
	var in arguments
	if err := json.Unmarshal(args, &in); err != nil {
		return wrong("", err)
	}
	r := request{method: strings.ToUpper(in.Method)}
	if r.method == "" {
		r.method = "GET"
	}
	if !slices.Contains(methods, r.method) {
		return wrong("method", fmt.Errorf("unknown method %q: use one of %s", in.Method, strings.Join(methods, ", ")))
	}
	var err error
	if r.place, err = readURL(r.method, in.URL); err != nil {
		return wrong("url", err)
	}
	if err := r.readBody(in.Body); err != nil {
		return wrong("body", err)
	}
	if err := r.readHeaders(in.Headers); err != nil {
		return wrong("headers", err)
	}
	return r, nil
}

// readBody takes a text as it is and anything else as JSON, laid out as it is shown.
func (r *request) readBody(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if len(raw) > maxBody {
		return fmt.Errorf("it has more than %d bytes", maxBody)
	}
	if slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, r.method) {
		return fmt.Errorf("%s sends none; leave it out", r.method)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		r.body, r.json = []byte(text), looksLikeJSON(text)
		return nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return err
	}
	r.body, r.json = b.Bytes(), true
	return nil
}

func looksLikeJSON(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && strings.ContainsRune("{[", rune(text[0])) && json.Valid([]byte(text))
}

// ours are headers that say how a request travels, or that make it another request than
// was judged.
var ours = []string{
	"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Te", "Trailer", "Upgrade", "Expect",
	"Accept-Encoding", "Http2-Settings", "X-Http-Method", "X-Http-Method-Override", "X-Method-Override",
	"X-Original-Url", "X-Rewrite-Url", "X-Forwarded-Host",
}

func (r *request) readHeaders(in map[string]string) error {
	if len(in) > maxHeaders {
		return fmt.Errorf("there are more than %d", maxHeaders)
	}
	for name, value := range in {
		text := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case !isToken(name):
			return fmt.Errorf("invalid header name %q", name)
		case slices.Contains(ours, text) || strings.HasPrefix(text, "Proxy-"):
			return fmt.Errorf("%s cannot be set; leave it out", text)
		case len(value) > maxHeader || strings.ContainsFunc(value, isControl):
			return fmt.Errorf("the value of %s is too long or has control characters", text)
		case r.header(text) != "":
			return fmt.Errorf("%s comes twice", text)
		}
		r.headers = append(r.headers, header{text, strings.TrimSpace(value)})
	}
	if len(r.body) > 0 && r.header("Content-Type") == "" {
		r.headers = append(r.headers, header{"Content-Type", r.contentType()})
	}
	slices.SortFunc(r.headers, func(a, b header) int { return strings.Compare(a.name, b.name) })
	return nil
}

func (r *request) header(name string) string {
	for _, h := range r.headers {
		if h.name == name {
			return h.value
		}
	}
	return ""
}

func (r *request) contentType() string {
	if r.json {
		return "application/json"
	}
	return "text/plain; charset=utf-8"
}

func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

// isToken reports whether a name is one as headers have it.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
}

// send sends a request that was approved and returns what came back.
func (t *Tool) send(ctx context.Context, r request) (any, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, t.opts.Timeout, fmt.Errorf("it took longer than %v", t.opts.Timeout))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, r.method, r.place.url(), bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "assent")
	for _, h := range r.headers {
		req.Header.Set(h.name, h.value)
	}
	transport := t.transport()
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(req)
	if err != nil {
		return nil, t.failed(ctx, r, err)
	}
	defer response.Body.Close()
	result, err := t.read(r, response)
	if err != nil {
		return nil, t.failed(ctx, r, err)
	}
	return result, nil
}

// transport is new for every call, so that no connection outlives what was checked. A
// transport follows no redirect and keeps no cookie.
func (t *Tool) transport() *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // not even the one of the environment
		DialContext:            t.dial,
		TLSClientConfig:        t.tls.Clone(),
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// dial looks the host up once, checks every address that it has, and dials one of those.
func (t *Tool) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := t.lookUp(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		if err := t.checkAddress(ctx, host, port, addr); err != nil {
			return nil, err
		}
	}
	var failed []error
	for _, addr := range addrs {
		conn, err := t.connect(ctx, network, net.JoinHostPort(addr.String(), port))
		if err == nil {
			return conn, nil
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}

func (t *Tool) lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr.Unmap()}, nil
	}
	// The dot keeps the system from trying the name below its own domains.
	addrs, err := t.opts.Resolver.LookupNetIP(ctx, "ip", host+".")
	if err != nil {
		return nil, fmt.Errorf("%s cannot be looked up: %w", host, err)
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("%s has no address", host)
	}
	return addrs, nil
}

// A refusedError says that a host may not be reached at its address.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return "refused: " + e.why }

func (t *Tool) checkAddress(ctx context.Context, host, port string, addr netip.Addr) error {
	if why := t.addressRefused(host, port, addr); why != "" {
		return &refusedError{why}
	}
	if err := t.opts.Network.MayDial(host, port, addr); err != nil {
		return &refusedError{err.Error()}
	}
	act := policy.Act{Name: policy.ActConnect, Target: policy.HostTarget(addr.String(), port), Known: true}
	if t.opts.Denied != nil && t.opts.Denied(ctx, act) {
		return &refusedError{fmt.Sprintf("%s has the address %s, and %s is denied", host, addr, act)}
	}
	return nil
}

// failed says why there is no answer.
func (t *Tool) failed(ctx context.Context, r request, err error) error {
	var refused *refusedError
	if errors.As(err, &refused) {
		return refused
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("no answer from %s: %w", r.place.target.URL.Host, err)
}
