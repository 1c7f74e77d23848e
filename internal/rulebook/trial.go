package rulebook

import (
	"context"
	"io"
	"iter"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/policy"
)

// A Trial is what rules would change, and whether the examples of their file hold.
type Trial struct {
	Report
	Examples []Check `json:"examples"`
}

// Findings is how much was found that somebody should look at.
func (t *Trial) Findings() int {
	n := t.Report.Findings
	for _, e := range t.Examples {
		if !e.OK() {
			n++
		}
	}
	return n
}

// Print writes the trial for a person.
func (t *Trial) Print(w io.Writer) error {
	if err := t.Report.Print(w); err != nil || len(t.Examples) == 0 {
		return err
	}
	return PrintChecks(w, t.Examples)
}

// Edits are changes to rules that are to be tried.
type Edits struct {
	Add, Remove []string
	File        []policy.Rule // the rules of a file, which count as well
	Only        bool          // and no others
}

// Apply returns the rules before and after the changes. Before is nil if there are none.
func (e Edits) Apply(current []policy.Rule) (before, after *policy.RuleSet, err error) {
	rules := slices.Clone(current)
	if e.Only {
		rules = nil
	}
	for _, word := range e.Remove {
		r, err := Find(current, word)
		if err != nil {
			return nil, nil, err
		}
		rules = slices.DeleteFunc(rules, func(t policy.Rule) bool { return t.ID == r.ID })
	}
	for _, text := range e.Add {
		rule, err := parseRule(text)
		if err != nil {
			return nil, nil, err
		}
		rules = append(rules, rule)
	}
	rules = append(rules, e.File...)
	if after, err = policy.CompileRules(rules); err != nil || len(e.Add)+len(e.Remove) == 0 && e.File == nil {
		return nil, after, err
	}
	before, err = policy.CompileRules(current)
	return before, after, err
}

// AddCalls tries calls that nobody has answered, with the tools that would run them.
func (c *Comparison) AddCalls(ctx context.Context, e *explain.Explainer, calls []explain.Call) {
	for _, call := range calls {
		if k, err := prepareCase(ctx, e, call); err == nil {
			c.Add(k)
		} else {
			c.report.Untried++
		}
	}
}

// AddRecords tries the calls of a log.
func (c *Comparison) AddRecords(records iter.Seq2[approval.Record, error]) error {
	for r, err := range records {
		if err != nil {
			return err
		}
		k, ok := CaseFromRecord(&r)
		switch {
		case ok:
			c.Add(k)
		case r.Kind == approval.EventEnded:
			c.report.Untried++
		}
	}
	return nil
}
