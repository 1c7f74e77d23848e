package stage

import (
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// maxNames is how many different names one network answers. A command that asks for more is
// looking for something else.
const maxNames = 1 << 14

// names gives each name that is asked for an address of its own, and finds the name again. The
// addresses are of a network that is set aside for tests (RFC 2544): no host has one.
type names struct {
	mu   sync.Mutex
	addr map[string]netip.Addr
	name map[netip.Addr]string
}

// synthetic is where the addresses come from.
var synthetic = netip.MustParsePrefix("198.18.0.0/15")

// ttl is how many seconds an answer may be kept.
const ttl = 30

func newNames() *names {
	return &names{addr: map[string]netip.Addr{}, name: map[netip.Addr]string{}}
}

// address returns the address of a name, a new one if it has none yet; false if all are given.
func (n *names) address(name string) (netip.Addr, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a, ok := n.addr[name]; ok {
		return a, true
	}
	if len(n.addr) == maxNames {
		return netip.Addr{}, false
	}
	i := len(n.addr) + 1 // the network itself is not one of its addresses
	base := synthetic.Addr().As4()
	a := netip.AddrFrom4([4]byte{base[0], base[1], byte(i >> 8), byte(i)})
	n.addr[name], n.name[a] = a, name
	return a, true
}

// of returns the name that was given an address; false if none was.
func (n *names) of(a netip.Addr) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, ok := n.name[a]
	return name, ok
}

// answer answers a question for a name; nil is no answer. Whatever the question is, it is
// answered here.
func (n *names) answer(question []byte) []byte {
	var p dnsmessage.Parser
	head, err := p.Start(question)
	if err != nil || head.Response {
		return nil
	}
	reply := dnsmessage.Header{ID: head.ID, Response: true, OpCode: head.OpCode,
		RecursionDesired: head.RecursionDesired, RecursionAvailable: true}
	if head.OpCode != 0 {
		reply.RCode = dnsmessage.RCodeNotImplemented
		return build(reply, nil, netip.Addr{})
	}
	asked, err := p.AllQuestions()
	if err != nil || len(asked) != 1 {
		reply.RCode = dnsmessage.RCodeFormatError
		return build(reply, nil, netip.Addr{})
	}
	q := asked[0]
	name, ok := cleanName(q.Name.String())
	if !ok {
		reply.RCode = dnsmessage.RCodeNameError
		return build(reply, &q, netip.Addr{})
	}
	if q.Type != dnsmessage.TypeA || q.Class != dnsmessage.ClassINET {
		return build(reply, &q, netip.Addr{}) // the name exists; it has nothing of the kind
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return build(reply, &q, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	addr, ok := n.address(name)
	if !ok {
		reply.RCode = dnsmessage.RCodeServerFailure
	}
	return build(reply, &q, addr)
}

// build writes a reply to a question, with an address if it is one.
func build(head dnsmessage.Header, q *dnsmessage.Question, addr netip.Addr) []byte {
	m := dnsmessage.Message{Header: head}
	if q != nil {
		m.Questions = []dnsmessage.Question{*q}
		if addr.IsValid() {
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET, TTL: ttl},
				Body:   &dnsmessage.AResource{A: addr.As4()},
			}}
		}
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}

// cleanName returns a host's name in the form in which it is judged. One that could be read as
// an address is none: who dials it would dial that address.
func cleanName(name string) (string, bool) {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "" || len(name) > 253 {
		return "", false
	}
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.') {
			return "", false
		}
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	digits := strings.Trim(last, "0123456789") == ""
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		digits = digits || strings.Trim(hex, "0123456789abcdef") == ""
	}
	if digits {
		return "", false
	}
	return name, true
}
