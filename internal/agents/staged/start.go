package staged

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// What a keeper that was started says first, on the descriptor [ReadyDescriptor].
const (
	SaysReady     = "ready"
	SaysAnother   = "another"    // the session has one already
	SaysNoSandbox = "no sandbox" // with the reason
	SaysFailed    = "failed"     // with the reason

	ReadyDescriptor = 3
)

// ErrNoSandbox says that no keeper can be started, because nothing would hold commands.
var ErrNoSandbox = errors.New("no sandbox holds commands here")

// Reach connects to the keeper of a key. If there is none it is started: program is its command
// line, which runs in dir.
func Reach(ctx context.Context, state, key, dir string, environ, program []string) (*net.UnixConn, error) {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 200*time.Millisecond) {
		conn, err := Dial(state, key)
		if !Gone(err) {
			return conn, err
		}
		err = start(ctx, state, key, dir, environ, program)
		if err == nil {
			if conn, err := Dial(state, key); !Gone(err) {
				return conn, err
			}
		} else if !errors.Is(err, ErrAnother) {
			return nil, err
		}
		// Another one is about to listen, or to fail, or ends.
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// start starts the keeper and waits until it listens. It is in a session of its own: what ends the
// hook does not end it.
func start(ctx context.Context, state, key, dir string, environ, program []string) error {
	log, err := openIn(Place(state, key), LogName, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	defer log.Close()
	said, says, err := os.Pipe()
	if err != nil {
		return err
	}
	defer said.Close()
	c := exec.Command(program[0], program[1:]...)
	c.Dir, c.Env, c.Stdout, c.Stderr, c.ExtraFiles = dir, environ, log, log, []*os.File{says}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = c.Start()
	says.Close()
	if err != nil {
		return fmt.Errorf("the process that holds commands cannot be started: %w", err)
	}
	go c.Wait() // nobody else does, should it end before this process
	defer context.AfterFunc(ctx, func() { said.Close() })()
	line, err := bufio.NewReader(said).ReadString('\n')
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("the process that holds commands ended at once; %s may say why", log.Name())
	}
	word, why, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
	switch word {
	case SaysReady:
		return nil
	case SaysAnother:
		return ErrAnother
	case SaysNoSandbox:
		return fmt.Errorf("%w: %s", ErrNoSandbox, why)
	}
	return fmt.Errorf("the process that holds commands cannot work: %s", why)
}
