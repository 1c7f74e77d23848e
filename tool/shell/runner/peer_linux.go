package runner

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// PeerInside reports whether the process at the other end of a connection of this machine was started by a
// tool call, as [Inside] does for this one. Of several that share it, one is enough. If none can be found,
// such as that of another user, it is an error.
func PeerInside(remote, local net.Addr) (bool, error) {
	pids, err := peersOf(remote, local)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(pids, func(pid int) bool { return hasVariable(pid, Marker+"=") || marked(pid) }), nil
}

// peersOf finds the processes that have the other end.
func peersOf(remote, local net.Addr) (pids []int, err error) {
	from, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return nil, err
	}
	to, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return nil, err
	}
	inode, err := socketInode(from, to)
	if err != nil {
		return nil, err
	}
	name := "socket:[" + inode + "]"
	links, err := filepath.Glob("/proc/[0-9]*/fd/[0-9]*")
	if err != nil {
		return nil, err
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == name {
			pid, err := strconv.Atoi(strings.Split(link, "/")[2])
			if err != nil {
				return nil, err
			}
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		return nil, errors.New("it is not a process of this user")
	}
	return pids, nil
}

// socketInode finds the socket at one end of a connection in the kernel's tables.
func socketInode(own, other netip.AddrPort) (string, error) {
	table := "/proc/self/net/tcp"
	if own.Addr().Is6() && !own.Addr().Is4In6() {
		table = "/proc/self/net/tcp6"
	}
	text, err := os.ReadFile(table)
	if err != nil {
		return "", err
	}
	want := []string{kernelAddress(own), kernelAddress(other)}
	for l := range strings.Lines(string(text)) {
		if f := strings.Fields(l); len(f) > 9 && f[1] == want[0] && f[2] == want[1] {
			return f[9], nil
		}
	}
	return "", errors.New("its connection is not among those of this machine")
}

// kernelAddress writes an address as the kernel's tables do: words of four bytes in the machine's order, which
// is the smallest byte first on all that Go and assent run on.
func kernelAddress(a netip.AddrPort) string {
	var b strings.Builder
	bytes := a.Addr().Unmap().AsSlice()
	for i := 0; i < len(bytes); i += 4 {
		fmt.Fprintf(&b, "%02X%02X%02X%02X", bytes[i+3], bytes[i+2], bytes[i+1], bytes[i])
	}
	fmt.Fprintf(&b, ":%04X", a.Port())
	return b.String()
}
