package runner

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Result is how a command ended and what it said.
type Result struct {
	// Ending says what ended it.
	Ending Ending
	// ExitCode is that of the shell; 128 and the signal's number if a signal ended it.
	ExitCode int
	// Signal is the name of the signal that ended the shell itself; empty for none.
	Signal string
	// Dir is the folder that the shell was in when the text ended; empty if that is not known.
	Dir string
	// Stdout and Stderr are what it said.
	Stdout, Stderr Output
	// File is where all output is, if that was asked for.
	File string
	// Background says that a process which the command started still holds its
	// output open; what it says from now on is not seen.
	Background bool
	// Left are the processes that it left in the background when it ended by itself, in
	// the words of [launch.LeftBehind], as far as they are known (on Linux). In a sandbox
	// they were ended, unless Running says otherwise; without one they still run.
	Left string
	// Running is what goes on in its sandbox, in the background; nil if nothing does.
	Running *Running
	// Stopped is why the shell ended the command before its end, if it did: something
	// that it was about to do was refused, or it met what it cannot interpret.
	Stopped string
	// Unseen is why it is not known how it ended.
	Unseen error
	// Duration is how long it ran.
	Duration time.Duration
}

// A Running is what a command left in the background of its sandbox.
type Running struct{ process *process }

// End ends it and returns when it is gone.
func (r *Running) End() {
	r.process.body.signal(unix.SIGKILL)
	<-r.process.exited
}

// Gone is closed when it has ended.
func (r *Running) Gone() <-chan struct{} { return r.process.exited }

// An Output is what is kept of one stream.
type Output struct {
	// Text is the stream; its beginning and its end if it is too long, with a line
	// between them that says how much is left out.
	Text string
	// Bytes is how long the stream was.
	Bytes int64
	// Truncated says that Text is not all of it.
	Truncated bool
}

// An Ending is what ended a command.
type Ending int

// The endings.
const (
	Exited     Ending = iota + 1 // it ended by itself
	TimedOut                     // its time ran out
	Cancelled                    // the context was cancelled
	TooMuch                      // its output outgrew the file, or its limit
	FileFailed                   // its output could not be written to the file
	TooLarge                     // it wrote a file beyond the sandbox's size limit
	Lost                         // its sandbox did not see how it ended
)

// Problem says in words how the command failed, and is empty if it did not. It is for
// the model and the person, who see the output beside it.
func (r Result) Problem() string {
	switch r.Ending {
	case Exited:
		return exitProblem(r.ExitCode)
	case TimedOut:
		return fmt.Sprintf("ended after %v: its time ran out", r.Duration.Round(time.Millisecond))
	case Cancelled:
		return "ended: the call was cancelled"
	case TooMuch:
		if r.File == "" {
			return "ended: it printed too much"
		}
		return "ended: it printed more than may be kept in " + r.File
	case FileFailed:
		return "ended: its output could not be written to " + r.File
	case TooLarge:
		return "ended: it wrote a file larger than the sandbox's limit"
	case Lost:
		return fmt.Sprintf("it is not known how it ended: %v", r.Unseen)
	}
	return "did not run"
}

func exitProblem(code int) string {
	switch {
	case code == 0:
		return ""
	case code == 126:
		return "exit code 126: found, but cannot be executed"
	case code == 127:
		return "exit code 127: not found"
	case code > 128 && unix.SignalName(syscall.Signal(code-128)) != "":
		return fmt.Sprintf("exit code %d: ended by %s", code, unix.SignalName(syscall.Signal(code-128)))
	}
	return fmt.Sprintf("exit code %d", code)
}
