package detect

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/rpc"
)

// testTime is how long the self-test may take.
const testTime = 10 * time.Second

// settings are kernel settings that turn root, without capabilities, into root of the host.
var settings = []string{"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger"}

// secrets are files that most hosts have and no profile shows by itself.
var secrets = []string{"/etc/machine-id", "/etc/hostname", "/etc/fstab", "/etc/shadow"}

// selfTest starts the copy inside and returns what it tried, and what it could do that it must
// not. Said is what was printed on standard error.
func selfTest(ctx context.Context, r sandbox.Runner, serve []string,
	p sandbox.Profile) (tried attempts, breaches []string, said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	p.Limits.Time, p.Limits.Output = 0, 0 // they are for the command that comes later
	host, err := newHostSide(p)
	if err != nil {
		return tried, nil, "", err
	}
	defer host.close()
	var stderr bytes.Buffer
	client, err := rpc.Start(ctx, r, sandbox.Command{
		Argv: serve, Dir: "/", Env: []string{"HOME=/tmp"}, Stderr: &stderr, Profile: rpc.Visible(p, serve[0]),
	})
	if err != nil {
		return tried, nil, stderr.String(), err
	}
	_, err = client.Call(ctx, callAttempt, host.attempts, nil, &breaches)
	if closeErr := client.Close(); err == nil && closeErr != nil {
		err = closeErr
	}
	return host.attempts, append(breaches, host.breaches()...), stderr.String(), err
}

// A hostSide is what the self-test aims at, outside.
type hostSide struct {
	attempts  attempts
	listeners []net.Listener
}

func newHostSide(p sandbox.Profile) (*hostSide, error) {
	h := &hostSide{attempts: aims(p)}
	return h, h.listen()
}

// aims are what the self-test of a profile tries. What is to be connected to is only named.
func aims(p sandbox.Profile) attempts {
	a := attempts{
		Read:     []string{fmt.Sprintf("/proc/%d/environ", os.Getpid())},
		Mount:    "/usr",
		Settings: settings,
	}
	name := ".assent-self-test-" + rand.Text()
	for _, dir := range []string{"/", "/etc", "/var/tmp", os.TempDir(), os.Getenv("HOME")} {
		if filepath.IsAbs(dir) && p.At(filepath.Clean(dir)) == sandbox.ModeHidden {
			a.Write = append(a.Write, filepath.Join(dir, name))
		}
	}
	for _, file := range secrets {
		if p.At(file) == sandbox.ModeHidden {
			a.Read = append(a.Read, file)
		}
	}
	if !p.Network.On {
		a.Address = "127.0.0.1:0"
	}
	if len(p.Sockets) == 0 || !p.Network.On {
		a.Abstract = "@" + name
	}
	return a
}

// listen opens what the copy inside must not be able to connect to.
func (h *hostSide) listen() error {
	if h.attempts.Address != "" {
		l, err := net.Listen("tcp", h.attempts.Address)
		if err != nil {
			return fmt.Errorf("preparing the self-test: %w", err)
		}
		h.listeners = append(h.listeners, l)
		h.attempts.Address = l.Addr().String()
	}
	if h.attempts.Abstract == "" {
		return nil
	}
	if l, err := net.Listen("unix", h.attempts.Abstract); err == nil {
		h.listeners = append(h.listeners, l)
	} else {
		h.attempts.Abstract = ""
	}
	return nil
}

// breaches are the files that were made outside.
func (h *hostSide) breaches() []string {
	var found []string
	for _, file := range h.attempts.Write {
		if _, err := os.Lstat(file); err == nil {
			os.Remove(file)
			found = append(found, "it wrote "+file)
		}
	}
	return found
}

func (h *hostSide) close() {
	for _, l := range h.listeners {
		io.Closer(l).Close()
	}
}

// failed is the problem of a runner that let something through.
func failed(breaches []string) *sandbox.Problem {
	return &sandbox.Problem{
		Detail: strings.Join(breaches, "; "),
		Cause:  "it does not hold: a process inside did what must fail",
		Remedy: "do not rely on it; please report this with the output of 'assent sandbox doctor'",
	}
}
