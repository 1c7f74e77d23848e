package staged

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

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
		return nil, errors.New("another sandbox keeps this process from assent's own; turn that sandbox off, as assent has one, or set hook.shell to judge in config.yaml")
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
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
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
		fmt.Fprintln(stderr, "assent: the process that held the command has ended, and the command with it; 'assent audit' has what is known")
		return NotRun, nil
	}
	if answer.Ended.Note != "" {
		fmt.Fprintln(stderr, answer.Ended.Note)
	}
	return answer.Ended.Status, nil
}
