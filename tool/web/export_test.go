package web

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"

	"github.com/assent-dev/assent/tool/hosts"
)

// Dialling makes the tool hand its connections to another server, with these settings.
func (t *Tool) Dialling(connect func(ctx context.Context, network, address string) (net.Conn, error), settings *tls.Config) {
	t.connect, t.tls = connect, settings
}

// Refusal is what is said about an address.
func Refusal(addr netip.Addr) string { return hosts.Special(addr) }

// ReadURL returns the form of a URL, and its host as an address if it is one.
func ReadURL(method, raw string) (string, netip.Addr, error) {
	p, err := readURL(method, raw)
	if err != nil {
		return "", p.addr, err
	}
	return p.url(), p.addr, nil
}
