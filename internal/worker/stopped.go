package worker

import (
	"fmt"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// A StoppedError says which answer ended a run.
type StoppedError struct {
	Tool  string
	Acts  []string // what the call would have done
	State policy.State
	Note  string
	// Repeated says that the same call was refused too often in a row.
	Repeated bool
}

func (e *StoppedError) Error() string {
	text := "the run was stopped: " + e.Tool
	if len(e.Acts) > 0 {
		text += fmt.Sprintf(" (%s)", strings.Join(e.Acts, " + "))
	}
	text += fmt.Sprintf(" was %s", e.State)
	if e.Repeated {
		text += fmt.Sprintf(" %d times in a row, and the model wants nothing else", maxRefused)
	}
	if e.Note != "" {
		text += ": " + e.Note
	}
	return text
}

func stoppedBy(res tool.Result) *StoppedError {
	o := res.Outcome
	return &StoppedError{Tool: res.Tool, Acts: actTexts(o.Acts), State: o.State, Note: o.Note()}
}

// stopped reports the first answer that ends the run.
func (r *Run) stopped(results []tool.Result) error {
	for _, res := range results {
		o := res.Outcome
		d := o.Decision
		no := o.State == policy.StateDenied || o.State == policy.StateExpired
		if o.State == policy.StateDismissed || d != nil && d.Stop || r.StopOnDeny && no {
			return stoppedBy(res)
		}
		if r.streak.see(res) {
			e := stoppedBy(res)
			e.Repeated = true
			return e
		}
	}
	return nil
}

func actTexts(acts []policy.Act) []string {
	var out []string
	for _, a := range acts {
		out = append(out, a.String())
	}
	return out
}
