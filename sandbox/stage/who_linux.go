package stage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox/launch"
)

// maxFiles is how many open files of a network's processes are looked through for the one that
// connects: a name is not worth more.
const maxFiles = 64

// A member is a command in a network.
type member struct {
	command any

	mu   sync.Mutex
	pid  int      // of the sandbox's program; 0 before it runs and after it has ended
	proc *os.File // the processes inside, as they see themselves
}

func (m *member) started(pid int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pid = pid
}

func (m *member) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pid = 0
	if m.proc != nil {
		m.proc.Close()
	}
	m.proc = nil
}

// orphaned is how long a connection may stay unseen after the command that made it has ended.
const orphaned = 10 * time.Second

// who returns the command and the program that connect, as far as they can be found. One that no
// process has any more may be of a command that has just ended, and is not given to the only one
// that is left.
func (g *namespace) who(from, to netip.AddrPort) (command any, program string) {
	g.network.mu.Lock()
	members, left := append([]*member{}, g.members...), g.left
	g.network.mu.Unlock()
	var s socket
	if g.diag != nil {
		s, _ = g.diag.find(from, to) // without an answer nobody has it
	}
	if len(members) == 1 && (s.inode != 0 || time.Since(left) > orphaned) {
		command = members[0].command
	}
	if s.inode == 0 {
		return command, ""
	}
	files := maxFiles
	for _, m := range members {
		if name, ok := m.has(s.inode, &files); ok {
			return m.command, name
		}
	}
	return command, ""
}

// has returns the name of the process inside that has a socket; false if there is none.
func (m *member) has(inode uint32, left *int) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.proc == nil && !m.look() {
		return "", false
	}
	if _, err := m.proc.Seek(0, 0); err != nil {
		return "", false
	}
	pids, _ := m.proc.Readdirnames(-1) // processes come and go
	want := fmt.Sprintf("socket:[%d]", inode)
	// The youngest process is the likeliest.
	for i := len(pids) - 1; i >= 0; i-- {
		if pids[i][0] < '1' || pids[i][0] > '9' || pids[i] == "1" {
			continue
		}
		if m.holds(pids[i], want, left) {
			return m.name(pids[i]), true
		}
	}
	return "", false
}

// look finds the processes inside: bubblewrap's child is the first of them.
func (m *member) look() bool {
	if m.pid == 0 {
		return false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", m.pid, m.pid))
	if err != nil {
		return false
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return false
	}
	proc, err := os.Open(fmt.Sprintf("/proc/%d/root/proc", child))
	if err != nil {
		return false
	}
	// Until bubblewrap's child has its own root it sees the machine's, and with it the processes
	// of every command.
	var own, its unix.Stat_t
	if unix.Stat("/proc", &own) != nil || unix.Fstat(int(proc.Fd()), &its) != nil || own.Dev == its.Dev {
		proc.Close()
		return false
	}
	m.proc = proc
	return true
}

func (m *member) holds(pid, want string, left *int) bool {
	fd, err := unix.Openat(int(m.proc.Fd()), pid+"/fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	dir := os.NewFile(uintptr(fd), "fd")
	defer dir.Close()
	names, _ := dir.Readdirnames(*left + 1)
	link := make([]byte, 64)
	for i := len(names) - 1; i >= 0 && *left > 0; i-- {
		*left--
		if n, err := unix.Readlinkat(fd, names[i], link); err == nil && string(link[:n]) == want {
			return true
		}
	}
	return false
}

// name returns what a process inside calls itself, without what a terminal could take for more
// than a name.
func (m *member) name(pid string) string {
	s, _ := launch.StatOf(m.proc, pid)
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, strings.ToValidUTF8(s.Name, "?"))
}

// A diag asks the kernel about sockets of a network namespace: it is one of that namespace.
type diag struct {
	mu   sync.Mutex
	file *os.File
}

// A socket is what the kernel says about one.
type socket struct {
	state byte
	inode uint32 // 0 if no process has it any more
}

// find returns the socket that connects two addresses, as its own side names them.
func (d *diag) find(own, other netip.AddrPort) (socket, error) {
	const byFamily, anyState, noCookie, sizeOfID, idAt, inodeAt = 20, 0xffffffff, 0xffffffff, 48, 4, 68
	family := byte(unix.AF_INET)
	if other.Addr().Is6() {
		family = unix.AF_INET6
	}
	id := binary.BigEndian.AppendUint16(nil, own.Port())
	id = binary.BigEndian.AppendUint16(id, other.Port())
	for _, a := range []netip.Addr{own.Addr().Unmap(), other.Addr().Unmap()} {
		b := a.AsSlice()
		id = append(append(id, b...), make([]byte, 16-len(b))...)
	}
	body := append([]byte{family, unix.IPPROTO_TCP, 0, 0}, binary.NativeEndian.AppendUint32(nil, anyState)...)
	body = append(body, id...)
	body = append(body, 0, 0, 0, 0)
	for range 2 {
		body = binary.NativeEndian.AppendUint32(body, noCookie)
	}
	var m message
	m.begin(byFamily, 0, 0, body...)()
	d.mu.Lock()
	defer d.mu.Unlock()
	fd := int(d.file.Fd())
	if err := unix.Sendto(fd, m, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return socket{}, err
	}
	buf := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, buf, unix.MSG_DONTWAIT) // it has answered before Sendto returned
	if err != nil {
		return socket{}, err
	}
	data := buf[:n]
	if n < unix.SizeofNlMsghdr+inodeAt+4 || binary.NativeEndian.Uint16(data[4:]) != byFamily {
		return socket{}, errors.New("no such socket")
	}
	data = data[unix.SizeofNlMsghdr:]
	if string(data[idAt:idAt+4]) != string(id[:4]) { // a listener that would take it
		return socket{}, errors.New("no such socket")
	}
	return socket{data[1], binary.NativeEndian.Uint32(data[inodeAt:])}, nil
}

// halfOpen reports whether the command's side of a connection, of which nothing more comes, is
// still there to read.
func (g *namespace) halfOpen(c *net.TCPConn) bool {
	if g.diag == nil {
		return false
	}
	to := c.LocalAddr().(*net.TCPAddr).AddrPort()
	if led, err := originalDestination(c); err == nil {
		to = led
	}
	from := c.RemoteAddr().(*net.TCPAddr).AddrPort()
	s, err := g.diag.find(from, netip.AddrPortFrom(to.Addr().Unmap(), to.Port()))
	return err == nil && s.inode != 0
}
