package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
)

// pager returns the command that shows all of a view: $PAGER, else less. It gets safe
// text; colours only in a diff, and only in our own less.
func (w *work) pager(r *approval.Request, view present.View) (*exec.Cmd, error) {
	var cmd *exec.Cmd
	own := strings.TrimSpace(w.cfg.Getenv("PAGER"))
	if own != "" {
		cmd = w.program(own)
	} else if less, err := exec.LookPath("less"); err == nil {
		cmd = w.command(less, "-R")
	} else {
		return nil, errors.New("PAGER is not set and less is not installed")
	}
	cmd.Env = append(os.Environ(), "LESSSECURE=1")
	cmd.Stdout, cmd.Stderr = w.cfg.Out, w.cfg.Out
	style := w.cfg.theme()
	if own != "" {
		style = noStyles
	}
	cmd.Stdin = strings.NewReader(wholeText(r, view, style))
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

// wholeText is all of a request as safe text: why it asks, its acts, its view.
func wholeText(r *approval.Request, view present.View, t theme) string {
	var b strings.Builder
	for _, l := range wholeHead(r) {
		t.paint(&b, l)
		b.WriteByte('\n')
	}
	if facts := factsLine(view.Facts); facts != "" {
		b.WriteString(facts + "\n\n")
	}
	lines := safeLines(view.Content)
	if view.Kind == present.KindDiff && t != noStyles {
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

// wholeHead is what stands above all of a view.
func wholeHead(r *approval.Request) []line {
	lines := []line{text(present.SafeLine(r.Summary)), text("Asks because: " + present.SafeLine(r.Why))}
	for i, t := range actTexts(r) {
		if slices.Contains(r.Open, i) && openWhy(r, i) == r.Why {
			t.verdict = t.verdict[:1] // the reason stands above
		}
		lines = append(lines, slices.Concat(t.act, text("  "), t.verdict))
	}
	return append(lines, nil)
}

// A page is what is shown of a request: rows of at most some width, and what is missing.
type page struct {
	rows []line
	cut  bool // the view is longer than its limit; v shows the rest
	// headOnly says that the view itself has only the head of what it is about.
	headOnly bool
	// head is how many rows say why it asks and which acts do: y is offered when they were shown.
	head int
}

// requestPage lays out a request: what it would do, why it asks, its acts, its view. The
// acts of a command stand below it, each with its own reason: they are its parts. If all of that
// does not fit into the room on the screen, why it asks and which acts do come first.
func requestPage(it *item, limit present.Limit, n, room int) page {
	r := it.request
	summary := wrap(styled(strong, present.SafeLine(r.Summary)), n, nil)
	reason := wrap(line{{"Asks because: ", faint}, {present.SafeLine(r.Why), plain}}, n, nil)
	reason = append(reason, it.about.rows(n)...)
	if r.PersonOnly {
		reason = append(reason, wrap(styled(warn, "Only a person may answer this, each time."), n, nil)...)
	}
	var out page
	shown := wrap(styled(bad, "What it would do cannot be shown: "+errorText(it.err)), n, nil)
	if it.err == nil {
		out = viewRows(it.view, limit, n)
		shown = out.rows
	}
	if it.view.Kind == present.KindCommand {
		out.rows = divided(slices.Concat(summary, reason), shown, actRows(r, n))
		out.head = len(out.rows)
	} else {
		first := slices.Concat(summary, reason, shortActRows(r, n))
		out.rows, out.head = divided(first, shown), len(first)
	}
	if len(out.rows) <= room {
		return out
	}
	short, cut := clipped(summary, maxSummary, n)
	open, cutAct := openRows(r, n, cut)
	first := slices.Concat(short, reason, open)
	var acts []line
	if cutAct || len(r.Open) < len(r.Acts) {
		acts = listed(actTexts(r), n)
	}
	if !cut {
		summary = nil
	}
	out.rows, out.head = divided(first, shown, acts, summary), len(first)
	return out
}

// How many rows a summary and an act may take above the view. All of them is shown below it.
const (
	maxSummary = 3
	maxAct     = 3
)

// clipped returns at most most of the rows, and says in the last one that there is more.
func clipped(rows []line, most, n int) (head []line, cut bool) {
	if len(rows) <= most {
		return rows, false
	}
	note := styled(warn, shorten(fmt.Sprintf("… %d more rows of this are at the end", len(rows)-most+1), n))
	return append(slices.Clone(rows[:most-1]), note), true
}

// divided puts a line across the box between the parts that are not empty.
func divided(parts ...[]line) []line {
	var rows []line
	for _, part := range parts {
		if len(rows) > 0 && len(part) > 0 {
			rows = append(rows, divider)
		}
		rows = append(rows, part...)
	}
	return rows
}

// errorText is an error, safe to show; nothing if there is none.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return present.SafeLine(err.Error())
}

// lentAfter is how long after the end of a pager or editor a Ctrl-C still counts as theirs:
// it may have ended them, and be told to this program only then.
const lentAfter = 250 * time.Millisecond

// loan is the terminal of this process, of which there is one, in other hands.
var loan struct {
	mu    sync.Mutex
	open  int
	ended time.Time // the last one
}

// Lent reports whether a pager or an editor has the terminal. The terminal sends a Ctrl-C to
// every program at it; while this is true it is meant for them, and ends no run.
func Lent() bool {
	loan.mu.Lock()
	defer loan.mu.Unlock()
	return loan.open > 0 || time.Since(loan.ended) < lentAfter
}

// lend gives the terminal away until the function that it returns is called.
func lend() (back func()) {
	loan.mu.Lock()
	defer loan.mu.Unlock()
	loan.open++
	return func() {
		loan.mu.Lock()
		defer loan.mu.Unlock()
		loan.open--
		loan.ended = time.Now()
	}
}

// keepShell is the first line for a shell that runs a pager or an editor: Ctrl-C is theirs,
// and the shell tells how they ended.
const keepShell = "trap : INT\n"

// program returns what a variable such as PAGER says, with further arguments. A shell stands
// between only if it must: it would not hand on that the prompt ends.
func (w *work) program(said string, args ...string) *exec.Cmd {
	if strings.ContainsAny(said, "\"'`\\$|&;<>()*?[]{}#~=!\n") {
		return w.command("sh", append([]string{"-c", keepShell + said + ` "$@"`, "sh"}, args...)...)
	}
	words := strings.Fields(said)
	return w.command(words[0], append(words[1:], args...)...)
}

// command returns a program that has the terminal for itself. When the prompt ends it is
// asked to end, and so can put the terminal back as it was; killed, it could not.
func (w *work) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

// A borrower is a program that has the terminal for itself while it runs. It is what
// bubbletea takes for one.
type borrower struct{ *exec.Cmd }

// Run runs the program.
func (b borrower) Run() error {
	defer lend()()
	return b.Cmd.Run()
}

// SetStdin and the others do nothing: the program has its files already.
func (borrower) SetStdin(io.Reader)  {}
func (borrower) SetStdout(io.Writer) {}
func (borrower) SetStderr(io.Writer) {}
