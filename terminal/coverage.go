package terminal

import (
	"fmt"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
)

// coverage is what else an answer would settle.
type coverage struct {
	known bool
	names []string
}

// askCoverage asks for it; what was asked before no longer counts.
func (s *state) askCoverage(d approval.Decision) []effect {
	if !s.covers {
		return nil
	}
	s.turn++
	return []effect{coversEffect{s.turn, s.current().request, d}}
}

// rows says what else is settled, before it is.
func (c coverage) rows(n int) []line {
	if !c.known {
		return wrap(styled(faint, "looking at what else waits …"), n, nil)
	}
	if len(c.names) == 0 {
		return nil
	}
	rows := wrap(styled(warn, fmt.Sprintf("This also answers %s that waits:", count(len(c.names), "other request"))), n, nil)
	if len(c.names) > 1 {
		rows = wrap(styled(warn, fmt.Sprintf("This also answers %s that wait:", count(len(c.names), "other request"))), n, nil)
	}
	for _, name := range c.names {
		rows = append(rows, wrap(text("  "+present.SafeLine(name)), n, text("    "))...)
	}
	return rows
}
