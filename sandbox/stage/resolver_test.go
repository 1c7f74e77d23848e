package stage

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// question is one for a name, as it is sent.
func question(t testing.TB, name string, kind dnsmessage.Type) []byte {
	t.Helper()
	n, err := dnsmessage.NewName(name)
	if err != nil {
		t.Fatal(err)
	}
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 7, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: n, Type: kind, Class: dnsmessage.ClassINET}},
	}
	data, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// ask returns the code and the address of an answer.
func ask(t testing.TB, n *names, name string, kind dnsmessage.Type) (dnsmessage.RCode, string) {
	t.Helper()
	var m dnsmessage.Message
	if err := m.Unpack(n.answer(question(t, name, kind))); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if !m.Response || m.ID != 7 || len(m.Questions) != 1 || m.Questions[0].Name.String() != name {
		t.Fatalf("%s: %+v", name, m)
	}
	if len(m.Answers) == 0 {
		return m.RCode, ""
	}
	return m.RCode, netip.AddrFrom4(m.Answers[0].Body.(*dnsmessage.AResource).A).String()
}

func TestNames(t *testing.T) {
	n := newNames()
	for _, tt := range []struct {
		name string
		kind dnsmessage.Type
		code dnsmessage.RCode
		addr string
	}{
		{"one.example.", dnsmessage.TypeA, 0, "198.18.0.1"},
		{"two.example.", dnsmessage.TypeA, 0, "198.18.0.2"},
		{"ONE.Example.", dnsmessage.TypeA, 0, "198.18.0.1"},
		{"_dmarc.under_score.example.", dnsmessage.TypeA, 0, "198.18.0.3"},
		{"host", dnsmessage.TypeA, 0, "198.18.0.4"},
		{"localhost.", dnsmessage.TypeA, 0, "127.0.0.1"},
		{"a.LocalHost.", dnsmessage.TypeA, 0, "127.0.0.1"},
		{"one.example.", dnsmessage.TypeAAAA, 0, ""},
		{"localhost.", dnsmessage.TypeAAAA, 0, ""},
		{"one.example.", dnsmessage.TypeTXT, 0, ""},
		{"one.example.", 65, 0, ""},
		{"one.example.", 64, 0, ""},
		{"1.0.0.127.in-addr.arpa.", dnsmessage.TypePTR, 0, ""},
		{".", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"a b.example.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"a\x00.example.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"a/b.example.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"ä.example.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"127.0.0.1.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"2130706433.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"0x7F000001.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"example.0x7f.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
		{"10.1.", dnsmessage.TypeA, dnsmessage.RCodeNameError, ""},
	} {
		if !strings.HasSuffix(tt.name, ".") {
			tt.name += "."
		}
		if code, addr := ask(t, n, tt.name, tt.kind); code != tt.code || addr != tt.addr {
			t.Errorf("%q %v: %v %s", tt.name, tt.kind, code, addr)
		}
	}
	if name, ok := n.of(netip.MustParseAddr("198.18.0.2")); name != "two.example" || !ok {
		t.Errorf("198.18.0.2 is %q", name)
	}
	if name, ok := n.of(netip.MustParseAddr("198.18.0.9")); ok {
		t.Errorf("198.18.0.9 is %q", name)
	}
}

// TestManyNames asks for more names than there are, and still for those that were given before.
func TestManyNames(t *testing.T) {
	n := newNames()
	seen := map[string]bool{}
	for i := range maxNames {
		code, addr := ask(t, n, fmt.Sprintf("n%d.example.", i), dnsmessage.TypeA)
		if code != 0 || seen[addr] || !synthetic.Contains(netip.MustParseAddr(addr)) {
			t.Fatalf("name %d: %v %s", i, code, addr)
		}
		seen[addr] = true
	}
	if code, addr := ask(t, n, "more.example.", dnsmessage.TypeA); code != dnsmessage.RCodeServerFailure || addr != "" {
		t.Errorf("one more: %v %s", code, addr)
	}
	if code, addr := ask(t, n, "n0.example.", dnsmessage.TypeA); code != 0 || addr != "198.18.0.1" {
		t.Errorf("the first: %v %s", code, addr)
	}
}

// FuzzAnswer sends whatever a command could. Nothing panics, and what is answered is an answer
// to it.
func FuzzAnswer(f *testing.F) {
	f.Add(question(f, "one.example.", dnsmessage.TypeA))
	f.Add(question(f, "localhost.", dnsmessage.TypeAAAA))
	f.Add([]byte("\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\xc0\x0c\x00\x01\x00\x01"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		n := newNames()
		out := n.answer(data)
		if out == nil {
			return
		}
		var p dnsmessage.Parser
		head, err := p.Start(out)
		if err != nil || !head.Response || len(data) < 2 || head.ID != uint16(data[0])<<8|uint16(data[1]) {
			t.Fatalf("%x is answered with %x", data, out)
		}
		for name := range n.addr {
			if clean, ok := cleanName(name); !ok || clean != name {
				t.Fatalf("the name %q was given an address", name)
			}
		}
	})
}
