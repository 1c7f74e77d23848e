package stage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// introduction is how long a client may take to say where it wants to go.
const introduction = 30 * time.Second

// Proxy stands in for a network where none can be made: it speaks HTTP CONNECT, plain HTTP and
// SOCKS5 on a listener, and decides about each connection as a network does. It returns when ctx
// ends and the last connection is over.
func Proxy(ctx context.Context, l net.Listener, o Options) error {
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return fmt.Errorf("a proxy needs a TCP listener, not a %T", l)
	}
	g := &namespace{network: &Stage{options: o}, slots: make(chan struct{}, maxConnections),
		listeners: []*listener{{TCPListener: tcp}}}
	g.ctx, g.cancel = context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, g.close)
	g.accepting.Add(1)
	g.accept(g.listeners[0], func(_ *listener, c *net.TCPConn, taken func()) {
		p := proxied{c, g, taken}
		_ = c.SetDeadline(time.Now().Add(introduction)) // it may be over
		if p.serve() != nil {
			reset(c)
			return
		}
		// Who was refused may still be sending, and would lose the answer if it were closed now.
		_ = c.SetDeadline(time.Now().Add(patienceForSent)) // it may be over
		_, _ = io.Copy(io.Discard, c)
		c.Close()
	})
	g.accepting.Done()
	stop()
	g.close()
	return nil
}

// proxied is a client of a proxy.
type proxied struct {
	*net.TCPConn
	namespace *namespace
	taken     func()
}

func (p proxied) serve() error {
	var first [1]byte
	if _, err := io.ReadFull(p, first[:]); err != nil {
		return err
	}
	if first[0] == socksVersion {
		return p.socks()
	}
	head := first[:]
	for !bytes.HasSuffix(head, []byte("\r\n\r\n")) { // no byte more: what follows is for the host
		var next [1]byte
		if _, err := io.ReadFull(p, next[:]); err != nil {
			return err
		}
		if head = append(head, next[0]); len(head) > maxHello {
			return errors.New("the head of a request is too long")
		}
	}
	h, forward, err := readProxied(string(head))
	if err != nil {
		return p.refuse(err)
	}
	return p.carry(h, []byte(forward), p.refuse, func() error {
		if forward != "" {
			return nil
		}
		_, err := io.WriteString(p, "HTTP/1.1 200 Connection established\r\n\r\n")
		return err
	})
}

// readProxied reads the head of a request to a proxy: where it goes, and what is sent there
// instead of it; nothing for CONNECT. A plain request goes on as one for the host itself, the
// only one of its connection.
func readProxied(head string) (h Host, forward string, err error) {
	lines := strings.Split(strings.TrimSuffix(head, "\r\n\r\n"), "\r\n")
	words := strings.Split(lines[0], " ")
	if len(words) != 3 {
		return h, "", errors.New("the request is not one of HTTP")
	}
	method, target, version := words[0], words[1], words[2]
	if method == "CONNECT" {
		h, err = parseHost(target, 443)
		return h, "", err
	}
	const scheme = "http://"
	if len(target) < len(scheme) || !strings.EqualFold(target[:len(scheme)], scheme) {
		return h, "", errors.New("a proxy takes requests with a whole http address, and CONNECT for others")
	}
	authority, rest := target[len(scheme):], ""
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority, rest = authority[:i], authority[i:]
	}
	if !strings.HasPrefix(rest, "/") {
		rest = "/" + rest
	}
	if h, err = parseHost(authority, 80); err != nil {
		return h, "", err
	}
	out := method + " " + rest + " " + version + "\r\n"
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		switch strings.ToLower(name) {
		case "proxy-connection", "proxy-authorization", "connection", "upgrade":
			continue
		case "host":
			if at, err := parseHost(strings.TrimSpace(value), 80); err != nil || at != h {
				return h, "", fmt.Errorf("the request is for %s, and names %s as its host", authority, strings.TrimSpace(value))
			}
		}
		out += line + "\r\n"
	}
	return h, out + "Connection: close\r\n\r\n", nil
}

