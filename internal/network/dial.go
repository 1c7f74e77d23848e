package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/assent-dev/assent/sandbox/stage"
	"github.com/assent-dev/assent/tool/hosts"
)

// patience is how long one address of a host is tried.
const patience = 10 * time.Second

// A Dialer opens connections that were agreed to. Its functions are those of the system unless
// they are set.
type Dialer struct {
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, at netip.AddrPort) (net.Conn, error)
}

// Open connects to a host. Its name is looked up here and nowhere else, and exactly an address
// that the policy leaves, and that denied has no reason against, is dialled: a name that leads
// elsewhere a moment later gains nothing.
func (d Dialer) Open(ctx context.Context, p hosts.Policy, h stage.Host,
	denied func(context.Context, hosts.Connection) error) (net.Conn, error) {
	name, addrs := h.Name, []netip.Addr{h.Addr}
	if name == "" {
		name = h.Addr.String()
	} else {
		var err error
		if addrs, err = d.lookup(ctx, name); err != nil {
			return nil, fmt.Errorf("looking up %s: %w", name, err)
		}
	}
	p.Own = append(slices.Clip(p.Own), Own()...)
	var errs []error
	for _, addr := range addrs {
		if err := p.MayDial(name, strconv.Itoa(int(h.Port)), addr); err != nil {
			errs = append(errs, err)
			continue
		}
		if h.Name != "" {
			to := hosts.Connection{Host: addr.WithZone("").String(), Port: strconv.Itoa(int(h.Port))}
			if err := denied(ctx, to); err != nil {
				errs = append(errs, fmt.Errorf("%s has the address %s: %w", name, addr, err))
				continue
			}
		}
		conn, err := d.dial(ctx, netip.AddrPortFrom(addr, h.Port))
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%s has no address", name))
	}
	return nil, errors.Join(errs...)
}

// lookup returns the addresses of a name, those of IPv4 first: not every network carries IPv6.
func (d Dialer) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	lookup := d.Lookup
	if lookup == nil {
		lookup = func(ctx context.Context, name string) ([]netip.Addr, error) {
			if strings.Contains(name, ".") {
				name += "." // the name itself, and none below a domain of this machine
			}
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		}
	}
	addrs, err := lookup(ctx, name)
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	return addrs, err
}

func (d Dialer) dial(ctx context.Context, at netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if d.Dial != nil {
		return d.Dial(ctx, at)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", at.String())
}

// Own are the addresses of this machine.
func Own() []netip.Addr {
	var out []netip.Addr
	all, _ := net.InterfaceAddrs() // those that no policy lets through are known without
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, p.Addr().Unmap().WithZone(""))
		}
	}
	return out
}

// Public reports whether everybody can have a name below a domain, by the public list of them.
func Public(domain string) bool {
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return suffix == domain
}
