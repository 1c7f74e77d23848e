package auditview

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// Grants prints what was granted, session by session.
func Grants(w io.Writer, grants []policy.Grant, now time.Time) error {
	if len(grants) == 0 {
		_, err := fmt.Fprintln(w, "There are no grants.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	session := ""
	for _, g := range grants {
		if g.Session != session {
			session = g.Session
			fmt.Fprintf(t, "session %s\n", present.SafeLine(session))
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", present.SafeLine(rulebook.ShortID(g.ID)), present.SafeLine(g.String()),
			present.SafeLine(grantFacts(g, now)))
	}
	return t.Flush()
}

// grantFacts says where, for whom and how long a grant holds.
func grantFacts(g policy.Grant, now time.Time) string {
	var out []string
	if g.Act.Dir != "" {
		out = append(out, "in "+g.Act.Dir)
	}
	if len(g.Workers) > 0 {
		who := "for " + strings.Join(g.Workers, " > ")
		if g.Shared {
			who += " and what it calls"
		}
		out = append(out, who)
	}
	switch left := g.Expires.Sub(now); {
	case g.Expires.IsZero():
	case left <= 0:
		out = append(out, "ended")
	default:
		out = append(out, "for another "+left.Round(time.Second).String())
	}
	if by := g.By.String(); by != "" {
		out = append(out, "by "+by)
	}
	return strings.Join(out, ", ")
}
