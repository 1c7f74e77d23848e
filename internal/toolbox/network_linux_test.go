package toolbox_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/network"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

const staged = `
sandbox:
  paths: {.: {root: TOP/proj, mode: rw, approval: allow}}
  network: {allow: ["free.test:80"], deny: [denied.test]}
shell:
  default: {approval: ask, when_sandboxed: allow}
`

// towards is a dialer whose every host is one server, and how often it was reached.
func towards(t testing.TB) (network.Dialer, *atomic.Int64) {
	var reached atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		fmt.Fprintln(w, "hello from "+r.Host)
	}))
	t.Cleanup(server.Close)
	return network.Dialer{
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
		Dial: func(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		},
	}, &reached
}

// python fetches an address in a way that no reading sees.
func python(host string) string {
	return fmt.Sprintf(`python3 -c 'import urllib.request; print(urllib.request.urlopen("http://%s/").read())'`, host)
}

// With a policy that is quiet, a command whose hosts are not known runs without a question,
// and is asked about when it connects: a listed host is free, a denied one refused, and others
// wait for an answer.
func TestHeldCommandsConnectByName(t *testing.T) {
	for _, stands := range []string{"stage", "proxy"} {
		t.Run(stands, func(t *testing.T) {
			dialer, reached := towards(t)
			w := newWorld(t, staged, func(h *toolbox.Hold) {
				if stands == "proxy" {
					h.Stage, h.Proxy = nil, true
				}
			})
			w.dialer = dialer
			w.box = w.open(staged, nil)
			if r := w.shell(python("free.test")); !strings.Contains(r.Text, "hello from free.test") {
				t.Errorf("free: %s %v", r.Text, r.Err)
			}
			before := reached.Load()
			r := w.shell(python("denied.test"))
			if r.Err != nil || !strings.Contains(r.Text, "denied.test") || !strings.Contains(r.Text, "policy.yaml:4") {
				t.Errorf("denied: %s %v", r.Text, r.Err)
			}
			if r := w.shell(python("other.test")); r.Err != nil || !strings.Contains(r.Text, "connection to other.test:80 refused") {
				t.Errorf("nobody to ask: %s %v", r.Text, r.Err)
			}
			person := approvaltest.Script(approvaltest.No)
			if r := w.call(policy.ModeAsk, person, "shell", map[string]any{"command": python("other.test")}); !strings.Contains(r.Text, "connection to other.test:80 refused") {
				t.Errorf("no: %s %v", r.Text, r.Err)
			}
			if n := reached.Load(); n != before {
				t.Errorf("%d connections reached the server", n-before)
			}
			person = approvaltest.Script(approvaltest.Yes)
			r = w.call(policy.ModeAsk, person, "shell", map[string]any{"command": python("other.test")})
			if asked := person.Asked(); len(asked) != 1 || !strings.HasPrefix(asked[0].Summary, "Connect to other.test:80 for: python3") || !strings.Contains(r.Text, "hello from other.test") {
				t.Errorf("yes: %s %v", r.Text, r.Err)
			}
			var connected []string
			for _, e := range w.events {
				if e.Kind == approval.EventConnected {
					connected = append(connected, fmt.Sprintf("%s:%s %s %t", e.Host, e.Port, e.State, e.Received > 0))
				}
			}
			if got, want := strings.Join(connected, "\n"), "free.test:80 free true\ndenied.test:80 blocked false\nother.test:80 mode-denied false\nother.test:80 denied false\nother.test:80 approved true"; got != want {
				t.Errorf("the log has\n%s", got)
			}
		})
	}
}

// A program that knows no proxies has no network where a proxy stands in for a stage, and a person
// may be asked to let it have one.
func TestWithoutAStageAndAProxy(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }))
	defer server.Close()
	w := newWorld(t, strings.Replace(staged, ", when_sandboxed: allow", "", 1), func(h *toolbox.Hold) { h.Stage, h.Proxy = nil, true })
	text := "curl -sS --noproxy '*' " + server.URL
	if r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": text}); strings.Contains(r.Text, "hello") || !strings.Contains(r.Text, "network") {
		t.Errorf("%s %v", r.Text, r.Err)
	}
	if r := w.call(policy.ModeAsk, yes("network "), "shell", map[string]any{"command": text, "escalate": true}); !strings.Contains(r.Text, "hello") {
		t.Errorf("%s %v", r.Text, r.Err)
	}
}

