package web_test

import (
	"context"
	"encoding/json"
	"net"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/web"
)

// listed is the policy of the corpus.
var listed = hosts.Policy{Allow: []string{"docs.python.org", "*.packages.example"}, Source: "policy.yaml:3"}

func newTool(t *testing.T, o web.Options) *web.Tool {
	t.Helper()
	w, err := web.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func arguments(t *testing.T, fields map[string]any) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// prepare returns what a call would do; an error means that it cannot be understood.
func prepare(t *testing.T, w *web.Tool, fields map[string]any) (approval.Proposal, error) {
	t.Helper()
	set, err := tool.NewSet(w)
	if err != nil {
		t.Fatal(err)
	}
	args, err := canonical.Arguments(arguments(t, fields))
	if err != nil {
		t.Fatal(err)
	}
	return set.Prepare(t.Context(), policy.Call{ID: "1", Tool: "http_request", Arguments: args})
}

// verdict returns the strictest verdict of the acts.
func verdict(p approval.Proposal) policy.Verdict {
	out := policy.VerdictFree
	for _, a := range p.Acts {
		out = min(out, a.Verdict)
	}
	return out
}

// call runs a call that a person approves, if asked.
func call(ctx context.Context, t *testing.T, w *web.Tool, fields map[string]any) tool.Result {
	t.Helper()
	gate, err := tool.Guard(approval.Config{Approver: approval.ApproverFunc(
		func(_ context.Context, r *approval.Request) (approval.Decision, error) { return r.Approve(""), nil },
	)}, w)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Call(ctx, gate, policy.Call{ID: "1", Tool: "http_request", Arguments: arguments(t, fields)})
}

// A nameServer is a server of the domain name system on the loopback interface. For each
// question it gives the next of its answers, the last one forever.
type nameServer struct {
	mu      sync.Mutex
	answers [][]netip.Addr
	asked   int
}

// resolver starts the server and returns a resolver that asks it.
func (s *nameServer) resolver(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go s.serve(conn)
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (s *nameServer) serve(conn net.PacketConn) {
	buffer := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		if reply, err := s.reply(m).Pack(); err == nil {
			conn.WriteTo(reply, from)
		}
	}
}

func (s *nameServer) reply(m dnsmessage.Message) *dnsmessage.Message {
	q := m.Questions[0]
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	header := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
	for _, addr := range s.next(q.Type) {
		var body dnsmessage.ResourceBody = &dnsmessage.AAAAResource{AAAA: addr.As16()}
		if addr.Is4() {
			body = &dnsmessage.AResource{A: addr.As4()}
		}
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: body})
	}
	return &m
}

// next returns the addresses of the kind that was asked for. A question for A begins a new
// answer.
func (s *nameServer) next(kind dnsmessage.Type) (out []netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := min(s.asked, len(s.answers)-1)
	if kind == dnsmessage.TypeA {
		s.asked++
	}
	for _, a := range s.answers[at] {
		if a.Is4() == (kind == dnsmessage.TypeA) {
			out = append(out, a)
		}
	}
	return out
}

func (s *nameServer) questions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func addrs(texts ...string) (out []netip.Addr) {
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}
