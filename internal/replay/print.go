package replay

import (
	"fmt"
	"io"
	"strings"

	"github.com/assent-dev/assent/present"
)

// Print writes the report for a person, a line for each call that would change.
func (r Report) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s tried, %s before and %d after: %s.\n", calls(r.Calls), prompts(r.PromptsBefore), r.PromptsAfter, fewer(r.PromptsBefore-r.PromptsAfter))
	for _, part := range []struct {
		title string
		after Outcome
	}{{"Would now be allowed:", Allow}, {"Would now be denied:", Deny}, {"Would now be asked:", Ask}} {
		r.part(&b, part.title, part.after)
	}
	if len(r.Differences) == 0 {
		b.WriteString("Nothing would change.\n")
	}
	if r.Untried > 0 {
		fmt.Fprintf(&b, "%s could not be tried: what they would do was not kept or is not known.\n", calls(r.Untried))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Report) part(b *strings.Builder, title string, after Outcome) {
	for _, d := range r.Differences {
		if d.After != after {
			continue
		}
		if title != "" {
			fmt.Fprintln(b, title)
			title = ""
		}
		b.WriteString("  " + d.line() + "\n")
	}
}

func (d Difference) line() string {
	text := present.SafeLine(d.Name)
	if d.Seq > 0 {
		text = fmt.Sprintf("%d  %s", d.Seq, text)
	}
	was := string(d.Was)
	if was == "" {
		was = string(d.Before)
	}
	text += " (was " + was + ")"
	if d.Finding {
		text = "! " + text
	}
	return text
}

func calls(n int) string { return counted(n, "call") }

func prompts(n int) string { return counted(n, "prompt") }

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func fewer(n int) string {
	switch {
	case n > 0:
		return prompts(n) + " fewer"
	case n < 0:
		return prompts(-n) + " more"
	}
	return "as many as before"
}
