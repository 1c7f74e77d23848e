package terminal

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/assent-dev/assent/present"
)

// pager returns the command that shows all of a view: $PAGER, else less. It gets safe
// text; colours only in a diff, and only in our own less.
func (w *work) pager(view present.View) (*exec.Cmd, error) {
	var cmd *exec.Cmd
	own := strings.TrimSpace(w.cfg.Getenv("PAGER"))
	if own != "" {
		cmd = w.program(own)
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

// interrupted reports whether Ctrl-C ended a program; a shell says so with 130.
func interrupted(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGINT || exit.ExitCode() == 128+int(syscall.SIGINT)
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
	if view.Original != "" {
		lines = append(append(lines, nil, text(originalLabel)), safeLines(view.Original)...)
	}
	for _, l := range lines {
		t.paint(&b, l)
		b.WriteByte('\n')
	}
	return b.String()
}