// A program of a custom tool is asked about like a command.
func TestCustomToolsConnectByName(t *testing.T) {
	dialer, reached := towards(t)
	w := newWorld(t, staged)
	w.write("proj/tools/fetch.py", "#!/usr/bin/python3\nimport json, sys, urllib.request\nprint(urllib.request.urlopen('http://' + json.load(sys.stdin)['host']).read())\n")
	must(t, os.Chmod(w.top+"/proj/tools/fetch.py", 0o755))
	text := strings.ReplaceAll(staged, "TOP", w.top) + "custom_tools: {fetch: {approval: allow, description: Fetches., parameters: {type: object, properties: {host: {type: string}}}}}\n"
	p, err := config.Load("policy.yaml", []byte(text), w.top+"/proj")
	must(t, err)
	all, err := config.Combine(nil, config.Tier{Kind: config.Project, Policy: p, Trusted: true})
	must(t, err)
	w.box, err = toolbox.Open(all.Policy, toolbox.Options{
		State: w.top + "/state", Environ: []string{"PATH=/usr/bin:/bin"}, Hold: w.hold, Folder: w.top + "/proj", File: "policy.yaml", Dialer: dialer,
	})
	must(t, err)
	defer w.box.Close()
	fetch := func(person approval.Approver, host string) tool.Result {
		return w.call(policy.ModeAsk, person, "fetch", map[string]any{"host": host})
	}
	if r := fetch(nil, "free.test"); !strings.Contains(r.Text, "hello from free.test") {
		t.Errorf("free: %s %v", r.Text, r.Err)
	}
	if r := fetch(yes(""), "denied.test"); !strings.Contains(r.Text, "connection to denied.test:80 refused") || reached.Load() != 1 {
		t.Errorf("denied: %s %v", r.Text, r.Err)
	}
	person := approvaltest.Script(approvaltest.Yes)
	if r := fetch(person, "other.test"); !strings.Contains(r.Text, "hello from other.test") || len(person.Asked()) != 1 || person.Asked()[0].Summary != "Connect to other.test:80 for: fetch" {
		t.Errorf("asked: %s %v", r.Text, r.Err)
	}
}

// What a command serves on its loopback is its own, and that of later commands as long as it
// runs in the background. The machine's own loopback is another.
func TestTheLoopbackOfASession(t *testing.T) {
	w := newWorld(t, strings.Replace(staged, ", when_sandboxed: allow", "", 1))
	w.write("proj/file", "served inside\n")
	outside, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer outside.Close()
	go func() {
		for {
			c, err := outside.Accept()
			if err != nil {
				return
			}
			t.Error("a command reached the machine's loopback")
			c.Close()
		}
	}()
	call := func(command string) tool.Result {
		return w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": command})
	}
	fetch := "for i in $(seq 100); do curl -sS http://localhost:8123/file 2>/dev/null && break; sleep 0.1; done"
	if r := call("python3 -m http.server 8123 >/dev/null 2>&1 & " + fetch); !strings.Contains(r.Text, "served inside") {
		t.Fatalf("in one command: %s %v", r.Text, r.Err)
	}
	if r := call(fetch); !strings.Contains(r.Text, "served inside") {
		t.Errorf("in a later one: %s %v", r.Text, r.Err)
	}
	call("curl -sS http://" + outside.Addr().String())
	if r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": "curl -sS http://localhost:8123/file", "end_background": true}); strings.Contains(r.Text, "served inside") {
		t.Errorf("it serves on: %s", r.Text)
	}
}

// A port of the machine's loopback that is listed is reached.
func TestAListedPortOfTheMachine(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "served outside") }))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	must(t, err)
	for _, entry := range []string{"localhost:" + port, "127.0.0.1:" + port} {
		w := newWorld(t, strings.Replace(staged, `"free.test:80"`, `"`+entry+`"`, 1))
		if r := w.shell(python("localhost:" + port)); !strings.Contains(r.Text, "served outside") {
			t.Errorf("%s: %s %v", entry, r.Text, r.Err)
		}
	}
}

// A command that was read to talk to nobody has no network, and does not wait for one to be made.
func TestACommandThatConnectsToNobody(t *testing.T) {
	const resolver = ":0035 00000000:0000 0A" // what listens on port 53
	w := newWorld(t, staged)
	if r := w.shell("cat /proc/net/tcp"); r.Err != nil || strings.Contains(r.Text, resolver) {
		t.Errorf("%s %v", r.Text, r.Err)
	}
	if r := w.shell("python3 -c 'print(open(\"/proc/net/tcp\").read())'"); r.Err != nil || !strings.Contains(r.Text, resolver) {
		t.Errorf("%s %v", r.Text, r.Err)
	}
}

