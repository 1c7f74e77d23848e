package stage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// newProxy serves a proxy that leads good.example to a recorder and refuses all others. It
// returns its address, and what ends it and returns the connections that ended.
func newProxy(t *testing.T, r *recorder) (address string, end func() []Connection) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error)
	var mu sync.Mutex
	var ended []Connection
	go func() {
		over <- Proxy(ctx, l, Options{
			Dial: func(ctx context.Context, h Host) (net.Conn, error) {
				if h.Name != "good.example" || h.Port != 80 && h.Port != 443 {
					return nil, errNotAllowed
				}
				var d net.Dialer
				return d.DialContext(ctx, "tcp", r.address)
			},
			Ended: func(c Connection) {
				mu.Lock()
				defer mu.Unlock()
				ended = append(ended, c)
			},
		})
	}()
	end = sync.OnceValue(func() []Connection {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
		return ended
	})
	t.Cleanup(func() { end() })
	return l.Addr().String(), end
}

func dialProxy(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

// TestProxyNames has what is said through a proxy checked as in a network.
func TestProxyNames(t *testing.T) {
	r := newRecorder(t)
	address, end := newProxy(t, r)
	const connect = "CONNECT good.example:443 HTTP/1.1\r\nHost: good.example:443\r\n\r\n"
	socks := "\x05\x01\x00\x05\x01\x00\x03\x0cgood.example\x01\xbb"
	for _, tt := range []struct {
		say   []string // each when something came for the one before
		wants bool     // CANARY may arrive
	}{
		{[]string{connect, "GET /CANARY HTTP/1.1\r\nHost: good.example\r\n\r\n"}, true},
		{[]string{connect, "GET /CANARY HTTP/1.1\r\nHost: other.example\r\n\r\n"}, false},
		{[]string{connect, string(greeting(t, "canary.example"))}, false},
		{[]string{connect, "\x15\x03\x01\x00\x02\x01\x5a" + string(greeting(t, "canary.example"))}, false},
		{[]string{"CONNECT good.example:443 HTTP/1.1\r\nHost: other.example\r\n\r\n", "GET /CANARY HTTP/1.1\r\nHost: other.example\r\n\r\n"}, false},
		{[]string{"CONNECT other.example:443 HTTP/1.1\r\nHost: good.example:443\r\n\r\n", "CANARY"}, false},
		{[]string{"CONNECT good.example:22 HTTP/1.1\r\n\r\n", "CANARY"}, false},
		{[]string{"\x05\x01\x00", socks[3:], "CANARY\n"}, true},
		{[]string{"\x05\x01\x00", socks[3:], "GET /CANARY HTTP/1.1\r\nHost: other.example\r\n\r\n"}, false},
		{[]string{"\x05\x01\x00", "\x05\x02\x00\x03\x0cgood.example\x01\xbb", "CANARY"}, false},
		{[]string{"\x05\x01\x00", "\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", "CANARY"}, false},
		{[]string{"GET http://good.example/CANARY HTTP/1.1\r\nHost: good.example\r\n\r\n"}, true},
		{[]string{"GET http://good.example/CANARY HTTP/1.1\r\nHost: other.example\r\n\r\n"}, false},
		{[]string{"GET http://other.example/CANARY HTTP/1.1\r\nHost: good.example\r\n\r\n"}, false},
		{[]string{"GET /CANARY HTTP/1.1\r\nHost: good.example\r\n\r\n"}, false},
		{[]string{"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\nGET http://other.example/CANARY HTTP/1.1\r\nHost: other.example\r\n\r\n"}, false},
		{[]string{"POST http://good.example/ HTTP/1.1\r\nHost: good.example\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /CANARY HTTP/1.1\r\nHost: x\r\n\r\n"}, false},
		{[]string{"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nCANARY"}, false},
	} {
		c := dialProxy(t, address)
		buf := make([]byte, 4096)
		for _, text := range tt.say {
			if _, err := io.WriteString(c, text); err != nil {
				break
			}
			if _, err := c.Read(buf); err != nil {
				break
			}
		}
		c.Close()
		got := r.take()
		if arrived := strings.Contains(strings.ToUpper(got), "CANARY"); arrived != tt.wants {
			t.Errorf("%q: the host was sent %q", tt.say, got)
		}
		if strings.Contains(got, "other.example") {
			t.Errorf("%q: the host was sent %q", tt.say, got)
		}
	}
	for _, c := range end() {
		if c.Host.Number == 0 || c.Err == nil && c.Host.Name != "good.example" {
			t.Errorf("%+v", c)
		}
	}
}

// TestProxyRefusal has a client that was refused and does not go: the proxy does not keep it.
func TestProxyRefusal(t *testing.T) {
	address, _ := newProxy(t, newRecorder(t))
	for _, say := range []string{"CONNECT other.example:443 HTTP/1.1\r\n\r\n", "GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n"} {
		c := dialProxy(t, address)
		fmt.Fprint(c, say)
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusForbidden || !strings.Contains(string(text), errNotAllowed.Error()) {
			t.Errorf("%s %q %v", answer.Status, text, err)
		}
		junk := make([]byte, 64<<10)
		for err == nil {
			_, err = c.Write(junk)
		}
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			t.Errorf("%q: the proxy keeps the connection open", say)
		}
	}
}

// TestProxyEnds ends a proxy while clients are at every stage of a connection.
func TestProxyEnds(t *testing.T) {
	r := newRecorder(t)
	address, end := newProxy(t, r)
	var clients []net.Conn
	for i := range 60 {
		c := dialProxy(t, address)
		clients = append(clients, c)
		switch i % 4 {
		case 1:
			fmt.Fprint(c, "CONNECT good.exa")
		case 2:
			fmt.Fprint(c, "CONNECT good.example:443 HTTP/1.1\r\n\r\n")
		case 3:
			fmt.Fprint(c, "CONNECT good.example:443 HTTP/1.1\r\n\r\n\x16\x03\x01")
		}
	}
	end()
	for _, c := range clients {
		if _, err := io.Copy(io.Discard, c); err != nil {
			var late net.Error
			if errors.As(err, &late) && late.Timeout() {
				t.Error("a connection is open after the proxy has ended")
			}
		}
	}
}
