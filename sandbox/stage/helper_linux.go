package stage

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// capturePort is where connections arrive that are led away from their own port. A
	// namespace has nothing else on it, and no program gets it by itself.
	capturePort = 65321
	// backlog is how many connections may wait to be accepted.
	backlog = 4096
	// resolverRoom is how many bytes of questions may wait: a thousand connections that begin at once
	// ask twice each.
	resolverRoom = 4 << 20
	// maxLocal is how many ports of this machine's loopback a network may have.
	maxLocal = 64
)

// resolver is where names are answered.
var resolver = [4]byte{127, 0, 0, 53}

// usual are the ports that are captured where the kernel does not let us capture all.
var usual = []uint16{22, 80, 443, 873, 3000, 4873, 5000, 5432, 8000, 8080, 8443, 9418, 11371}

// captureAll is replaced by tests that have a kernel without it.
var captureAll = capture

// A helperSocket is a descriptor that is handed out, and what it is.
type helperSocket struct {
	kind rune
	port uint16
	fd   int
}

// The kinds of descriptors that are handed out.
const (
	handCapture  = 'c' // a listener to which connections are led that were for others
	handPort     = 'p' // a listener on a port of every address
	handLocal    = 'l' // a listener on a port of the loopback
	handDatagram = 'u' // where names are asked for
	handStream   = 't' // where names are asked for by TCP
	handDiag     = 'd' // where the kernel tells about sockets
	handNet      = 'n' // the namespaces
	handUser     = 'o'
)

// Main is what the helper does, with the arguments that [Stage] gives it: a descriptor of a
// socket, the ports of the loopback, and a command line. It makes the network namespace that it
// was started in ready, hands its sockets out, gives up what it was allowed for that, and becomes
// the command. It returns only if that failed.
func Main(args []string) int {
	if len(args) < 4 {
		fmt.Fprintln(os.Stderr, "assent: this starts a command on a network of its own, and is started by assent only")
		return StatusFailed
	}
	runtime.LockOSThread() // capabilities belong to a thread
	fd, err := strconv.Atoi(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "assent:", err)
		return StatusFailed
	}
	unix.CloseOnExec(fd)
	err = prepare(fd, args[1], args[2])
	if err == nil {
		err = unix.Exec(args[3], args[3:], os.Environ())
		err = fmt.Errorf("starting %s: %w", args[3], err)
	}
	_ = unix.Sendto(fd, []byte("e"+err.Error()), unix.MSG_NOSIGNAL, nil) // who asked may be gone
	return StatusFailed
}

// prepare does all before the command.
func prepare(out int, local, more string) error {
	ports, err := parsePorts(local)
	if err != nil {
		return err
	}
	extra, err := parsePorts(more)
	if err != nil {
		return err
	}
	six, err := everyAddress()
	if err != nil {
		return err
	}
	sockets, err := openSockets(ports, extra, six)
	if err != nil {
		return err
	}
	if err := handOut(out, sockets); err != nil {
		return fmt.Errorf("handing out the network: %w", err)
	}
	return giveUp()
}

