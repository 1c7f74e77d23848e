package gateway

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Loopback reports why an address is not one to listen on: nothing listens where another
// machine could reach it.
func Loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("the address %q: write it as HOST:PORT", address)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.IsLoopback() {
		return fmt.Errorf("the address %q is not on this machine only; use 127.0.0.1:PORT or [::1]:PORT", address)
	}
	return nil
}

// ListenHTTP serves clients that have the token, until ctx is done. It tells ready where.
func (g *Gateway) ListenHTTP(ctx context.Context, address, token string, ready func(net.Addr)) error {
	if err := Loopback(address); err != nil {
		return err
	}
	handler, err := g.Handler(token)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	ready(listener.Addr())
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}

// Handler serves clients that have the token, which may not be empty.
func (g *Gateway) Handler(token string) (http.Handler, error) {
	if len(token) < 16 {
		return nil, errors.New("the token needs at least 16 characters")
	}
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return g.server }, &mcp.StreamableHTTPOptions{
		PropagateRequestCancellation: true, MaxRequestBodyBytes: maxMessage,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
			return
		}
		if !fromHere(r) {
			http.Error(w, "web pages of other origins cannot call tools", http.StatusForbidden)
			return
		}
		r.Header.Del("Authorization") // nobody behind needs it
		defer g.exchanges.open(r)()
		inner.ServeHTTP(w, r)
	}), nil
}

// fromHere reports whether a request was meant for this machine by who sent it: a page of
// another site, or a name that was made to point here, is not.
func fromHere(r *http.Request) bool {
	if !isLoopback(r.Host) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host
}

// isLoopback reports whether a host, with a port or without, is this machine by its name or
// number.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// exchangeHeader names an exchange inside this process. What a client sends under this name
// is replaced.
const exchangeHeader = "Assent-Exchange"

// exchanges are the requests over HTTP that are being answered. The SDK does not say when
// a client stopped waiting; the request's own context does.
type exchanges struct {
	mu      sync.Mutex
	next    int
	waiting map[string]<-chan struct{}
}

// open notes a request; close it when it was answered.
func (e *exchanges) open(r *http.Request) (closed func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.waiting == nil {
		e.waiting = map[string]<-chan struct{}{}
	}
	e.next++
	id := strconv.Itoa(e.next)
	e.waiting[id] = r.Context().Done()
	r.Header.Set(exchangeHeader, id)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.waiting, id)
	}
}

// gone is closed when the client of an exchange is gone.
func (e *exchanges) gone(id string) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.waiting[id]
}

// goneOf is closed when the client of a call cannot be answered any more.
func (g *Gateway) goneOf(extra *mcp.RequestExtra) <-chan struct{} {
	if extra == nil || extra.Header == nil {
		return nil
	}
	return g.exchanges.gone(extra.Header.Get(exchangeHeader))
}
