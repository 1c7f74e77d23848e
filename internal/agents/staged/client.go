package staged

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// NotRun is the exit status of a command that did not run.
const NotRun = 125

// request sends one message and returns the answer. It ends with the context.
func request(ctx context.Context, conn *net.UnixConn, m Message) (Message, error) {
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	m.Version = Version
	if err := Write(conn, m); err != nil {
		return Message{}, err
	}
	answer, err := Read(conn)
	switch {
	case ctx.Err() != nil:
		return answer, context.Cause(ctx)
	case errors.Is(err, io.EOF):
		return answer, errors.New("it ended without an answer")
	case err == nil && answer.Error != "":
		return answer, errors.New(answer.Error)
	}
	return answer, err
}

// Ask has a keeper judge a command.
func Ask(ctx context.Context, conn *net.UnixConn, q Question) (Verdict, error) {
	answer, err := request(ctx, conn, Message{Ask: &q})
	if err == nil && answer.Verdict == nil {
		err = errors.New("it gave no verdict")
	}
	if err != nil {
		return Verdict{}, fmt.Errorf("the process that holds the commands of this session: %w", err)
	}
	return *answer.Verdict, nil
}

// Leave ends the keeper of a key, if there is one.
func Leave(ctx context.Context, state, key string) error {
	conn, err := Dial(state, key)
	if Gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = request(ctx, conn, Message{Leave: true})
	return err
}

// Folder prints the folder that the command of a token went to, for the agent's own shell.
func Folder(state, token string, stdout, stderr io.Writer) int {
	conn, err := dialToken(state, token)
	if err == nil {
		defer conn.Close()
		var answer Message
		if answer, err = request(context.Background(), conn, Message{Folder: token}); err == nil {
			_, err = fmt.Fprintln(stdout, answer.Folder)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "assent: the folder is not known: %v\n", err)
		return NotRun
	}
	return 0
}

func dialToken(state, token string) (*net.UnixConn, error) {
	key, err := keyOf(token)
	if err != nil {
		return nil, err
	}
	conn, err := Dial(state, key)
	switch {
	case Gone(err):
		return nil, errors.New("what was judged for it has ended with its session; try the command again")
	case errors.Is(err, syscall.EPERM):
		return nil, errors.New("another sandbox keeps this process from assent's own; turn that sandbox off, " +
			"as assent has one, or set hook.shell to judge in config.yaml")
	}
	return conn, err
}

// Run has the command of a token run, with the output of this process, and returns its exit
// status. If anything is wrong nothing runs.
func Run(state, token string, stdout, stderr *os.File) int {
	status, err := run(state, token, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "assent: the command was not run: %v\n", err)
		return NotRun
	}
	return status
}

func run(state, token string, stdout, stderr *os.File) (int, error) {
	conn, err := dialToken(state, token)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	// Before the command runs: from then on a signal is the command's.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
		syscall.SIGUSR2)
	data, err := encode(Message{Version: Version, Run: token})
	if err != nil {
		return 0, err
	}
	rights := unix.UnixRights(int(stdout.Fd()), int(stderr.Fd()))
	if _, _, err := conn.WriteMsgUnix(data, rights, nil); err != nil {
		return 0, err
	}
	go func() {
		for s := range signals {
			_ = Write(conn, Message{Signal: int(s.(syscall.Signal))}) // it has ended
		}
	}()
	answer, err := Read(conn)
	switch {
	case err == nil && answer.Error != "":
		return 0, errors.New(answer.Error)
	case err != nil || answer.Ended == nil:
		fmt.Fprintln(stderr, "assent: the process that held the command has ended, and the command with it; "+
			"'assent audit' has what is known")
		return NotRun, nil
	}
	if answer.Ended.Note != "" {
		fmt.Fprintln(stderr, answer.Ended.Note)
	}
	return answer.Ended.Status, nil
}

// What a keeper that was started says first, on the descriptor [ReadyDescriptor].
const (
	SaysReady     = "ready"
	SaysAnother   = "another"    // the session has one already
	SaysNoSandbox = "no sandbox" // with the reason
	SaysFailed    = "failed"     // with the reason

	ReadyDescriptor = 3
)

// ErrNoSandbox says that no keeper can be started, because nothing would hold commands.
var ErrNoSandbox = errors.New("no sandbox for commands works here")

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
