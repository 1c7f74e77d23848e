package sandbox

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestNetworksTogether(t *testing.T) {
	wide := Network{On: true, Deny: []string{"x.example"}, Lines: map[string]string{"deny x.example": "a:1"}, Source: "a:1"}
	listed := Network{Domains: []string{"*.b.example:8443", "a.example"}, Deny: []string{"y.example"}, Source: "b:1"}
	for _, c := range []struct {
		name          string
		a, b          Network
		on            bool
		domains, deny []string
	}{
		{"on and on", wide, wide, true, nil, []string{"x.example"}},
		{"on and listed", wide, listed, false, listed.Domains, []string{"x.example", "y.example"}},
		{"listed and on", listed, wide, false, listed.Domains, []string{"x.example", "y.example"}},
		{"off", Network{}, listed, false, nil, nil},
		{"off the other way", listed, Network{}, false, nil, nil},
		{"both listed", listed, Network{Domains: []string{"*.example", "c.b.example:8443", "d.b.example"}}, false, []string{"a.example", "c.b.example:8443"}, []string{"y.example"}},
		{"by name keeps what is free", Network{On: true, ByName: true, Domains: []string{"a.example", "b.example"}}, Network{On: true, ByName: true, Domains: []string{"b.example"}}, true, []string{"b.example"}, nil},
	} {
		got := Profile{Network: c.a}.Intersect(Profile{Network: c.b}).Network
		if got.On != c.on || !slices.Equal(got.Domains, c.domains) || !slices.Equal(got.Deny, c.deny) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	if (Profile{Network: wide}).Hash() == (Profile{Network: Network{On: true}}).Hash() {
		t.Error("a deny makes another profile")
	}
	moved := wide
	moved.Lines = map[string]string{"deny x.example": "z:9"}
	if (Profile{Network: wide}).Hash() != (Profile{Network: moved}).Hash() {
		t.Error("where an entry stands makes no other profile")
	}
}

// FuzzListed checks that what is read is written so that it reads the same, and that an entry
// never stands for a name that is not below it.
func FuzzListed(f *testing.F) {
	for _, s := range []string{"a.example", "*.a.example:443", "10.0.0.1", "10.0.0.1:22", "::1", "[::1]:80", "[fe80::1]", "a.example.", "A.Example", "*.", "0x7f.1", "::ffff:1.2.3.4", "1:2", "[1.2.3.4]:80"} {
		f.Add(s, "evil.example")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		l, err := ParseListed(text)
		if err != nil {
			return
		}
		again, err := ParseListed(l.String())
		if err != nil || again != l {
			t.Fatalf("%q is %+v, and %q is %+v: %v", text, l, l.String(), again, err)
		}
		if (l.Name == "") == !l.Addr.IsValid() || strings.ContainsAny(l.Name, " *:/[]@%") || l.Below && l.Addr.IsValid() {
			t.Fatalf("%q: %+v", text, l)
		}
		if l.Has(name, netip.Addr{}) && name != l.Name && (!l.Below || !strings.HasSuffix(name, "."+l.Name)) {
			t.Fatalf("%q has %q", text, name)
		}
		if common := CommonHosts([]string{text}, []string{text}); len(common) != 1 || common[0] != l.String() {
			t.Fatalf("%q with itself: %q", text, common)
		}
	})
}

func TestUnwatched(t *testing.T) {
	for _, c := range []struct {
		network Network
		off     bool
	}{
		{Network{On: true}, false},
		{Network{On: true, Deny: []string{"evil.example"}}, true},
		{Network{ByName: true, Deny: []string{"evil.example"}}, false},
		{Network{}, true},
	} {
		if got := c.network.Unwatched(); got.Off() != c.off || !c.off && got.On != c.network.On {
			t.Errorf("%+v: %+v", c.network, got)
		}
	}
}
