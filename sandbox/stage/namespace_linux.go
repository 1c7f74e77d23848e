package stage

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxConnections is how many connections of a network may be open at once.
	maxConnections = 2048
	// maxAsking is how many may ask for names by TCP at once.
	maxAsking = 64
	// askingTime is how long they may take.
	askingTime = 10 * time.Second
	// patienceForSent is how long a connection is still opened and written to for what a
	// client sent that has gone.
	patienceForSent = time.Second
	// patienceForFirst is how long a client that is refused may take to begin.
	patienceForFirst = 100 * time.Millisecond
	// pause is how long a full table of open files is waited for.
	pause = 10 * time.Millisecond
)

// A namespace is a network namespace with commands in it, seen from outside.
type namespace struct {
	network   *Stage
	plain     bool // it has no user namespace of its own
	net, user *os.File
	diag      *diag
	listeners []*listener
	datagrams *net.UDPConn
	ports     []uint16 // those that are captured, if not all are
	names     *names

	ctx    context.Context // ends with the network
	cancel context.CancelFunc
	busy   sync.WaitGroup

	accepting sync.WaitGroup // what adds to the next
	taking    sync.WaitGroup // connections of which not all was taken that the command sent
	slots     chan struct{}  // one for each connection

	members []*member // guarded by the network's mu
	left    time.Time // when one of them left, while others stayed; guarded like them
}

type listener struct {
	*net.TCPListener
	kind rune
	port uint16
}

// newNamespace takes over what a helper handed out.
func newNamespace(s *Stage, sockets []helperSocket, plain bool) (*namespace, error) {
	g := &namespace{network: s, plain: plain, names: newNames(), slots: make(chan struct{}, maxConnections)}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	var errs []error
	for _, h := range sockets {
		f := os.NewFile(uintptr(h.fd), "stage")
		switch h.kind {
		case handNet:
			g.net = f
			continue
		case handUser:
			g.user = f
			continue
		case handDiag:
			g.diag = &diag{file: f}
			continue
		case handDatagram:
			c, err := net.FilePacketConn(f)
			errs = append(errs, err)
			g.datagrams, _ = c.(*net.UDPConn)
		default:
			l, err := net.FileListener(f)
			errs = append(errs, err)
			if tcp, ok := l.(*net.TCPListener); ok {
				g.listeners = append(g.listeners, &listener{tcp, h.kind, h.port})
			}
			if h.kind == handPort {
				g.ports = append(g.ports, h.port)
			}
		}
		f.Close() // the connection has its own
	}
	if g.datagrams == nil {
		errs = append(errs, errors.New("the helper handed out no resolver"))
	}
	if err := errors.Join(errs...); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// open begins to serve.
func (g *namespace) open() {
	for _, l := range g.listeners {
		serve := g.connection
		if l.kind == handStream {
			asking := make(chan struct{}, maxAsking)
			serve = func(_ *listener, c *net.TCPConn, taken func()) {
				taken() // what is asked for ends with who asks
				select {
				case asking <- struct{}{}:
					g.resolve(c)
					<-asking
				default:
					c.Close()
				}
			}
		}
		g.accepting.Go(func() { g.accept(l, serve) })
	}
	g.busy.Go(g.resolveDatagrams)
}

// close ends everything, and waits until it is over. What the commands sent before they ended is
// still sent on.
func (g *namespace) close() {
	for _, l := range g.listeners {
		l.Close()
	}
	g.accepting.Wait()
	taken := make(chan struct{})
	go func() { g.taking.Wait(); close(taken) }()
	select {
	case <-taken:
	case <-time.After(patienceForSent):
	}
	g.cancel()
	if g.datagrams != nil {
		g.datagrams.Close()
	}
	g.busy.Wait()
	for _, f := range []*os.File{g.net, g.user} {
		if f != nil {
			f.Close()
		}
	}
	if g.diag != nil {
		g.diag.file.Close()
	}
}

func (g *namespace) accept(l *listener, serve func(l *listener, c *net.TCPConn, taken func())) {
	for {
		c, err := l.AcceptTCP()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // no more files may be open just now
			select {
			case <-time.After(pause):
			case <-g.ctx.Done():
				return
			}
			continue
		}
		select {
		case g.slots <- struct{}{}:
			g.taking.Add(1)
			g.busy.Go(func() {
				defer func() { <-g.slots }()
				stop := context.AfterFunc(g.ctx, func() { c.Close() })
				defer stop()
				taken := sync.OnceFunc(g.taking.Done)
				defer taken()
				serve(l, c, taken)
			})
		default:
			reset(c)
		}
	}
}

