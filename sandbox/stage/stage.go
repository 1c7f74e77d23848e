package stage

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// StatusFailed is what the helper ends with if it could not become the program that it was to
// prepare the network for.
const StatusFailed = 125

// A Host is where a command wants to connect to.
type Host struct {
	// Name is the name that the command looked up, in lower case, without a dot at its
	// end. It is empty if the command used an address.
	Name string
	// Addr is the address that the command used, if it looked up no name.
	Addr netip.Addr
	Port uint16
	// Number tells the connections of a network from each other.
	Number int64
	// Program is the name of the program that connects, if it can be found out.
	Program string
	// Command is what [WithCommand] said about the command that connects. It is nil if that
	// said nothing, or if several commands share a network and it was not found out which of
	// them it is.
	Command any
}

type commandKey struct{}

// WithCommand returns a context for the Start of a command. The connections of that command
// then have c as their [Host.Command].
func WithCommand(ctx context.Context, c any) context.Context {
	return context.WithValue(ctx, commandKey{}, c)
}

// Through is a runner whose sandbox can be started through another program.
type Through interface {
	sandbox.Runner
	StartThrough(context.Context, sandbox.Command, launch.Entrance) (sandbox.Process, error)
}

// String is the host and port, as in a URL.
func (h Host) String() string {
	name := h.Name
	if name == "" {
		name = h.Addr.String()
	}
	return net.JoinHostPort(name, strconv.Itoa(int(h.Port)))
}

// A Dial opens a connection for a command, or returns why it may not have it. It may take its
// time, and must return when the context ends: that is when the command's side of the
// connection has gone, or the command has ended.
type Dial func(ctx context.Context, h Host) (net.Conn, error)

// A Connection is one that has ended.
type Connection struct {
	Host Host
	// Sent and Received are the bytes to and from the host.
	Sent, Received int64
	Began          time.Time
	Duration       time.Duration
	// Err is why it was refused or cut, nil if its sides ended it.
	Err error
}

// Options are what a network is made from.
type Options struct {
	// Helper is the command line of a process that calls [Main].
	Helper []string
	// Dial decides about each connection. Nil refuses all.
	Dial Dial
	// Local are ports of this machine's own loopback that commands find on theirs.
	Local []uint16
	// Ports are captured besides the usual ones where the kernel does not let every port be
	// captured.
	Ports []uint16
	// Ended is told of each connection that ended or was refused. May be nil.
	Ended func(Connection)
}

// ProxyVariables are what tells programs to use a proxy at an address of their own loopback.
// Those that do not know them have no network.
func ProxyVariables(address string) map[string]string {
	out := map[string]string{"NO_PROXY": "localhost,127.0.0.1,::1", "no_proxy": "localhost,127.0.0.1,::1"}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY"} {
		out[name] = "http://" + address
		out[strings.ToLower(name)] = "http://" + address
	}
	out["ALL_PROXY"], out["all_proxy"] = "socks5h://"+address, "socks5h://"+address
	return out
}
