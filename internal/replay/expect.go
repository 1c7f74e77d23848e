package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"

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
		out = append(out, Check{Call: x.Call, Want: x.Outcome, Got: answer.Outcome, Why: reason(answer), Source: x.Source})
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
		if _, err := fmt.Fprintln(w, present.SafeLine(fmt.Sprintf("! %s: %s should be %s and is %s%s", c.Source, c.Call, c.Want, c.Got, why))); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d of %d examples are as expected.\n", len(checks)-failed, len(checks))
	return err
}
