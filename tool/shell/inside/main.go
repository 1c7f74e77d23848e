package inside

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/sandbox/prelude"
	"github.com/assent-dev/assent/tool/shell/interp"
	"github.com/assent-dev/assent/tool/shell/wire"
)

// grace is how long programs have to end after SIGTERM, once a command was refused.
const grace = 500 * time.Millisecond

// StatusFailed is the exit status of a shell that could not begin.
const StatusFailed = 125

// Main is the program: it finds the gate on its standard input, runs what that orders, and
// returns the exit status. Its arguments are those of a prelude, or none.
func Main(args []string, stderr io.Writer) int {
	wait, err := prelude.Enter(args)
	if err == nil {
		var conn *os.File
		if conn, err = takeInput(); err == nil {
			var status int
			if status, err = serve(conn, wait); err == nil {
				return status
			}
		}
	}
	fmt.Fprintf(stderr, "assent: the shell cannot run the command: %v\n", err)
	return StatusFailed
}

// serve runs one order, once the sandbox stands.
func serve(conn *os.File, stands func() error) (int, error) {
	message, err := wire.Read(conn)
	if err != nil {
		return 0, fmt.Errorf("reading what to run: %w", err)
	}
	order, ok := message.(wire.Order)
	if !ok {
		return 0, fmt.Errorf("a %T came where what to run should", message)
	}
	file, err := Parse(order.Text)
	if err != nil {
		return 0, err
	}
	if order.Proxy != "" {
		if err := handOut(conn, order.Proxy); err != nil {
			return 0, fmt.Errorf("making the proxy's listener: %w", err)
		}
	}
	gate := newGate(conn, order)
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	r, err := interp.New(interp.Config{
		Dir: order.Dir, Text: order.Text, Env: order.Env, Handlers: gate.handlers(),
		Stdin: null, Stdout: os.Stdout, Stderr: os.Stderr,
	})
	if err != nil {
		return 0, err
	}
	if err := stands(); err != nil {
		return 0, err
	}
	go gate.listen(r)
	stop := relay(r)
	status, err := r.Run(context.Background(), file)
	if r.Signalled() {
		stop() // a signal to the whole group may be on its way
	}
	end := wire.End{Status: status, Dir: r.Dir()}
	switch {
	case err != nil:
		end.Why = err.Error()
		r.Terminate(grace)
	case r.Lingers():
		end.Stays, end.Left = order.Stay, []string{"shell"}
	}
	if err == nil && order.Stay && order.Whole {
		for _, ch := range r.Children() {
			end.Stays, end.Left = true, append(end.Left, filepath.Base(ch.Args[0]))
		}
	}
	_ = gate.send(end) // nobody listens any more: then the exit status says it
	if end.Stays {
		for _, f := range []*os.File{os.Stdout, os.Stderr} {
			f.Close() // what runs in the background has copies, if it needs them
		}
		r.Wait()
	}
	if sig := r.Killed(); sig != 0 && err == nil { // as bash ends, so that others see the signal
		signal.Reset(sig)
		_ = syscall.Kill(os.Getpid(), sig)
		time.Sleep(time.Second) // it arrives before that
	}
	return status, nil
}

// Parse reads a text as the judgement did.
func Parse(text string) (*syntax.File, error) {
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
}

// Unsupported names what of a text this shell cannot interpret; empty if it can all of it.
func Unsupported(text string) string {
	file, err := Parse(text)
	if err != nil {
		return "a text that cannot be read"
	}
	return interp.Unsupported(file)
}

// relay hands signals to the shell as if its process were bash.
func relay(r *interp.Runner) (stop func()) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
		syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGXFSZ)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for s := range signals {
			r.Signal(s.(syscall.Signal))
		}
	}()
	return func() {
		signal.Stop(signals) // those on the way have arrived
		close(signals)
		<-done
	}
}

var errGone = errors.New("the gate outside is gone")

// handOut listens on the loopback inside and gives the listener to the gate's side, which
// serves it from outside. Nothing of it stays here.
func handOut(conn *os.File, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer f.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	rights := unix.UnixRights(int(f.Fd()))
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		failed = unix.Sendmsg(int(fd), []byte{0}, rights, nil, 0)
		return !errors.Is(failed, unix.EAGAIN)
	})
	return errors.Join(err, failed)
}

// movers are the builtins that change the folder, or that run what may.
var movers = []string{"cd", "pushd", "popd", "eval", "source", ".", "command", "builtin", "trap"}

// Moves reports whether a shell that has run the text may be in another folder than before.
func Moves(file *syntax.File) bool {
	moves := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			name := call.Args[0].Lit()
			moves = moves || name == "" || slices.Contains(movers, name)
		}
		return !moves
	})
	return moves
}
