package explain

import (
	"fmt"
	"io"
	"strings"

	"github.com/assent-dev/assent/present"
)

// Print prints the answer for a person. Agent is the title of the agent whose answer it is, if it
// is one's.
func (a Answer) Print(w io.Writer, agent string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", a.verdict(agent))
	for _, act := range a.Acts {
		name := act.Tool
		if act.Target != "" {
			name += "(" + act.Target + ")"
		}
		fmt.Fprintf(&b, "  %-5s %s\n", act.Outcome, present.SafeLine(name))
		if act.Why != "" {
			fmt.Fprintf(&b, "        %s\n", present.SafeLine(act.Why))
		}
	}
	if len(a.Held) > 0 {
		b.WriteString("\nWhat the operating system holds it to:\n")
		for _, line := range a.Held {
			fmt.Fprintf(&b, "  %s\n", present.SafeLine(line))
		}
	}
	if len(a.Hosts) > 0 {
		b.WriteString("\nHosts:\n")
		for _, h := range a.Hosts {
			fmt.Fprintf(&b, "  %-7s %s (%s)\n", h.Word, present.SafeLine(h.Hosts), present.SafeLine(h.Source))
		}
	}
	if a.Undo != "" {
		fmt.Fprintf(&b, "Undo: %s.\n", present.SafeLine(a.Undo))
	}
	if a.Policy != "" {
		fmt.Fprintf(&b, "Policy: %s.\n", present.SafeLine(a.Policy))
	}
	if len(a.Trace) > 0 {
		b.WriteString("\nHow it was decided:\n")
		for i, s := range a.Trace {
			fmt.Fprintf(&b, "  %d. %s\n", i+1, present.SafeLine(s.String()))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// outcomes say an outcome in a sentence.
var outcomes = map[string]string{
	Allow: "it would run without a question", Ask: "it would ask", Deny: "it would be refused",
}

func (a Answer) verdict(agent string) string {
	text := "I" + outcomes[a.Outcome][1:]
	if agent != "" {
		text = agent + ": " + outcomes[a.Outcome]
	}
	if a.Where != "" {
		text += " " + a.Where
	}
	if a.PersonOnly {
		text += ", and only a person may answer"
	}
	if a.Error != "" {
		return text + ": " + present.SafeLine(a.Error) + "."
	}
	if a.Why != "" {
		return text + ": " + present.SafeLine(a.Why) + "."
	}
	return text + "."
}
