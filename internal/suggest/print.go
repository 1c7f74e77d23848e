package suggest

import (
	"fmt"
	"io"
	"strings"

	"github.com/assent-dev/assent/present"
)

// shownCalls is how many of the calls are printed.
const shownCalls = 5

// Print writes a suggestion for a person, under its number.
func (s Suggestion) Print(w io.Writer, number int) error {
	var b strings.Builder
	for i, rule := range s.Rules {
		head := fmt.Sprintf("%d. ", number)
		if i > 0 {
			head = strings.Repeat(" ", len(head))
		}
		fmt.Fprintf(&b, "%s%s\n", head, present.SafeLine(rule))
	}
	fmt.Fprintf(&b, "   would have answered %s in %s, and nothing that was denied:\n", counted(s.Saves, "prompt"), counted(s.Sessions, "session"))
	for _, name := range s.names() {
		fmt.Fprintf(&b, "     %s\n", name)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// names are the calls that are covered, each once, with how often.
func (s Suggestion) names() []string {
	times := map[string]int{}
	var order []string
	for _, c := range s.Calls {
		if times[c.Name]++; times[c.Name] == 1 {
			order = append(order, c.Name)
		}
	}
	var out []string
	for i, name := range order {
		if i == shownCalls {
			return append(out, fmt.Sprintf("and %d more", len(order)-i))
		}
		line := present.SafeLine(name)
		if n := times[name]; n > 1 {
			line = fmt.Sprintf("%s (%d times)", line, n)
		}
		out = append(out, line)
	}
	return out
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
