package admin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// A Shipped is a record of a machine's log.
type Shipped struct {
	Gate   string          `json:"gate"`
	Stream string          `json:"stream"`
	Record approval.Record `json:"record"`
	// Unreadable says that only number and hashes of the record could be read; Body is then what the machine sent.
	Unreadable bool   `json:"unreadable,omitempty"`
	Body       []byte `json:"body,omitempty"`
}

// Export writes a line of JSON for each record.
func Export(w io.Writer, records iter.Seq2[Shipped, error]) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for r, err := range records {
		if err == nil {
			err = enc.Encode(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A Difference is what would happen otherwise to some calls that are alike.
type Difference struct {
	Name   string `json:"name"`
	Before string `json:"before"` // allow, deny, ask, or ask and who decides
	After  string `json:"after"`
	Calls  int    `json:"calls"`
	// Gate and Seq are where one of them is recorded.
	Gate string `json:"gate"`
	Seq  int64  `json:"seq"`
	// Finding says that somebody said no to what would now run.
	Finding bool `json:"finding,omitempty"`
}

// A Trial is what a bundle would have changed about past calls. It tries the rules and the deciders; what
// other keys of the policy say depends on the machine and stays as it was recorded.
type Trial struct {
	Since         time.Time    `json:"since"`
	Calls         int          `json:"calls"`
	Machines      int          `json:"machines"`
	PromptsBefore int          `json:"prompts_before"`
	PromptsAfter  int          `json:"prompts_after"`
	Differences   []Difference `json:"differences"`
	// Left is how many calls are different and not among the differences: there are too many kinds.
	Left int `json:"left,omitempty"`
	// Findings is how many calls run that somebody said no to.
	Findings int `json:"findings"`
	// Untried are calls without acts that were kept.
	Untried int `json:"untried"`
	// Unreadable are records that are not as programs write them.
	Unreadable int `json:"unreadable,omitempty"`
}

// teamRule is how the place of a rule begins that a bundle has, whatever its serial.
var teamRule = strings.TrimSuffix((&bundle.Bundle{}).Name(), "0")

// maxKinds is how many kinds of calls are told apart.
const maxKinds = 2000

// Try tries a bundle on past calls. Before is nil if there was none.
func Try(before, after *bundle.Bundle, records iter.Seq2[Shipped, error], since, now time.Time) (Trial, error) {
	t := Trial{Since: since, Differences: []Difference{}}
	was, err := newTried(before)
	if err != nil {
		return t, err
	}
	is, err := newTried(after)
	if err != nil {
		return t, err
	}
	comparison := rulebook.Compare(&was.policy, is.policy, now)
	kinds, machines := map[Difference]*Difference{}, map[string]bool{}
	for r, err := range records {
		if err != nil {
			return t, err
		}
		if r.Unreadable {
			t.Unreadable++
			continue
		}
		k, ok := rulebook.CaseFromRecord(&r.Record)
		if !ok {
			if r.Record.Kind == approval.EventEnded {
				t.Untried++
			}
			continue
		}
		machines[r.Gate] = true
		if strings.HasPrefix(r.Record.Rule, teamRule) {
			k.Fixed = false // it is among those that are tried
		}
		t.add(kinds, r.Gate, comparison.Try(k), was.who(&k, now), is.who(&k, now))
	}
	t.Machines = len(machines)
	for _, d := range kinds {
		t.Differences = append(t.Differences, *d)
	}
	slices.SortFunc(t.Differences, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.After, b.After), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Before, b.Before))
	})
	return t, nil
}

func (t *Trial) add(kinds map[Difference]*Difference, gate string, d rulebook.Difference, whoBefore, whoAfter string) {
	t.Calls++
	if d.Before == explain.Ask {
		t.PromptsBefore++
		d.Before += whoBefore
	}
	if d.After == explain.Ask {
		t.PromptsAfter++
		d.After += whoAfter
	}
	if d.Before == d.After {
		return
	}
	if d.Finding {
		t.Findings++
	}
	kind := Difference{Name: d.Name, Before: d.Before, After: d.After, Finding: d.Finding}
	switch known := kinds[kind]; {
	case known != nil:
		known.Calls++
	case len(kinds) >= maxKinds:
		t.Left++
	default:
		first := kind
		first.Calls, first.Gate, first.Seq = 1, gate, d.Seq
		kinds[kind] = &first
	}
}

// A tried is a bundle as calls are tried on it.
type tried struct {
	policy policy.Policy
	need   []string // for each decider, who decides
}

func newTried(b *bundle.Bundle) (tried, error) {
	if b == nil {
		return tried{policy: policy.Policy{Rules: &policy.RuleSet{}}}, nil
	}
	p, err := config.LoadSigned(b.Name(), b.Policy)
	if err != nil {
		return tried{}, err
	}
	out := tried{policy: policy.Policy{Rules: p.Rules}}
	for _, d := range b.Deciders {
		out.need = append(out.need, needText(d))
	}
	out.policy.Reserved, err = policy.Reserve(config.Ground(), b.Reservations())
	return out, err
}

// who says who decides about a call, if not whoever is at the machine.
func (t tried) who(k *rulebook.Case, now time.Time) string {
	var all []string
	for _, i := range t.policy.Reserved.By(&k.Call, k.Acts, now) {
		all = append(all, t.need[i])
	}
	if len(all) == 0 {
		return ""
	}
	return " " + strings.Join(all, " and ")
}

// Print writes the trial for a person.
func (t Trial) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Tried on %s of %s since %s: %s before, %d after.\n", counted(t.Calls, "call"), counted(t.Machines, "machine"),
		t.Since.Local().Format(time.DateOnly), counted(t.PromptsBefore, "question"), t.PromptsAfter)
	for _, part := range []struct{ title, after string }{
		{"Would have been allowed:", explain.Allow}, {"Would have been denied:", explain.Deny}, {"Would have been asked:", explain.Ask},
	} {
		for _, d := range t.Differences {
			if verdict, _, _ := strings.Cut(d.After, " "); verdict != part.after {
				continue
			}
			if part.title != "" {
				b.WriteString(part.title + "\n")
				part.title = ""
			}
			b.WriteString("  " + d.line() + "\n")
		}
	}
	if len(t.Differences) == 0 {
		b.WriteString("Nothing would have been different.\n")
	}
	if t.Left > 0 {
		fmt.Fprintf(&b, "%s more would have been different.\n", counted(t.Left, "call"))
	}
	if t.Findings > 0 {
		fmt.Fprintf(&b, "%s, marked with !, would have run although somebody or something said no.\n", counted(t.Findings, "call"))
	}
	if t.Untried > 0 {
		fmt.Fprintf(&b, "%s could not be tried: what they would do was not kept.\n", counted(t.Untried, "call"))
	}
	if t.Unreadable > 0 {
		fmt.Fprintf(&b, "%s cannot be read, and so could not be tried; 'assent audit export --server' says which.\n",
			counted(t.Unreadable, "record"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (d Difference) line() string {
	mark := ""
	if d.Finding {
		mark = "! "
	}
	text := fmt.Sprintf("%s%d× %s (was %s", mark, d.Calls, d.Name, d.Before)
	if _, who, _ := strings.Cut(d.After, " "); who != "" {
		text += ", now " + who
	}
	return present.SafeLine(fmt.Sprintf("%s; for example record %d of %s)", text, d.Seq, d.Gate))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
