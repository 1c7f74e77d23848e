package rulebook

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/present"
)

// A Check is an example of a rule file, and what happens to it.
type Check struct {
	Call   string `json:"call"`
	Want   string `json:"want"`
	Got    string `json:"got"`
	Why    string `json:"why,omitempty"`
	Source string `json:"source"`
}

// OK reports whether it happens as expected.
func (c Check) OK() bool { return c.Want == c.Got }

// Expect tries the examples of a file.
func Expect(ctx context.Context, e *explain.Explainer, examples []config.Expectation) []Check {
	out := []Check{}
	for _, x := range examples {
		answer := e.Explain(ctx, explain.Call{Tool: x.Tool, Args: x.Args})
		out = append(out, Check{x.Call, x.Outcome, answer.Outcome, reason(answer), x.Source})
	}
	return out
}

// reason says why a call is answered so; the act that decided may know better.
func reason(a explain.Answer) string {
	for _, act := range a.Acts {
		if a.Error+a.Why == "" && act.Outcome == a.Outcome {
			return act.Why
		}
	}
	return cmp.Or(a.Error, a.Why)
}

// PrintChecks writes the examples that went wrong, and how many there are.
func PrintChecks(w io.Writer, checks []Check) error {
	failed := 0
	for _, c := range checks {
		if c.OK() {
			continue
		}
		failed++
		why := ""
		if c.Why != "" {
			why = ": " + c.Why
		}
		text := fmt.Sprintf("! %s: %s should be %s and is %s%s", c.Source, c.Call, c.Want, c.Got, why)
		if _, err := fmt.Fprintln(w, present.SafeLine(text)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d of %d examples are as expected.\n", len(checks)-failed, len(checks))
	return err
}

// maxLine is the longest call that is read.
const maxLine = 16 << 20

// ReadCalls reads one call a line, {"tool": …, "args": {…}}, as explain takes them; file is
// the name in errors.
func ReadCalls(file string, in io.Reader) ([]explain.Call, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	var out []explain.Call
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		c, err := explain.ParseCall(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		out = append(out, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return out, nil
}

// prepareCase makes a case of a call that nobody has answered.
func prepareCase(ctx context.Context, tools approval.Preparer, c explain.Call) (Case, error) {
	call, err := c.Canonical()
	if err != nil {
		return Case{}, err
	}
	p, err := tools.Prepare(ctx, call)
	return Case{Call: call, Acts: p.Acts}, err
}
