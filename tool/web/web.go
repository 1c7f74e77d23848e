package web

import (
	"context"
	"crypto/tls"
	_ "embed"
	"encoding/json"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
)

const name = "http_request"

//go:embed http_request.md
var words string

// What [Options] that say nothing about it get.
const (
	DefaultTimeout  = 30 * time.Second
	DefaultMaxBytes = 200_000
)

// Options are what the tool works with. The zero Options reach nothing.
type Options struct {
	// Network says which hosts may be talked to.
	Network hosts.Policy
	// Denied reports whether an act is denied by something that the tool does not know,
	// such as a rule. It is asked about the addresses that a name turns out to have, which
	// nobody knows when the call is judged. May be nil.
	Denied func(ctx context.Context, act policy.Act) bool
	// Resolver looks names up; nil is the system's.
	Resolver *net.Resolver
	// Timeout is for the whole of a call; 0 means [DefaultTimeout].
	Timeout time.Duration
	// MaxBytes is how much of a body is given to the model; 0 means [DefaultMaxBytes].
	MaxBytes int64
}

// A Tool is the tool http_request. Make one with [New].
type Tool struct {
	opts Options
	spec tool.Spec

	// connect dials an address that was checked; tls are the settings of connections.
	connect func(ctx context.Context, network, address string) (net.Conn, error)
	tls     *tls.Config
}

// New returns the tool.
func New(opts Options) (*Tool, error) {
	if err := opts.Network.Validate(); err != nil {
		return nil, err
	}
	opts.Network.Staged = false // requests are made by this process
	if opts.Timeout <= 0 {
		opts.Timeout = DefaultTimeout
	}
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = DefaultMaxBytes
	}
	if opts.Resolver == nil {
		opts.Resolver = net.DefaultResolver
	}
	lent := tool.Func(name, strings.TrimSpace(words), func(context.Context, arguments) (any, error) { return nil, nil })
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &Tool{opts: opts, spec: lent.Spec(), connect: dialer.DialContext}, nil
}

// Spec implements [tool.Tool].
func (t *Tool) Spec() tool.Spec { return t.spec }

// Prepare implements [tool.Tool]. It looks nothing up.
func (t *Tool) Prepare(_ context.Context, args json.RawMessage) (tool.Action, error) {
	r, err := readRequest(args)
	if err != nil {
		return tool.Action{}, err
	}
	return tool.Ask(func(ctx context.Context) (any, error) { return t.send(ctx, r) }).
		On(t.acts(r.place)...).Titled(r.summary()).ShowingView(r.view()), nil
}

// acts are the request, and the connection that it takes. The connection never asks by
// itself, as the request does, but a deny about it holds.
func (t *Tool) acts(p place) []policy.Act {
	u := p.target.URL
	connect := t.opts.Network.Connect(u.Host, u.Port, u.Scheme == "https")
	request := policy.Act{Name: name, Target: p.target, Known: true, Verdict: connect.Verdict, Why: connect.Why}
	switch {
	case connect.Verdict == policy.VerdictBlock:
	case t.refused(p) != "":
		request.Verdict, request.Why = policy.VerdictBlock, t.refused(p)
	case p.user && connect.Verdict == policy.VerdictFree:
		request.Verdict, request.Why = policy.VerdictAsk, "the URL has a user name before its host, which is "+u.Host
	}
	connect.Cause, connect.ByName = 1, false
	if connect.Verdict != policy.VerdictBlock {
		connect.Verdict, connect.Why = policy.VerdictFree, "follows from the request"
	}
	return []policy.Act{request, connect}
}

// refused says why a place may not be reached, as far as that can be told without looking
// its name up; empty if it may.
func (t *Tool) refused(p place) string {
	host := p.target.URL.Host
	what := hosts.SpecialName(host)
	if p.addr.IsValid() {
		what = hosts.Special(p.addr)
	}
	if what == "" || t.opts.Network.Names(host, p.target.URL.Port) {
		return ""
	}
	return host + " is " + what + "; it is refused unless sandbox.network names it"
}

// addressRefused says why a host may not be reached at an address that it turned out to
// have; empty if it may. That config names a host is no word about where its name leads,
// except for names that can only mean this machine.
func (t *Tool) addressRefused(host, port string, addr netip.Addr) string {
	what := hosts.Special(addr)
	switch names := t.opts.Network.Names; {
	case what == "", names(addr.String(), port):
		return ""
	case addr.IsLoopback() && hosts.IsLocalName(host) && names(host, port):
		return ""
	}
	return host + " has the address " + addr.String() + ", " + what +
		"; such addresses are refused unless sandbox.network names them"
}
