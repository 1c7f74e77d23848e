package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
)

// A printer shows a run as lines of text. Everything that it prints is made safe.
type printer struct{ out io.Writer }

func (p printer) line(format string, args ...any) {
	fmt.Fprintln(p.out, strings.TrimRight(shownText(fmt.Sprintf(format, args...)), " "))
}

// shownText is text of others as it may be printed: what would act on a terminal is made
// visible, and a tab, which moves its cursor, is spaces.
func shownText(text string) string { return strings.ReplaceAll(present.Safe(text), "\t", "    ") }

// Text implements [worker.Watcher].
func (p printer) Text(text string) { p.line("\nagent: %s", text) }

// Results implements [worker.Watcher].
func (p printer) Results(results []tool.Result) {
	for _, r := range results {
		mark := "✓"
		if r.Err != nil {
			mark = "✗"
		}
		p.line("  %s %s: %s", mark, r.Tool, r.Outcome.State)
		for _, l := range firstLines(r.Text, 3) {
			p.line("      %s", l)
		}
	}
}

// firstLines returns the beginning of a text and says how much is missing.
func firstLines(text string, n int) []string {
	cut := present.View{Kind: present.Text, Content: strings.TrimSpace(text)}.Cut(present.Limit{Lines: n, Chars: 400})
	lines := strings.Split(strings.TrimSuffix(cut.View.Content, "\n"), "\n")
	if note := cut.Note(); note != "" {
		lines = append(lines, note)
	}
	return lines
}

// summary lists what was decided, and why.
func (p printer) summary(events []approval.Event) {
	p.line("\nWhat was decided, and why:")
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, e := range events {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", present.SafeLine(eventName(e)), e.State, present.SafeLine(reason(e)+changed(e)))
	}
	w.Flush()
	fmt.Fprint(p.out, b.String())
}

// eventName says what a call would do, or at least which tool it is.
func eventName(e approval.Event) string {
	if len(e.Acts) > 0 {
		return strings.Join(e.Acts, " + ")
	}
	return e.Tool
}

// reason says in a few words by what an answer was given.
func reason(e approval.Event) string {
	switch {
	case e.Basis != "":
		return e.Basis
	case e.Note != "":
		return fmt.Sprintf("%s: %s", e.By, e.Note)
	case e.By.User != "":
		return e.By.String()
	case e.Why != "":
		return e.Why
	case e.State == approval.FreeToRun:
		return "nothing asks"
	}
	return ""
}

// changed says that a person changed the call: the log has the digests of both.
func changed(e approval.Event) string {
	if e.OriginalDigest == (approval.Digest{}) {
		return ""
	}
	return ", after changing the arguments"
}
