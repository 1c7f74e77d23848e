package terminal

import (
	"fmt"
	"strings"

	"github.com/assent-dev/assent/present"
)

// factLabels are the words for facts that several tools use; others show their name.
var factLabels = map[string]string{
	present.FactCwd:    "working directory",
	present.FactMethod: "method",
	present.FactURL:    "URL",
	"old_digest":       "digest before",
}

// factsLine puts the facts in one sentence: 245 bytes · 12 lines · method: POST. Those
// about cutting are left to the note that says what is missing.
func factsLine(facts present.Facts) string {
	var parts []string
	for _, f := range facts {
		if part := factText(f, facts); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " · ")
}

func factText(f present.Fact, all present.Facts) string {
	n, isNumber := f.Number()
	switch name := f.Name(); {
	case name == present.FactTruncated || name == present.FactFullSize:
		return ""
	case name == present.FactAdded && isNumber:
		removed, _ := all.Get(present.FactRemoved)
		return fmt.Sprintf("+%d −%s lines", n, present.SafeLine(removed.Value()))
	case name == present.FactRemoved && isNumber:
		return ""
	case name == present.FactCoarse:
		return "too large to compare line by line"
	case name == present.FactSize && isNumber:
		return count(n, "byte")
	case name == present.FactLines && isNumber:
		return count(n, "line")
	case name == present.FactOldSize && isNumber:
		if newSize, ok := all.Get(present.FactNewSize); ok {
			return fmt.Sprintf("%d → %s bytes", n, present.SafeLine(newSize.Value()))
		}
		return "was " + count(n, "byte")
	case name == present.FactNewSize && isNumber:
		if _, ok := all.Get(present.FactOldSize); ok {
			return ""
		}
		return "will be " + count(n, "byte")
	default:
		label, ok := factLabels[name]
		if !ok {
			label = present.SafeLine(name)
		}
		return label + ": " + present.SafeLine(f.Value())
	}
}

// count returns "1 line" or "2 lines".
func count[N int | int64](n N, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
