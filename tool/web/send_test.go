package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/web"
)

// local is a policy under which the server of a test can be asked.
var local = hosts.Policy{Allow: []string{"127.0.0.1"}}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func result(t *testing.T, r tool.Result) web.Result {
	t.Helper()
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return r.Value.(web.Result)
}

func TestARequestAsItArrives(t *testing.T) {
	arrived := make(chan string, 1)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived <- fmt.Sprintf("%s %s %s %s %s %s", r.Method, r.RequestURI, r.Header.Get("X-Trace"), r.Header.Get("Content-Type"), r.Header.Get("Authorization"), body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "session=1")
		w.WriteHeader(201)
		io.WriteString(w, `{"ok":true}`)
	})
	r := result(t, call(t.Context(), t, newTool(t, web.Options{Network: local}), map[string]any{
		"method": "POST", "url": strings.Replace(url, "http://", "http://user:pass@", 1) + "/a/./b?q=1 2", "headers": map[string]string{"X-Trace": "7"}, "body": []int{1},
	}))
	if got, want := <-arrived, "POST /a/b?q=1%202 7 application/json  [\n  1\n]"; got != want {
		t.Errorf("arrived %q, want %q", got, want)
	}
	if r.Status != 201 || r.Body != `{"ok":true}` || len(r.Headers) != 1 || r.Headers["Content-Type"] != "application/json" || r.Note != "" {
		t.Errorf("result %+v", r)
	}
}

func TestARedirectIsAnotherRequest(t *testing.T) {
	var followed atomic.Int32
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			followed.Add(1)
			return
		}
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(302)
	})
	w := newTool(t, web.Options{Network: local})
	for to, says := range map[string]string{
		"/next":                    "this leads to " + url + "/next; it was not followed",
		"http://169.254.169.254/":  "this leads to http://169.254.169.254/",
		"http://0x7f.1/x":          "this leads to http://127.0.0.1/x",
		"file:///etc/passwd":       "this leads to a place that cannot be reached",
		"https://u:p@evil.example": "this leads to https://evil.example/",
	} {
		r := result(t, call(t.Context(), t, w, map[string]any{"url": url + "/?to=" + to}))
		if r.Status != 302 || !strings.Contains(r.Note, says) {
			t.Errorf("%s: %+v", to, r)
		}
	}
	if followed.Load() != 0 {
		t.Error("a redirect was followed")
	}
	if p, err := prepare(t, w, map[string]any{"url": "http://169.254.169.254/"}); err != nil || verdict(p) != policy.VerdictBlock {
		t.Errorf("and the next call is judged: %v, %v", verdict(p), err)
	}
}

// named returns a tool whose names lead to these addresses, and how often it connected
// where. What it connects to is the TLS server.
func named(t *testing.T, s *nameServer, o web.Options) (w *web.Tool, dialled func() []string) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello "+r.Host) }))
	t.Cleanup(server.Close)
	o.Resolver = s.resolver(t)
	w = newTool(t, o)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	addresses := make(chan string, 100)
	w.Dialling(func(ctx context.Context, network, address string) (net.Conn, error) {
		addresses <- address
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}, &tls.Config{RootCAs: pool})
	return w, func() (out []string) {
		for len(addresses) > 0 {
			out = append(out, <-addresses)
		}
		return out
	}
}

var examples = hosts.Policy{Allow: []string{"*.example.com"}} // the names in the server's certificate

func TestTheAddressThatWasCheckedIsTheOneThatIsDialled(t *testing.T) {
	// The second look-up would lead to this machine. There is none.
	s := &nameServer{answers: [][]netip.Addr{addrs("93.184.216.34"), addrs("127.0.0.1")}}
	w, dialled := named(t, s, web.Options{Network: examples})
	r := result(t, call(t.Context(), t, w, map[string]any{"url": "https://cdn.example.com/"}))
	if r.Status != 200 || r.Body != "hello cdn.example.com" {
		t.Errorf("result %+v", r)
	}
	if got := strings.Join(dialled(), " "); got != "93.184.216.34:443" || s.questions() != 1 {
		t.Errorf("dialled %s after %d look-ups", got, s.questions())
	}
}

func TestANameThatLeadsInsideIsRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		answer  []netip.Addr
		network hosts.Policy
		refused string
	}{
		{"A419 a private address", addrs("10.0.0.5"), examples, "10.0.0.5, a private address"},
		{"this machine", addrs("127.0.0.1"), examples, "of this machine"},
		{"one of two", addrs("93.184.216.34", "192.168.0.1"), examples, "192.168.0.1"},
		{"metadata", addrs("169.254.169.254"), examples, "metadata"},
		{"mapped", addrs("::ffff:10.0.0.5"), examples, "10.0.0.5"},
		{"unique local", addrs("fd12::1"), examples, "fd12::1"},
		{"NAT64", addrs("64:ff9b::a00:5"), examples, "10.0.0.5"},
		{"public", addrs("93.184.216.34"), examples, ""},
		{"private and named", addrs("10.0.0.5"), hosts.Policy{Allow: []string{"*.example.com", "10.0.0.5"}}, ""},
		{"denied by config", addrs("93.184.216.34"), hosts.Policy{Allow: []string{"*.example.com"}, Deny: []string{"93.184.216.34"}}, "93.184.216.34 is denied"},
		{"this machine's own", addrs("93.184.216.34"), hosts.Policy{Allow: []string{"*.example.com"}, Own: addrs("93.184.216.34")}, "an address of this machine"},
		{"denied on another port", addrs("93.184.216.34"), hosts.Policy{Allow: []string{"*.example.com"}, Deny: []string{"93.184.216.34:22"}}, ""},
		{"another one named", addrs("10.0.0.6"), hosts.Policy{Allow: []string{"*.example.com", "10.0.0.5"}}, "10.0.0.6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, dialled := named(t, &nameServer{answers: [][]netip.Addr{c.answer}}, web.Options{Network: c.network})
			r := call(t.Context(), t, w, map[string]any{"url": "https://cdn.example.com/"})
			if c.refused == "" {
				result(t, r)
				return
			}
			if r.Err == nil || !strings.Contains(r.Text, "refused") || !strings.Contains(r.Text, c.refused) {
				t.Errorf("result %q", r.Text)
			}
			if got := dialled(); len(got) != 0 {
				t.Errorf("dialled %v", got)
			}
		})
	}
}

func TestARuleAboutAnAddressHoldsForNames(t *testing.T) {
	denied := func(_ context.Context, a policy.Act) bool { return a.String() == "connect(93.184.216.34:443)" }
	w, dialled := named(t, &nameServer{answers: [][]netip.Addr{addrs("93.184.216.34")}}, web.Options{Network: examples, Denied: denied})
	r := call(t.Context(), t, w, map[string]any{"url": "https://cdn.example.com/"})
	if r.Err == nil || !strings.Contains(r.Text, "is denied") || len(dialled()) != 0 {
		t.Errorf("result %q", r.Text)
	}
}

func TestNothingIsLookedUpBeforeTheAnswer(t *testing.T) {
	s := &nameServer{answers: [][]netip.Addr{addrs("93.184.216.34")}}
	w, _ := named(t, s, web.Options{Network: hosts.Policy{On: true}})
	gate, err := tool.Guard(approval.Config{Approver: approval.ApproverFunc(
		func(ctx context.Context, r *approval.Request) (approval.Decision, error) {
			if _, err := r.View(ctx); err != nil {
				return approval.Decision{}, err
			}
			return r.Deny("no"), nil
		},
	)}, w)
	if err != nil {
		t.Fatal(err)
	}
	args := arguments(t, map[string]any{"url": "https://the-secret-is-42.example.com/"})
	r := tool.Call(t.Context(), gate, policy.Call{ID: "1", Tool: "http_request", Arguments: args})
	if r.Stage != approval.StageRefused || s.questions() != 0 {
		t.Errorf("%s after %d look-ups: %s", r.Stage, s.questions(), r.Text)
	}
}

