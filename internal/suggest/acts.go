package suggest

import (
	"slices"

	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
)

// worthy reports whether a rule for the act may be suggested at all. What nobody can read,
// what only a person answers, secrets, and whatever runs what it is given are left to people.
func worthy(a policy.Act) bool {
	if a.PersonOnly || a.Secret || a.Opaque || a.Away || a.Target.Unknown {
		return false
	}
	if a.Target.Kind != policy.KindWords {
		return true
	}
	words, ok := plainWords(a)
	return ok && a.Known && a.Prefix > 0 && !rulebook.RunsAnything(words...)
}

// plainWords returns the words of a command, if all are known.
func plainWords(a policy.Act) ([]string, bool) {
	out := make([]string, len(a.Target.Words))
	for i, w := range a.Target.Words {
		if w.Unknown {
			return nil, false
		}
		out[i] = w.Text
	}
	return out, len(out) > 0
}

// causedBy reports whether the act follows from another open one.
func causedBy(acts []policy.Act, i int, open []int) bool {
	for c := acts[i].Cause - 1; c >= 0 && c < i; i, c = c, acts[c].Cause-1 {
		if slices.Contains(open, c) {
			return true
		}
	}
	return false
}

// changesFiles reports whether the act is a command that writes or deletes what it is given:
// with other operands it would change other files.
func changesFiles(acts []policy.Act, i int) bool {
	return acts[i].Target.Kind == policy.KindWords && slices.ContainsFunc(acts, func(a policy.Act) bool {
		return a.Cause == i+1 && (a.Name == policy.ActWriteFile || a.Name == policy.ActDeleteFile)
	})
}
