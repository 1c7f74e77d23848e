package rulebook

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// A Case is a call to try rules on.
type Case struct {
	// Seq is the number of the record that it comes from, 0 for none.
	Seq  int64
	Call policy.Call
	Acts []policy.Act
	// State is how it was answered; empty if it never was.
	State policy.State
	// Asked says that a person was asked, Fixed that a rule of a config file decided.
	Asked, Fixed bool
}

// CaseFromRecord makes a case of the end of a call. It is false for a record that is no end,
// or has no acts to try rules on.
func CaseFromRecord(r *approval.Record) (Case, bool) {
	c := Case{
		Seq: r.Seq,
		Call: policy.Call{ID: r.CallID, Connector: r.Connector, Tool: r.Tool, Arguments: r.Arguments,
			Session: r.Session, Workers: r.Workers, Project: r.Project},
		Acts: r.ActData, State: r.State, Asked: !r.Requested.IsZero(),
		// The rules of a file go by their place in it.
		Fixed: r.Rule != "" && strings.HasSuffix(r.Basis, " at "+r.Rule),
	}
	return c, r.Kind == approval.EventEnded && len(r.ActData) > 0
}

// Name says what the call would do.
func (c *Case) Name() string {
	names := make([]string, len(c.Acts))
	for i, a := range c.Acts {
		names[i] = a.String()
	}
	return strings.Join(names, " + ")
}

// Refused reports whether somebody or something said no: a person, who also does so by
// closing the question, giving the result, or not answering in time; or a rule. What
// strict mode refuses nobody looked at.
func (c *Case) Refused() bool {
	switch c.State {
	case policy.StateDenied, policy.StateDismissed, policy.StateExpired, policy.StateAnswered,
		policy.StateAutoDenied, policy.StateBlocked:
		return true
	}
	return false
}

// recorded is what happened then: explain.Allow, Ask or Deny.
func (c *Case) recorded() string {
	switch {
	case c.State == "":
		return explain.Ask
	case c.Asked:
		return explain.Ask
	case c.State.Runs():
		return explain.Allow
	}
	return explain.Deny
}

// under is what happens under a policy. Where it leaves the answer open, what answered then
// answers again: a grant, a mode, a rule of a config file.
func (c *Case) under(p policy.Policy, when policy.Question) string {
	p.Mode = policy.ModeAsk
	when.Call, when.Acts = &c.Call, c.Acts
	switch j := p.Judge(when); {
	case c.Fixed && p.Fixed == nil && c.State == policy.StateAutoDenied:
		return explain.Deny // a deny of the file holds, whatever the other rules say
	case j.State.Runs():
		return explain.Allow
	case j.State != policy.StatePending:
		return explain.Deny
	case j.PersonOnly, c.Asked, c.State == "":
		return explain.Ask
	}
	switch c.State {
	case policy.StateSessionApproved, policy.StateModeApproved:
		return explain.Allow
	case policy.StateModeDenied:
		return explain.Deny
	case policy.StateAutoApproved, policy.StateAutoDenied:
		if c.Fixed && p.Fixed == nil {
			return c.recorded()
		}
	}
	return explain.Ask
}

// A Difference is a call to which something else would happen.
type Difference struct {
	Seq    int64        `json:"seq,omitempty"`
	Name   string       `json:"name"`
	Before string       `json:"before"`
	After  string       `json:"after"`
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
	d := c.Try(k)
	c.report.Calls++
	if d.Before == explain.Ask {
		c.report.PromptsBefore++
	}
	if d.After == explain.Ask {
		c.report.PromptsAfter++
	}
	if d.Before == d.After {
		return
	}
	if d.Finding {
		c.report.Findings++
	}
	c.report.Differences = append(c.report.Differences, d)
}

// Try returns what happens to a case under both policies, which may be the same, and reports nothing.
func (c *Comparison) Try(k Case) Difference {
	when := policy.Question{Now: c.now}
	d := Difference{Seq: k.Seq, Name: k.Name(), Before: k.recorded(), After: k.under(c.after, when), Was: k.State}
	if c.before != nil {
		d.Before = k.under(*c.before, when)
	}
	d.Finding = d.Before != d.After && d.After == explain.Allow && k.Refused()
	return d
}

// Report returns what was found.
func (c *Comparison) Report() Report { return c.report }

// Print writes the report for a person, a line for each call that would change.
func (r Report) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s tried, %s before and %d after: %s.\n", calls(r.Calls), prompts(r.PromptsBefore), r.PromptsAfter,
		fewer(r.PromptsBefore-r.PromptsAfter))
	for _, part := range []struct {
		title string
		after string
	}{
		{"Would now be allowed:", explain.Allow}, {"Would now be denied:", explain.Deny},
		{"Would now be asked:", explain.Ask},
	} {
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

func (r Report) part(b *strings.Builder, title string, after string) {
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

// A Check is an example of a rule file, and what happens to it.
type Check struct {
	Call   string `json:"call"`
	Want   string `json:"want"`
	Got    string `json:"got"`
	Why    string `json:"why,omitempty"`
	Source string `json:"source"`
}

// OK reports whether it happens as expected.
func (c Check) OK() bool { return c.Want == c.Got }

// Expect tries the examples of a file.
func Expect(ctx context.Context, e *explain.Explainer, examples []config.Expectation) []Check {
	out := []Check{}
	for _, x := range examples {
		answer := e.Explain(ctx, explain.Call{Tool: x.Tool, Args: x.Args})
		out = append(out, Check{x.Call, x.Outcome, answer.Outcome, reason(answer), x.Source})
	}
	return out
}

// reason says why a call is answered so; the act that decided may know better.
func reason(a explain.Answer) string {
	for _, act := range a.Acts {
		if a.Error+a.Why == "" && act.Outcome == a.Outcome {
			return act.Why
		}
	}
	return cmp.Or(a.Error, a.Why)
}

// PrintChecks writes the examples that went wrong, and how many there are.
func PrintChecks(w io.Writer, checks []Check) error {
	failed := 0
	for _, c := range checks {
		if c.OK() {
			continue
		}
		failed++
		why := ""
		if c.Why != "" {
			why = ": " + c.Why
		}
		text := fmt.Sprintf("! %s: %s should be %s and is %s%s", c.Source, c.Call, c.Want, c.Got, why)
		if _, err := fmt.Fprintln(w, present.SafeLine(text)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d of %d examples are as expected.\n", len(checks)-failed, len(checks))
	return err
}

// maxLine is the longest call that is read.
const maxLine = 16 << 20

// ReadCalls reads one call a line, {"tool": …, "args": {…}}, as explain takes them; file is
// the name in errors.
func ReadCalls(file string, in io.Reader) ([]explain.Call, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	var out []explain.Call
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		c, err := explain.ParseCall(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		out = append(out, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return out, nil
}

// prepareCase makes a case of a call that nobody has answered.
func prepareCase(ctx context.Context, e *explain.Explainer, c explain.Call) (Case, error) {
	call, err := c.Canonical()
	call.Project = e.Project
	if err != nil {
		return Case{}, err
	}
	p, err := e.Tools.Prepare(ctx, call)
	return Case{Call: call, Acts: p.Acts}, err
}
