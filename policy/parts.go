package policy

import (
	"fmt"
	"slices"
	"strings"
)

// namingPart adds to a refusal of several commands which one is meant, where it
// stands, and what may run without it.
func (j *judging) namingPart(out Judgement) Judgement {
	if out.Act == 0 || j.acts[out.Act-1].Line == 0 {
		return out
	}
	refused := &j.acts[out.Act-1]
	rest, others := j.without(out.Act - 1)
	if !others {
		return out
	}
	text := fmt.Sprintf("it is %s on line %d", refused, refused.Line)
	if len(rest) > 0 {
		text += "; without it this may run: " + strings.Join(rest, ", ")
	}
	out.Why = joinReasons(out.Why, text)
	return out
}

// without returns the commands beside the refused act that are free, and whether
// there are commands beside it at all.
func (j *judging) without(refused int) (free []string, others bool) {
	for i := range j.acts {
		a := &j.acts[i]
		if i == refused || a.Name != ActShell || a.Connector != "" || j.acts[refused].Cause == i+1 {
			continue
		}
		others = true
		if text := a.Target.String(); a.Verdict == VerdictFree && !slices.Contains(free, text) {
			free = append(free, text)
		}
	}
	return free, others
}
