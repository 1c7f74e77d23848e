package network

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/assent-dev/assent/sandbox/stage"
	"github.com/assent-dev/assent/tool/hosts"
)

// A name is looked up once, and what it leads to is dialled or refused, whatever it leads to a
// moment later.
func TestANameThatLeadsElsewhere(t *testing.T) {
	for addresses, wants := range map[string]string{
		"93.184.215.14 127.0.0.1": "93.184.215.14:443", "127.0.0.1 93.184.215.14": "", "169.254.169.254 93.184.215.14": "", "10.0.0.1 93.184.215.14": "",
		"::ffff:127.0.0.1 93.184.215.14": "",
	} {
		answers, dialled := strings.Fields(addresses), ""
		d := Dialer{
			Lookup: func(context.Context, string) ([]netip.Addr, error) {
				next := netip.MustParseAddr(answers[0])
				answers = answers[1:]
				return []netip.Addr{next}, nil
			},
			Dial: func(_ context.Context, at netip.AddrPort) (net.Conn, error) {
				dialled = at.String()
				ours, theirs := net.Pipe()
				theirs.Close()
				return ours, nil
			},
		}
		c, err := d.Open(t.Context(), hosts.Policy{On: true, Allow: []string{"*.example.org"}}, stage.Host{Name: "a.example.org", Port: 443}, func(context.Context, hosts.Connection) error { return nil })
		if c != nil {
			c.Close()
		}
		if dialled != wants || (err == nil) != (wants != "") || len(answers) != 1 {
			t.Errorf("%s: dialled %q, %v, %d answers left", addresses, dialled, err, len(answers))
		}
	}
}
