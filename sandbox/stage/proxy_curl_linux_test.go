package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// A proxy decides about each connection by name, for clients of all three kinds, and cuts what
// is for another host.
func TestProxy(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s %s", r.Host, r.RequestURI) }))
	defer server.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var asked []string
	var ended []Connection
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- Proxy(ctx, l, Options{
			Dial: func(ctx context.Context, h Host) (net.Conn, error) {
				mu.Lock()
				defer mu.Unlock()
				if asked = append(asked, h.String()); h.Name == "no.test" {
					return nil, errors.New("nobody agreed to it")
				}
				return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
			},
			Ended: func(c Connection) { mu.Lock(); ended = append(ended, c); mu.Unlock() },
		})
	}()
	at := l.Addr().String()
	for _, c := range []struct{ args, asked, says string }{
		{"-x http://" + at + " http://plain.test/a?b", "plain.test:80", "plain.test /a?b"},
		{"-x http://" + at + " http://plain.test:8080", "plain.test:8080", "plain.test:8080 /"},
		{"-x http://" + at + " -p http://tunnel.test:81/c", "tunnel.test:81", "tunnel.test:81 /c"},
		{"-x socks5h://" + at + " http://socks.test/d", "socks.test:80", "socks.test /d"},
		{"-x socks5://" + at + " http://93.184.215.14/e", "93.184.215.14:80", "93.184.215.14 /e"},
		{"-x http://" + at + " http://[2001:4860::1]:82/f", "[2001:4860::1]:82", "[2001:4860::1]:82 /f"},
		{"-x http://" + at + " http://no.test/", "no.test:80", "nobody agreed to it"},
		{"-x http://" + at + " -p http://no.test/", "no.test:80", "403"},
		{"-x socks5h://" + at + " http://no.test/", "no.test:80", "curl: (97)"},
		{"-x http://" + at + " -p -H Host:evil.test http://tunnel.test/", "tunnel.test:80", "curl: (5"},
		{"-x http://" + at + " -H Host:evil.test http://plain.test/", "", "names evil.test as its host"},
	} {
		mu.Lock()
		asked = nil
		mu.Unlock()
		out, _ := exec.Command("curl", append(strings.Fields(c.args), "-gsS", "-v", "--max-time", "20")...).CombinedOutput()
		mu.Lock()
		if got := strings.Join(asked, " "); got != c.asked || !strings.Contains(string(out), c.says) {
			t.Errorf("%s: asked about %q: %s", c.args, got, out)
		}
		mu.Unlock()
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if len(ended) != 10 || ended[0].Received == 0 || ended[0].Sent == 0 {
		t.Errorf("%+v", ended)
	}
	if c, err := net.Dial("tcp", at); err == nil {
		c.Close()
		t.Error("it still listens")
	}
}

func FuzzReadProxied(f *testing.F) {
	f.Add("GET http://a.test/b HTTP/1.1\r\nHost: a.test\r\n\r\n")
	f.Add("CONNECT [::1]:443 HTTP/1.1\r\n\r\n")
	f.Fuzz(func(t *testing.T, head string) {
		h, forward, err := readProxied(head)
		if err == nil && (h.Port == 0 || h.Name == "" && !h.Addr.IsValid()) {
			t.Errorf("%q goes to %v", head, h)
		}
		if err == nil && forward != "" && !strings.HasSuffix(forward, "\r\n\r\n") {
			t.Errorf("%q", forward)
		}
	})
}

func FuzzReadSocks(f *testing.F) {
	f.Add("\x05\x01\x00\x03\x06a.test\x00\x50")
	f.Fuzz(func(t *testing.T, data string) {
		if h, _, err := readSocks(io.LimitReader(strings.NewReader(data), 300)); err == nil && h.Name == "" && !h.Addr.IsValid() {
			t.Errorf("%q goes to %v", data, h)
		}
	})
}