// resolveDatagrams answers for names until the socket is closed.
func (g *namespace) resolveDatagrams() {
	buf := make([]byte, 4096)
	for {
		n, from, err := g.datagrams.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // an answer that nobody waited for any more
		}
		if out := g.names.answer(buf[:n]); out != nil {
			_, _ = g.datagrams.WriteToUDPAddrPort(out, from) // it may be gone
		}
	}
}

// resolve answers for names on a connection.
func (g *namespace) resolve(c *net.TCPConn) {
	defer c.Close()
	for {
		if err := c.SetDeadline(time.Now().Add(askingTime)); err != nil {
			return
		}
		var size [2]byte
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		question := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, question); err != nil {
			return
		}
		out := g.names.answer(question)
		if out == nil {
			return
		}
		if _, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...)); err != nil {
			return
		}
	}
}

var (
	errUnknown = errors.New("the connection's destination is unknown; it was refused")
	errNoDial  = errors.New("no connections are allowed")

	errCommandEnded = errors.New("the command ended")
)

// connection serves one connection of a command. Taken is told when all was sent on that the
// command sent.
func (g *namespace) connection(l *listener, c *net.TCPConn, taken func()) {
	began := time.Now()
	h, err := g.host(l, c)
	if errors.Is(err, errUnknown) {
		reset(c) // it was for a listener of ours, and for no host
		return
	}
	var sent, received int64
	var out net.Conn
	if err == nil {
		if out, err = g.dial(c, h); err == nil {
			sent, received, err = g.carry(c, out, h, nil, taken)
		} else {
			awaitFirst(c)
		}
	}
	if err != nil {
		reset(c)
	} else {
		c.Close()
	}
	if g.network.options.Ended != nil {
		g.network.options.Ended(Connection{Host: h, Sent: sent, Received: received, Began: began,
			Duration: time.Since(began), Err: err})
	}
}

// host returns where a connection was to go.
func (g *namespace) host(l *listener, c *net.TCPConn) (Host, error) {
	var to netip.AddrPort
	switch l.kind {
	case handLocal:
		to = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), l.port)
	case handPort:
		to = c.LocalAddr().(*net.TCPAddr).AddrPort()
	case handCapture:
		var err error
		if to, err = originalDestination(c); err != nil {
			return Host{}, errUnknown
		}
	}
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	if l.kind != handLocal && (to.Addr().IsLoopback() || to.Port() == 0) {
		return Host{}, errUnknown
	}
	h := Host{Addr: to.Addr(), Port: to.Port(), Number: g.network.numbers.Add(1)}
	if l.kind == handLocal {
		to = c.LocalAddr().(*net.TCPAddr).AddrPort() // it may have been ::1
	}
	h.Command, h.Program = g.who(c.RemoteAddr().(*net.TCPAddr).AddrPort(), to)
	if synthetic.Contains(h.Addr) {
		name, ok := g.names.of(h.Addr)
		if !ok {
			return h, fmt.Errorf("no name was looked up that has the address %s; the connection was refused", h.Addr)
		}
		h.Name, h.Addr = name, netip.Addr{}
	}
	return h, nil
}

// originalDestination is where a connection was to go before it was led here.
func originalDestination(c *net.TCPConn) (to netip.AddrPort, err error) {
	const originalDst = 80 // SO_ORIGINAL_DST, and the same for IPv6
	raw, err := c.SyscallConn()
	if err != nil {
		return to, err
	}
	six := c.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Is6()
	var failed error
	err = raw.Control(func(fd uintptr) {
		if six {
			at, err := unix.GetsockoptIPv6MTUInfo(int(fd), unix.SOL_IPV6, originalDst)
			if failed = err; err == nil {
				to = netip.AddrPortFrom(netip.AddrFrom16(at.Addr.Addr), bigEndian(at.Addr.Port))
			}
			return
		}
		// The kernel writes a socket address into what is as long.
		at, err := unix.GetsockoptIPv6Mreq(int(fd), unix.SOL_IP, originalDst)
		if failed = err; err == nil {
			b := at.Multiaddr
			to = netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), binary.BigEndian.Uint16(b[2:]))
		}
	})
	return to, errors.Join(err, failed)
}

func bigEndian(port uint16) uint16 {
	return binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, port))
}

// reset ends a connection so that its other side learns that it failed.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0) // it may be over
	c.Close()
}

