package replay

import (
	"time"

	"github.com/assent-dev/assent/policy"
)

// A Difference is a call to which something else would happen.
type Difference struct {
	Seq    int64        `json:"seq,omitempty"`
	Name   string       `json:"name"`
	Before Outcome      `json:"before"`
	After  Outcome      `json:"after"`
	Was    policy.State `json:"was,omitempty"`
	// Finding says that somebody said no to what would now run.
	Finding bool `json:"finding,omitempty"`
}

// A Report is what a set of rules would have changed.
type Report struct {
	Calls int `json:"calls"` // that were tried
	// PromptsBefore and PromptsAfter are how many of them somebody is asked about.
	PromptsBefore int          `json:"prompts_before"`
	PromptsAfter  int          `json:"prompts_after"`
	Differences   []Difference `json:"differences"`
	// Findings is how many differences are findings.
	Findings int `json:"findings"`
	// Untried are calls without acts that were kept.
	Untried int `json:"untried"`
}

// A Comparison tries two policies on cases, one after the other. Make one with [Compare].
type Comparison struct {
	before *policy.Policy // nil for what was recorded
	after  policy.Policy
	now    time.Time
	report Report
}

// Compare returns a comparison of two policies at a time. Before may be nil: then what
// happens is compared with what was recorded.
func Compare(before *policy.Policy, after policy.Policy, now time.Time) *Comparison {
	return &Comparison{before: before, after: after, now: now, report: Report{Differences: []Difference{}}}
}

// Add tries a case.
func (c *Comparison) Add(k Case) {
	when := policy.Question{Now: c.now}
	before := k.recorded()
	if c.before != nil {
		before = k.under(*c.before, when)
	}
	after := k.under(c.after, when)
	c.report.Calls++
	if before == Ask {
		c.report.PromptsBefore++
	}
	if after == Ask {
		c.report.PromptsAfter++
	}
	if before == after {
		return
	}
	d := Difference{Seq: k.Seq, Name: k.Name(), Before: before, After: after, Was: k.State, Finding: after == Allow && k.Refused()}
	if d.Finding {
		c.report.Findings++
	}
	c.report.Differences = append(c.report.Differences, d)
}

// Skip counts a call that cannot be tried.
func (c *Comparison) Skip() { c.report.Untried++ }

// Report returns what was found.
func (c *Comparison) Report() Report { return c.report }
