package term

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/assent-dev/assent/present"
)

// pager returns the command that shows all of a view: $PAGER, else less. It gets safe
// text; colours only in a diff, and only in our own less.
func (w *work) pager(view present.View) (*exec.Cmd, error) {
	var cmd *exec.Cmd
	own := w.cfg.Getenv("PAGER")
	if own != "" {
		cmd = w.command("sh", "-c", own)
	} else if less, err := exec.LookPath("less"); err == nil {
		cmd = w.command(less, "-R")
	} else {
		return nil, errors.New("PAGER is not set and there is no less")
	}
	cmd.Env = append(os.Environ(), "LESSSECURE=1")
	cmd.Stdout, cmd.Stderr = w.cfg.Out, w.cfg.Out
	style := w.cfg.theme()
	if own != "" {
		style = noStyles
	}
	cmd.Stdin = strings.NewReader(wholeText(view, style))
	return cmd, nil
}

// command returns a program that has the terminal for itself. When the prompt ends it is
// asked to end, and so can put the terminal back as it was; killed, it could not.
func (w *work) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

// wholeText is all of a view as safe text.
func wholeText(view present.View, t theme) string {
	var b strings.Builder
	if facts := factsLine(view.Facts); facts != "" {
		b.WriteString(facts + "\n\n")
	}
	lines := safeLines(view.Content)
	if view.Kind == present.Diff && t != noStyles {
		lines = diffLines(view.Content, view.Content)
	}
	for _, l := range lines {
		t.paint(&b, l)
		b.WriteByte('\n')
	}
	return b.String()
}
