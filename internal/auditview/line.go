package auditview

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assent-dev/assent/store"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// Line returns a record in a line: number, time, answer, what, and by what or whom.
func Line(r *approval.Record) string {
	out := []string{
		pad(strconv.FormatInt(r.Seq, 10), 6), r.At.Local().Format(time.DateTime), pad(answer(r), 16), what(&r.Event),
	}
	if by := basis(&r.Event); by != "" {
		out = append(out, "· "+by)
	}
	return present.SafeLine(strings.TrimRight(strings.Join(out, "  "), " "))
}

// answer says how a call was answered, and how it ended if that is not the ordinary way.
func answer(r *approval.Record) string {
	switch {
	case r.Kind == approval.EventPruned:
		return "(pruned)"
	case r.Kind == approval.EventConfined:
		return "(sandbox)"
	case r.Kind == approval.EventUnexpected:
		return "(unexpected)"
	case r.Kind == approval.EventTripped:
		return "(tripped)"
	case r.Kind == approval.EventConnected && r.State.Runs():
		return "(connected)"
	case r.Kind == approval.EventConnected:
		return "(refused)"
	case r.Unended:
		return string(r.State) + " NO END"
	case r.Kind == approval.EventStarted:
		return string(r.State) + " …"
	}
	switch r.Stage {
	case approval.StageFailed, approval.StageCancelled, approval.StageSuspended, approval.StageUnknown:
		return string(r.State) + ", " + string(r.Stage)
	}
	return string(r.State)
}

// what says what a call would do, or at least which tool it is.
func what(e *approval.Event) string {
	if e.Kind == approval.EventPruned {
		return "older records were removed"
	}
	name := policy.Call{Connector: e.Connector, Tool: e.Tool}.Name()
	acts := strings.Join(e.Acts, " + ")
	switch {
	case acts == "":
		return name
	case slices.ContainsFunc(e.Acts, func(a string) bool { return a == name || strings.HasPrefix(a, name+"(") }):
		return acts
	}
	return name + ": " + acts
}

// basis says in a few words by what or whom an answer was given.
func basis(e *approval.Event) string {
	switch {
	case e.Kind == approval.EventConfined, e.Kind == approval.EventUnexpected, e.Kind == approval.EventTripped:
		return e.Why
	case e.Kind == approval.EventConnected:
		return traffic(e)
	case e.Basis != "":
		return e.Basis
	case e.By.User != "" && e.Note != "":
		return e.By.String() + ": " + e.Note
	case e.By.User != "":
		return e.By.String()
	}
	return e.Why
}

// traffic says how much went over a connection, in what time, and by what it was let through or
// why it was refused.
func traffic(e *approval.Event) string {
	var out []string
	if e.State.Runs() {
		took := e.Duration.Round(time.Millisecond)
		out = append(out, fmt.Sprintf("%d bytes sent, %d received, %v", e.Sent, e.Received, took))
		if by := cmp.Or(e.Basis, who(e)); by != "" {
			out = append(out, by)
		}
	}
	if e.Error != "" {
		out = append(out, e.Error)
	}
	return strings.Join(out, "; ")
}

func pad(text string, n int) string {
	if len(text) < n {
		return text + strings.Repeat(" ", n-len(text))
	}
	return text
}

// Record prints a record, as a line or as JSON.
func Record(w io.Writer, r *approval.Record, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintln(w, Line(r))
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// Newest returns so many of the newest records, 0 for all. The starts of calls that have ended are
// left out, unless all are wanted.
func Newest(ctx context.Context, s *store.Store, of approval.RecordFilter, n int, all bool) ([]approval.Record, error) {
	if of.Last = n; !all { // at most every second record is a start that is left out
		of.Last = 2 * n
	}
	var out []approval.Record
	for r, err := range s.Records(ctx, of) {
		if err != nil {
			return nil, err
		}
		if all || r.Kind != approval.EventStarted || r.Unended {
			out = append(out, r)
		}
	}
	if n > 0 && len(out) > n {
		out = out[len(out)-n:]
	}
	return out, nil
}