// carry carries bytes both ways until both are over. First is what the command said already.
func (g *namespace) carry(c *net.TCPConn, out net.Conn, h Host, first []byte,
	taken func()) (sent, received int64, err error) {
	defer out.Close()
	stop := context.AfterFunc(g.ctx, func() { out.Close() })
	defer stop()
	words := newFirstWords()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		if h.Name != "" {
			received, err = words.copy(c, out)
		}
		if err == nil {
			var n int64
			n, err = io.Copy(c, out)
			received += n
		}
		if err != nil {
			reset(c) // so that nobody takes for the whole what is a part
		} else {
			_ = c.CloseWrite() // it may have gone
		}
	}()
	s := &stream{from: c, to: out, name: h.Name, sent: &sent, first: words.first, buf: first}
	if h.Name != "" {
		err = s.check()
	} else if len(first) > 0 {
		err = s.flush(len(first))
	}
	if err == nil {
		var n int64
		n, err = io.Copy(out, c)
		sent += n
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	var refused *refusal
	if errors.As(err, &refused) {
		reset(c) // before it sees an end that looks like the host's
	}
	half, ok := out.(interface{ CloseWrite() error })
	switch tcp, isTCP := out.(*net.TCPConn); {
	case err != nil && isTCP:
		reset(tcp)
	case err != nil || !ok:
		out.Close()
	default:
		_ = half.CloseWrite() // it may have gone
	}
	taken()
	<-done
	switch {
	case refused != nil:
		return sent, received, refused
	case err != nil && g.ctx.Err() != nil:
		return sent, received, errCommandEnded
	}
	return sent, received, nil // how a connection that was allowed ends is between its sides
}

// awaitFirst waits a little until a client has begun to speak. Some clients do not notice a
// connection that ends before they have: node then ends, without an error.
func awaitFirst(c *net.TCPConn) {
	raw, err := c.SyscallConn()
	if err != nil || c.SetReadDeadline(time.Now().Add(patienceForFirst)) != nil {
		return
	}
	_ = raw.Read(func(fd uintptr) bool { // or it has gone, or says nothing
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0
	})
}

// dial asks for the connection, as long as the command wants it.
func (g *namespace) dial(c *net.TCPConn, h Host) (net.Conn, error) {
	if g.network.options.Dial == nil {
		return nil, errNoDial
	}
	ctx, cancel := context.WithCancel(g.ctx)
	defer cancel()
	watch := g.watch(c, cancel)
	out, err := g.network.options.Dial(ctx, h)
	watch()
	if err == nil && out == nil {
		err = errNoDial
	}
	return out, err
}

// watch tells if the command's side of a connection goes away, without reading from it. The
// function that it returns ends that.
func (g *namespace) watch(c *net.TCPConn, gone func()) (end func()) {
	raw, err := c.SyscallConn()
	if err != nil {
		return func() {}
	}
	over, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		err := raw.Read(func(fd uintptr) bool {
			poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
			n, _ := unix.Poll(poll, 0)
			return n > 0
		})
		// A side that only has no more to say still waits for an answer.
		for err == nil && g.halfOpen(c) {
			select {
			case <-stop:
				return
			case <-time.After(pauseHalfOpen):
			}
		}
		if err != nil {
			return
		}
		if hasUnread(raw) { // who sends something and leaves does not want it to be lost
			select {
			case <-stop:
				return
			case <-time.After(patienceForSent):
			}
		}
		gone()
	}()
	return func() {
		close(stop)
		_ = c.SetReadDeadline(time.Unix(1, 0)) // it may be closed
		<-over
		_ = c.SetReadDeadline(time.Time{})
	}
}

// hasUnread reports whether something came on a connection that was not read yet.
func hasUnread(raw syscall.RawConn) bool {
	var n int
	err := raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return err == nil && n > 0
}

// pauseHalfOpen is how often a connection is looked at whose client has no more to say.
const pauseHalfOpen = 200 * time.Millisecond

// firstWords are the first words of a host, which say whether it leaves HTTP, or asks for another
// greeting of TLS.
type firstWords struct {
	mu   sync.Mutex
	more *sync.Cond
	said []byte
	over bool // no more are kept
}

func newFirstWords() *firstWords {
	w := &firstWords{}
	w.more = sync.NewCond(&w.mu)
	return w
}

// copy carries the first words on.
func (w *firstWords) copy(to io.Writer, from io.Reader) (n int64, err error) {
	defer w.keep(nil, true)
	buf := make([]byte, 32<<10)
	for n < int64(answerSize) {
		read, err := from.Read(buf)
		if read > 0 {
			w.keep(buf[:min(read, answerSize)], false)
			written, werr := to.Write(buf[:read])
			n += int64(written)
			if werr != nil {
				return n, werr
			}
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (w *firstWords) keep(words []byte, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said, w.over = append(w.said, words...), over
	w.more.Broadcast()
}

// first waits for the first n bytes, and returns what there is of them at the end.
func (w *firstWords) first(n int) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.said) < n && !w.over {
		w.more.Wait()
	}
	return slices.Clone(w.said[:min(n, len(w.said))])
}