// carry opens a connection, says so, and carries it. First is what the host is told first.
func (p proxied) carry(h Host, first []byte, refuse func(error) error, opened func() error) error {
	began := time.Now()
	h.Number = p.namespace.network.numbers.Add(1)
	out, err := p.namespace.dial(p.TCPConn, h)
	if err != nil {
		p.ended(Connection{Host: h, Began: began, Err: err})
		return refuse(err)
	}
	_ = p.SetDeadline(time.Time{}) // it may be over
	if err := opened(); err != nil {
		out.Close()
		p.ended(Connection{Host: h, Began: began, Err: err})
		return err
	}
	sent, received, err := p.namespace.carry(p.TCPConn, out, h, first, p.taken)
	p.ended(Connection{Host: h, Sent: sent, Received: received, Began: began, Err: err})
	return errors.Join(err, p.Close())
}

func (p proxied) ended(c Connection) {
	c.Duration = time.Since(c.Began)
	if told := p.namespace.network.options.Ended; told != nil {
		told(c)
	}
}

// refuse answers a request of HTTP with the reason.
func (p proxied) refuse(why error) error {
	text := why.Error() + "\n"
	_, err := fmt.Fprintf(p, "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "+
		"%d\r\nConnection: close\r\n\r\n%s", len(text), text)
	return errors.Join(err, p.CloseWrite())
}

// Words of SOCKS5 (RFC 1928).
const (
	socksVersion    = 5
	socksNoMethod   = 0xff
	socksConnect    = 1
	socksIPv4       = 1
	socksName       = 3
	socksIPv6       = 4
	socksRefused    = 2
	socksNoCommand  = 7
	socksBadAddress = 8
)

// socks answers SOCKS5 without a password. Its first byte was read.
func (p proxied) socks() error {
	var count [1]byte
	if _, err := io.ReadFull(p, count[:]); err != nil {
		return err
	}
	methods := make([]byte, count[0])
	if _, err := io.ReadFull(p, methods); err != nil {
		return err
	}
	if !bytes.Contains(methods, []byte{0}) {
		_, err := p.Write([]byte{socksVersion, socksNoMethod})
		return errors.Join(err, errors.New("the client wants to give a password"))
	}
	if _, err := p.Write([]byte{socksVersion, 0}); err != nil {
		return err
	}
	h, code, err := readSocks(p)
	if err != nil {
		return errors.Join(err, p.socksAnswer(code))
	}
	return p.carry(h, nil, func(error) error { return errors.Join(p.socksAnswer(socksRefused), p.CloseWrite()) },
		func() error { return p.socksAnswer(0) })
}

func (p proxied) socksAnswer(code byte) error {
	_, err := p.Write([]byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
	return err
}

// readSocks reads where a client of SOCKS5 wants to go.
func readSocks(r io.Reader) (h Host, code byte, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return h, socksRefused, err
	}
	if head[0] != socksVersion || head[1] != socksConnect {
		return h, socksNoCommand, fmt.Errorf("command %d of SOCKS", head[1])
	}
	size := 0
	switch head[3] {
	case socksIPv4:
		size = 4
	case socksIPv6:
		size = 16
	case socksName:
		var n [1]byte
		if _, err := io.ReadFull(r, n[:]); err != nil {
			return h, socksRefused, err
		}
		size = int(n[0])
	default:
		return h, socksBadAddress, fmt.Errorf("address kind %d of SOCKS", head[3])
	}
	data := make([]byte, size+2)
	if _, err := io.ReadFull(r, data); err != nil {
		return h, socksRefused, err
	}
	port := binary.BigEndian.Uint16(data[size:])
	if head[3] == socksName {
		h, err = hostOf(string(data[:size]), port)
		return h, socksBadAddress, err
	}
	addr, _ := netip.AddrFromSlice(data[:size])
	return Host{Addr: addr.Unmap(), Port: port}, 0, nil
}

// parseHost reads a host with or without a port.
func parseHost(text string, usual uint16) (Host, error) {
	name, port := text, strconv.Itoa(int(usual))
	if i := strings.LastIndexByte(text, ':'); i >= 0 && !strings.HasSuffix(text, "]") {
		name, port = text[:i], text[i+1:]
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return Host{}, fmt.Errorf("%q has no usable port", text)
	}
	return hostOf(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"), uint16(n))
}

// hostOf tells an address from a name.
func hostOf(name string, port uint16) (Host, error) {
	if addr, err := netip.ParseAddr(name); err == nil {
		return Host{Addr: addr.WithZone("").Unmap(), Port: port}, nil
	}
	name, ok := cleanName(name)
	if !ok {
		return Host{}, fmt.Errorf("%q is not the name of a host", name)
	}
	return Host{Name: name, Port: port}, nil
}