// openSockets opens everything that is handed out.
func openSockets(local, extra []uint16, six bool) ([]helperSocket, error) {
	var sockets []helperSocket
	var errs []error
	add := func(kind rune, port uint16, fd int, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("port %d of the stage: %w", port, err))
			return
		}
		sockets = append(sockets, helperSocket{kind, port, fd})
	}
	tcp := func(kind rune, addr unix.Sockaddr, port uint16) {
		fd, err := socketOn(unix.SOCK_STREAM, addr)
		add(kind, port, fd, err)
	}
	if captureAll(capturePort) == nil {
		tcp(handCapture, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: capturePort}, capturePort)
		if six {
			tcp(handCapture, &unix.SockaddrInet6{Addr: [16]byte{15: 1}, Port: capturePort}, capturePort)
		}
	} else {
		list := append(slices.Clone(usual), extra...)
		slices.Sort(list)
		for _, port := range slices.Compact(list) {
			if !slices.Contains(local, port) {
				tcp(handPort, &unix.SockaddrInet4{Port: int(port)}, port)
			}
		}
	}
	for _, port := range local {
		tcp(handLocal, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: int(port)}, port)
		if six {
			tcp(handLocal, &unix.SockaddrInet6{Addr: [16]byte{15: 1}, Port: int(port)}, port)
		}
	}
	at := &unix.SockaddrInet4{Addr: resolver, Port: 53}
	tcp(handStream, at, 53)
	fd, err := socketOn(unix.SOCK_DGRAM, at)
	if err == nil && unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, resolverRoom) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, resolverRoom) // or as much as there may be
	}
	add(handDatagram, 53, fd, err)
	fd, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err == nil { // without it, nothing is known of who connects
		add(handDiag, 0, fd, nil)
	}
	for kind, name := range map[rune]string{handNet: "net", handUser: "user"} {
		fd, err := unix.Open("/proc/self/ns/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err == nil { // without it, no other command can join
			add(kind, 0, fd, nil)
		}
	}
	return sockets, errors.Join(errs...)
}

// socketOn opens a socket at an address; one for streams listens.
func socketOn(kind int, addr unix.Sockaddr) (int, error) {
	family := unix.AF_INET
	if _, ok := addr.(*unix.SockaddrInet6); ok {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if family == unix.AF_INET6 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
	}
	if err == nil {
		err = unix.Bind(fd, addr)
	}
	if err == nil && kind == unix.SOCK_STREAM {
		err = unix.Listen(fd, backlog)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// handOut sends the descriptors in one message, with a line that says what they are.
func handOut(out int, sockets []helperSocket) error {
	var text strings.Builder
	var fds []int
	for _, h := range sockets {
		fmt.Fprintf(&text, "%c%d ", h.kind, h.port)
		fds = append(fds, h.fd)
	}
	return unix.Sendmsg(out, []byte(text.String()), unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
}

// takeIn receives what handOut sends, or the helper's word on why it cannot.
func takeIn(in int) ([]helperSocket, error) {
	text, control := make([]byte, 4096), make([]byte, unix.CmsgSpace(4*253))
	n, size, _, _, err := unix.Recvmsg(in, text, control, unix.MSG_CMSG_CLOEXEC)
	switch {
	case err != nil:
		return nil, err
	case n == 0:
		return nil, errors.New("the helper ended before it was ready")
	case text[0] == 'e':
		return nil, errors.New(string(text[1:n]))
	}
	messages, err := unix.ParseSocketControlMessage(control[:size])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("the helper's message is not understood: %v", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	words := strings.Fields(string(text[:n]))
	var sockets []helperSocket
	for i, fd := range fds {
		if i >= len(words) {
			unix.Close(fd)
			continue
		}
		port, _ := strconv.ParseUint(words[i][1:], 10, 16)
		sockets = append(sockets, helperSocket{rune(words[i][0]), uint16(port), fd})
	}
	return sockets, nil
}

// giveUp gives up every capability. What follows may have none: it would be over the namespace.
// Root has its own back by starting the next program, as it would have without us.
func giveUp() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	if os.Geteuid() == 0 {
		return nil
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&head, &none[0]); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	return nil
}

// formatPorts and parsePorts write ports into an argument and read them.
func formatPorts(ports []uint16) string {
	text := "-"
	for i, p := range ports {
		if i == 0 {
			text = ""
		} else {
			text += ","
		}
		text += strconv.Itoa(int(p))
	}
	return text
}

func parsePorts(text string) ([]uint16, error) {
	if text == "-" {
		return nil, nil
	}
	var out []uint16
	for word := range strings.SplitSeq(text, ",") {
		port, err := strconv.ParseUint(word, 10, 16)
		if err != nil || port == 0 {
			return nil, fmt.Errorf("invalid port %q", word)
		}
		out = append(out, uint16(port))
	}
	return out, nil
}
