package web_test

import (
	"net"
	"net/netip"
	"net/url"
	"testing"

	"github.com/assent-dev/assent/tool/web"
)

// FuzzURL holds the form of a URL to what is promised about it: it is stable, what is sent
// goes to the host that was judged, and a host that some reader takes for an address is one
// here too.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{
		"https://DOCS.python.org./a/../b?q=1 2#f", "http://0x7f.1/", "http://[::ffff:7f00:1]:80/", "https://u:p@x.example/%2e%2e/",
		"https://docs。python.org/", "http://①.⓪.⓪.①", "https://x.example//a//", "http://08.1", "https://a_b.example/?{}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		form, addr, err := web.ReadURL("GET", raw)
		if err != nil {
			return
		}
		again, addr2, err := web.ReadURL("GET", form)
		if err != nil || again != form || addr2 != addr {
			t.Fatalf("%q is %q, which is %q (%v)", raw, form, again, err)
		}
		u, err := url.Parse(form)
		if err != nil || u.User != nil || u.Fragment != "" {
			t.Fatalf("%q is %q: %v", raw, form, err)
		}
		host := u.Hostname()
		if read, err := netip.ParseAddr(host); (err == nil) != addr.IsValid() || err == nil && read != addr {
			t.Errorf("%q has host %q, address %v", raw, host, addr)
		}
		if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() && web.Refusal(addr) == "" {
			t.Errorf("%q leads to %v", raw, ip)
		}
	})
}
