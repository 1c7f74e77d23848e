package check

import (
	"cmp"
	"context"

	"github.com/assent-dev/assent/internal/explain"
)

// expectations tries the examples of the file.
func (l *look) expectations(ctx context.Context, e *explain.Explainer) {
	for _, want := range l.policy.Expect {
		got := e.Explain(ctx, explain.Call{Tool: want.Tool, Args: want.Args})
		if got.Outcome == want.Outcome {
			continue
		}
		l.warn(want.Source, "%s should be %s, and is %s: %s", want.Call, want.Outcome, got.Outcome, reason(got))
	}
}

// reason says in a line why a call came out as it did.
func reason(a explain.Answer) string {
	why := cmp.Or(a.Error, a.Why)
	for _, act := range a.Acts {
		why = cmp.Or(why, act.Why)
	}
	return cmp.Or(why, "nothing that it would do asks")
}
