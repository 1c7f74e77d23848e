package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/assent-dev/assent/policy"
)

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
