package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// Attend asks what lies in an inbox and waits for more, until ctx is done, the inbox fails
// or the person leaves. Leaving answers nothing; the error then matches [ErrInterrupted].
func (a *Approver) Attend(ctx context.Context, in Inbox) error {
	select {
	case a.screen <- struct{}{}:
		defer func() { <-a.screen }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for {
		if err := a.awaitQuestion(ctx, in); err != nil {
			return err
		}
		how, err := a.prompt(ctx, in)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case how.interrupted:
			return fmt.Errorf("%w: %s", ErrInterrupted, how.note)
		}
	}
}

// awaitQuestion shows the quiet line until something waits.
func (a *Approver) awaitQuestion(ctx context.Context, in Inbox) error {
	changed, stop := in.Watch()
	defer stop()
	quiet := a.newQuietLine()
	defer quiet.close()
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	for {
		waits := len(in.Pending()) > 0
		if err := in.Err(); err != nil || waits {
			return err
		}
		if err := quiet.show(in.Quiet()); err != nil {
			return fmt.Errorf("%w: %w", ErrInterrupted, err)
		}
		select {
		case <-changed:
		case <-resized:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// A quietLine is the line of an inbox in which nothing waits. On a terminal that is drawn
// it is taken away afterwards, and what is typed meanwhile does not show.
type quietLine struct {
	cfg   *Config
	drawn bool
	found *term.State // how the terminal was set
	last  string
}

func (a *Approver) newQuietLine() *quietLine {
	q := &quietLine{cfg: &a.cfg, drawn: a.cfg.drawn()}
	if !q.drawn {
		return q
	}
	found, err := term.GetState(q.cfg.In.Fd())
	if err != nil {
		return q
	}
	silent := *found
	silent.Lflag &^= unix.ECHO
	if term.SetState(q.cfg.In.Fd(), &silent) == nil {
		q.found = found
	}
	return q
}

// show shows the line, if it says something new.
func (q *quietLine) show(parts []string) (err error) {
	columns := 80
	if n, _, err := term.GetSize(q.cfg.Out.Fd()); err == nil && n > 0 {
		columns = n
	}
	shown := q.cfg.theme().painted([]line{quietText(parts, columns-1)})
	if shown == q.last {
		return nil
	}
	q.last = shown
	if q.drawn {
		shown = "\r\x1b[K" + shown
	} else {
		shown += "\n"
	}
	_, err = io.WriteString(q.cfg.Out, shown)
	return err
}

// close takes the line away, and forgets what was typed while nothing was asked.
func (q *quietLine) close() {
	if q.drawn {
		io.WriteString(q.cfg.Out, "\r\x1b[K")
	}
	if q.found != nil {
		_ = flushInput(q.cfg.In) // what nobody asked for
		term.Restore(q.cfg.In.Fd(), q.found)
	}
}

// quietText is as many of the parts as fit into n cells, at least some of the first.
func quietText(parts []string, n int) line {
	var l line
	for i, part := range parts {
		if i == 0 {
			l = styled(faint, shorten(part, n))
		} else if more := " · " + part; l.width()+width(more) <= n {
			l = append(l, seg{more, faint})
		}
	}
	return l
}
