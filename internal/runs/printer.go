package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/terminal"
	"github.com/assent-dev/assent/tool"
)

// A Printer shows a run as lines of text. Everything that it prints is made safe.
type Printer struct {
	out     io.Writer
	columns int // where prose is broken; 0 for nowhere
}

// NewPrinter returns a printer that breaks prose at the edge of a terminal.
func NewPrinter(out io.Writer) Printer {
	p := Printer{out: out}
	if f, ok := out.(*os.File); ok {
		p.columns = max(terminal.Columns(f)-1, 0)
	}
	return p
}

// Prose prints text that may be broken. Further lines are indented, so that nobody can write
// what looks like a line of ours.
func (p Printer) Prose(first, indent, text string) {
	fmt.Fprintln(p.out, terminal.Prose(first+text, p.columns, indent))
}

// Line prints a line.
func (p Printer) Line(format string, args ...any) {
	fmt.Fprintln(p.out, strings.TrimRight(printable(fmt.Sprintf(format, args...)), " "))
}

// printable is text of others as it may be printed: what would act on a terminal is made
// visible, and a tab, which moves its cursor, is spaces.
func printable(text string) string { return strings.ReplaceAll(present.Safe(text), "\t", "    ") }

// Text implements [worker.Listener] for a model that says a turn in one piece.
func (p Printer) Text(text string) {
	p.Line("")
	p.Prose("agent: ", "       ", text)
}

// Again implements [worker.Listener].
func (p Printer) Again(time.Duration, error) {}

// Turn implements [worker.Watcher]. What was said is printed already.
func (p Printer) Turn(worker.Turn) {}

// Results implements [worker.Watcher].
func (p Printer) Results(results []tool.Result) {
	for _, r := range results {
		p.Line("  %s %s: %s", mark(r.Err == nil), present.SafeLine(r.Tool), r.Outcome.State)
		for _, l := range firstLines(briefResult(r.Text), maxResult) {
			p.Prose("      ", "      ", l)
		}
	}
}

// maxResult is how many lines of a result are shown; the model gets all of it.
const maxResult = 10

func mark(good bool) string {
	if good {
		return "✓"
	}
	return "✗"
}

// firstLines returns the beginning of a text and says how much is missing.
func firstLines(text string, n int) []string {
	whole := present.View{Kind: present.KindText, Content: strings.TrimSpace(text)}
	cut := whole.Cut(present.Limit{Lines: n, Chars: 1000})
	lines := strings.Split(strings.TrimSuffix(cut.View.Content, "\n"), "\n")
	if note := cut.Note(); note != "" {
		lines = append(lines, note)
	}
	return lines
}

// Summary lists what was decided, and why.
func (p Printer) Summary(events []approval.Event) {
	p.Line("\nWhat was decided, and why:")
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, e := range events {
		done := mark(e.Stage == approval.StageCompleted)
		fmt.Fprintf(w, "  %s %s\t%s\n", done, present.SafeLine(eventName(e)), present.SafeLine(ending(e)))
	}
	w.Flush()
	rows := strings.SplitAfter(b.String(), "\n")
	for i, e := range events {
		fmt.Fprint(p.out, rows[i])
		if why := reason(e) + changed(e); why != "" {
			p.Prose("      ", "      ", present.SafeLine(why))
		}
	}
}

// eventName says what a call would do, or at least which tool it is.
func eventName(e approval.Event) string {
	if len(e.Acts) > 0 {
		return strings.Join(e.Acts, " + ")
	}
	return e.Tool
}

// ending says how a call was answered and, if it ran and failed, that.
func ending(e approval.Event) string {
	switch e.Stage {
	case approval.StageFailed, approval.StageCancelled:
		return string(e.State) + ", " + string(e.Stage)
	}
	return string(e.State)
}

// reason says in a few words by what an answer was given; nothing if none was needed.
func reason(e approval.Event) string {
	switch {
	case e.Basis != "":
		return e.Basis
	case e.Note != "":
		return fmt.Sprintf("%s: %s", e.By, e.Note)
	case e.By.User != "":
		return e.By.String()
	}
	return e.Why
}

// changed says that a person changed the call: the log has the digests of both.
func changed(e approval.Event) string {
	if e.OriginalDigest == (policy.Digest{}) {
		return ""
	}
	return ", after changing the arguments"
}

// InOrder returns how each call of the steps ended, in the model's order: a denial is
// recorded before the calls beside it have run.
func InOrder(events []approval.Event, steps []worker.Step) []approval.Event {
	rest := slices.Clone(events)
	var out []approval.Event
	for _, s := range steps {
		for _, r := range s.Results {
			i := slices.IndexFunc(rest, func(e approval.Event) bool { return e.CallID == r.ID })
			if i >= 0 {
				out = append(out, rest[i])
				rest = slices.Delete(rest, i, i+1)
			}
		}
	}
	return append(out, rest...)
}

// briefResult is what a tool gave the model, for a person: an object in JSON as its members
// that say something, those with lines of text below the others; everything else as it is.
func briefResult(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return text
	}
	var parts, below []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return text
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return text
		}
		label := present.SafeLine(name.(string)) + ":"
		if lines, ok := textLines(value); ok {
			below = append(below, label, lines)
		} else if v := briefValue(value); v != "" {
			parts = append(parts, label+" "+v)
		}
	}
	if _, err := d.Token(); err != nil || d.More() || len(parts)+len(below) == 0 {
		return text
	}
	if len(parts) > 0 {
		below = append([]string{strings.Join(parts, " · ")}, below...)
	}
	return strings.Join(below, "\n")
}

// textLines returns a string of more than one line.
func textLines(value json.RawMessage) (lines string, ok bool) {
	if json.Unmarshal(value, &lines) != nil {
		return "", false
	}
	lines = strings.TrimRight(lines, "\r\n")
	return lines, strings.Contains(lines, "\n")
}

// briefValue is a value on one line; nothing for what is empty, zero or false.
func briefValue(value json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		var parts []string
		for _, v := range list {
			parts = append(parts, briefValue(v))
		}
		return strings.Join(parts, ", ")
	}
	var s string
	if json.Unmarshal(value, &s) == nil {
		return present.SafeLine(strings.TrimRight(s, "\r\n"))
	}
	switch b := bytes.TrimSpace(value); string(b) {
	case "false", "null", "0", "{}":
		return ""
	default:
		return present.SafeLine(string(b))
	}
}
