package runner_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/assent-dev/assent/tool/shell/runner"
)

// A writerFunc is somebody who the output is handed to.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Who reads slowly gets all of it, and nothing is said to have kept the output open.
func TestSlowReader(t *testing.T) {
	c := command(t, "printf first; head -c 59995 /dev/zero")
	n, first := 0, true
	c.Stdout = writerFunc(func(p []byte) (int, error) {
		if first {
			<-time.After(time.Second) // longer than output is waited for once the command has ended
		}
		n, first = n+len(p), false
		return len(p), nil
	})
	if r := run(t, c); n != 60000 || r.Background {
		t.Errorf("%d bytes, %+v", n, r)
	}
}

// A command whose output nobody takes any more learns it where it prints.
func TestReaderThatIsGone(t *testing.T) {
	c := command(t, "yes; echo $? >&2")
	c.Stdout = writerFunc(func([]byte) (int, error) { return 0, errors.New("gone") })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := runner.Run(ctx, c.Command, c.Options)
	if err != nil || r.Ending != runner.Exited || r.Stderr.Text != "141\n" {
		t.Errorf("%v %+v", err, r)
	}
}

// A reader who never reads does not keep a command that is ended.
func TestReaderThatNeverReads(t *testing.T) {
	c := command(t, "yes")
	ctx, cancel := context.WithCancel(t.Context())
	released := make(chan struct{})
	defer close(released)
	c.Stdout = writerFunc(func([]byte) (int, error) {
		cancel()
		<-released
		return 0, errors.New("late")
	})
	ended := make(chan runner.Result, 1)
	go func() {
		r, _ := runner.Run(ctx, c.Command, c.Options)
		ended <- r
	}()
	select {
	case r := <-ended:
		if r.Ending != runner.Cancelled {
			t.Errorf("%+v", r)
		}
	case <-time.After(20 * time.Second):
		t.Error("it does not end")
	}
}