// A connection that a command leaves open is in the log when the command has ended, though the
// host does not end it.
func TestAConnectionThatIsLeftOpen(t *testing.T) {
	for _, stands := range []string{"stage", "proxy"} {
		dialer, _ := towards(t)
		dialer.Dial = func(context.Context, netip.AddrPort) (net.Conn, error) {
			inside, outside := net.Pipe()
			t.Cleanup(func() { outside.Close() })
			go func() {
				buf := make([]byte, 1000)
				for {
					if _, err := outside.Read(buf); err != nil {
						return
					}
					_, _ = outside.Write([]byte("answer")) // it may have gone
				}
			}()
			return keptOpen{inside}, nil
		}
		w := newWorld(t, staged, func(h *toolbox.Hold) {
			if stands == "proxy" {
				h.Stage, h.Proxy = nil, true
			}
		})
		w.dialer = dialer
		w.box = w.open(staged, nil)
		host, first := "free.test", ""
		if stands == "proxy" {
			host, first = "127.0.0.1", `c.sendall(b"CONNECT free.test:80 HTTP/1.1\r\n\r\n"); c.recv(100); `
		}
		port := map[string]int{"stage": 80, "proxy": 3128}[stands]
		r := w.shell(fmt.Sprintf(`python3 -c 'import os, socket; c = socket.create_connection(("%s", %d)); %sc.sendall(b"GET / HTTP/1.1\r\nHost: free.test\r\n\r\n"); c.recv(100); os._exit(0)'`, host, port, first))
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		w.mu.Lock()
		logged := 0
		for _, e := range w.events {
			if e.Kind == approval.EventConnected && e.Sent > 0 && e.Received > 0 {
				logged++
			}
		}
		w.mu.Unlock()
		if logged != 1 {
			t.Errorf("%s: %d connections in the log: %s", stands, logged, r.Text)
		}
	}
}

// keptOpen is a connection to a host that goes on when nothing more comes.
type keptOpen struct{ net.Conn }

func (keptOpen) CloseWrite() error { return nil }

// A rule that denies an address holds for every name that leads there.
func TestADeniedAddress(t *testing.T) {
	for _, stands := range []string{"stage", "proxy"} {
		dialer, reached := towards(t)
		w := newWorld(t, staged, func(h *toolbox.Hold) {
			if stands == "proxy" {
				h.Stage, h.Proxy = nil, true
			}
		})
		w.dialer = dialer
		w.box = w.open(staged+"rules:\n  - deny connect(93.184.215.14)\n", nil)
		r := w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": python("free.test")})
		if reached.Load() != 0 || !strings.Contains(r.Text, "free.test has the address 93.184.215.14: denied: denied by rule deny connect(93.184.215.14)") {
			t.Errorf("%s: reached %d times: %s %v", stands, reached.Load(), r.Text, r.Err)
		}
	}
}

// A connection of which it is not found out which command makes it is refused, and that is told.
func TestAConnectionOfSomeCommand(t *testing.T) {
	dialer, reached := towards(t)
	w := newWorld(t, staged)
	w.dialer = dialer
	w.box = w.open(strings.Replace(staged, ", when_sandboxed: allow", "", 1), nil)
	call := func(command string) tool.Result {
		return w.call(policy.ModeAsk, yes(""), "shell", map[string]any{"command": command})
	}
	call("python3 -c 'import time; time.sleep(600)' >/dev/null 2>&1 &")
	r := call(`python3 -c 'import urllib.request; files = [open("/dev/null") for i in range(200)]; print(urllib.request.urlopen("http://free.test/").read())'`)
	if reached.Load() != 0 || !strings.Contains(r.Text, "connection to free.test:80 refused: it is unknown which command connects") {
		t.Errorf("reached %d times: %s %v", reached.Load(), r.Text, r.Err)
	}
	if last := w.events[len(w.events)-1]; !slices.ContainsFunc(w.events, func(e approval.Event) bool {
		return e.Kind == approval.EventConnected && e.Host == "free.test" && e.State == policy.StateBlocked && strings.Contains(e.Error, "unknown")
	}) {
		t.Errorf("it is not in the log, which ends with %+v", last)
	}
}