// The library reads these variables once, so they are set before everything else.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		os.Setenv(name, "http://proxy.example.com:3128")
	}
	os.Unsetenv("NO_PROXY")
	os.Unsetenv("no_proxy")
	os.Exit(m.Run())
}

func TestProxiesOfTheEnvironmentAreNotUsed(t *testing.T) {
	w, dialled := named(t, &nameServer{answers: [][]netip.Addr{addrs("93.184.216.34")}}, web.Options{Network: examples})
	result(t, call(t.Context(), t, w, map[string]any{"url": "https://cdn.example.com/"}))
	if got := strings.Join(dialled(), " "); got != "93.184.216.34:443" {
		t.Errorf("dialled %s", got)
	}
}

func TestBodies(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(bytes.Repeat([]byte("x"), 10_000_000)) // ten kilobytes on the wire
	z.Close()
	for name, c := range map[string]struct {
		headers map[string]string
		body    []byte
		check   func(web.Result) bool
	}{
		"long":             {nil, bytes.Repeat([]byte("x"), 101), func(r web.Result) bool { return r.Truncated && len(r.Body) == 100 }},
		"just short":       {nil, bytes.Repeat([]byte("x"), 100), func(r web.Result) bool { return !r.Truncated && len(r.Body) == 100 }},
		"cut in a letter":  {nil, []byte(strings.Repeat("x", 99) + "ä"), func(r web.Result) bool { return r.Truncated && r.Body == strings.Repeat("x", 99) }},
		"a bomb":           {map[string]string{"Content-Encoding": "gzip"}, zipped.Bytes(), func(r web.Result) bool { return r.Truncated && len(r.Body) == 100 }},
		"binary":           {map[string]string{"Content-Type": "image/png"}, []byte("\x89PNG\r\n\x1a\n\x00"), func(r web.Result) bool { return r.Body == "" && strings.Contains(r.Note, "image/png") }},
		"an older charset": {map[string]string{"Content-Type": "text/plain; charset=latin1"}, []byte("caf\xe9"), func(r web.Result) bool { return r.Body == "caf\uFFFD" }},
		"nothing":          {nil, nil, func(r web.Result) bool { return r.Body == "" && r.Note == "" && !r.Truncated }},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range c.headers {
					w.Header().Set(name, value)
				}
				w.Write(c.body)
			})
			r := result(t, call(t.Context(), t, newTool(t, web.Options{Network: local, MaxBytes: 100}), map[string]any{"url": url}))
			if !c.check(r) {
				t.Errorf("result %+v", r)
			}
		})
	}
}

func TestAnAnswerThatDoesNotEnd(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "begun")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	r := call(t.Context(), t, newTool(t, web.Options{Network: local, Timeout: 50 * time.Millisecond}), map[string]any{"url": url})
	if r.Stage != approval.StageFailed || !strings.Contains(r.Text, "it took longer than 50ms") {
		t.Errorf("%s: %s", r.Stage, r.Text)
	}
}

func TestACancelEndsARequest(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel(enough)
		<-r.Context().Done()
	})
	r := call(ctx, t, newTool(t, web.Options{Network: local}), map[string]any{"url": url})
	if r.Stage != approval.StageCancelled || !errors.Is(r.Err, enough) {
		t.Errorf("%s: %v", r.Stage, r.Err)
	}
}

func TestNobodyAtTheAddress(t *testing.T) {
	r := call(t.Context(), t, newTool(t, web.Options{Network: local}), map[string]any{"url": "http://127.0.0.1:1/?token=abcdefgh"})
	if r.Stage != approval.StageFailed || !strings.Contains(r.Text, "no answer from 127.0.0.1") || strings.Contains(r.Text, "abcdefgh") {
		t.Errorf("%s: %s", r.Stage, r.Text)
	}
}
