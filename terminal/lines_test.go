package terminal

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/policy"
)

// asksAgain reports whether the last thing on the screen is the sign that waits.
func (x *terminal) asksAgain(sign string) bool {
	shown := strings.TrimRight(x.screen.String(), "\n ─┘")
	return strings.HasSuffix(shown, sign)
}

// S24 No stolen keys.
func TestNoStolenKeys_HalfALineBeforeThePromptIsNoAnswer(t *testing.T) {
	x := run(t, "one", 80, 24, "TERM=dumb")
	x.types("yes") // before anything is on the screen, and without its end
	x.sees("Write notes/one", "answer>")
	x.types("\n")
	x.until("a second sign", func() bool { return strings.Count(x.screen.String(), "answer>") == 2 })
	x.types("no\n\n\n")
	x.ends(0, "one denied")
}

// S24 No stolen keys.
func TestNoStolenKeys_ALineForAWithdrawnPromptAnswersNoOther(t *testing.T) {
	x := run(t, "one two", 80, 24, "TERM=dumb")
	x.sees("Write notes/one", "answer>")
	x.types("yes")
	x.sees("answer> yes")
	if err := x.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	x.sees("denied by bob", "Write notes/two")
	x.until("the second question", func() bool { return x.asksAgain("answer>") })
	x.types("\n")
	x.sees("That line was typed for another request: nothing was answered.")
	x.until("the second question again", func() bool { return x.asksAgain("answer>") })
	x.types("no\n\n\n")
	x.ends(0, "one denied", "two denied")
}

// In a pipe nothing can be forgotten, so the line itself must be known to be another's.
func TestALineFromAPipeForAWithdrawnPrompt(t *testing.T) {
	in, keys := pipe(t)
	shown, out := pipe(t)
	a := NewWith(Config{In: in, Out: out, Quiet: -1})
	asks := func(ctx context.Context, name string) (*fixture, chan struct{}) {
		f, done := newFixture(t, name), make(chan struct{})
		go func() {
			defer close(done)
			_ = a.ApproveBatch(ctx, f.batch)
		}()
		readUntil(t, shown, "answer> ")
		return f, done
	}
	ctx, withdraw := context.WithCancel(t.Context())
	_, done := asks(ctx, "one")
	withdraw()
	<-done
	f, done := asks(t.Context(), "two")
	write(t, keys, "yes\n")
	readUntil(t, shown, "nothing was answered")
	if got := f.state(0); got != policy.StatePending {
		t.Fatalf("it is %s", got)
	}
	readUntil(t, shown, "answer> ")
	write(t, keys, "yes\n")
	readUntil(t, shown, "✓ approved")
	<-done
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	if err := r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return r, w
}

func write(t *testing.T, f *os.File, s string) {
	t.Helper()
	if _, err := f.WriteString(s); err != nil {
		t.Fatal(err)
	}
}

// readUntil reads up to the text, byte by byte.
func readUntil(t *testing.T, f *os.File, text string) {
	t.Helper()
	var got strings.Builder
	b := make([]byte, 1)
	for !strings.HasSuffix(got.String(), text) {
		if _, err := f.Read(b); err != nil {
			t.Fatalf("%v after %q", err, got.String())
		}
		got.Write(b)
	}
}
