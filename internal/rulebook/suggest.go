package rulebook

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// Suggestions start from exactly what was approved and widen only where approvals differ: to
// the words that commands have in common, the folder and suffix of files, the folder of
// addresses. One is kept only if it passes three tests, all with the judgement that decides
// about calls: it answers enough prompts, it lets through nothing that somebody or something
// refused, and it is not as wide as an interpreter, a wrapper or a whole built-in tool. A
// command that changes files is only ever suggested exactly as it was.

// A Suggestion is rules that belong together: none of them answers the calls alone.
type Suggestion struct {
	Rules []string `json:"rules"`
	// Project is the project that all of the calls belong to; empty if they are of several, and for
	// rules that hold everywhere.
	Project string `json:"project,omitempty"`
	// Saves is how many past prompts it would have answered, in how many sessions.
	Saves    int `json:"saves"`
	Sessions int `json:"sessions"`
	// Denied is how many refused calls it would have let through: always none.
	Denied int `json:"denied"`
	// Calls are what it would have answered.
	Calls []SuggestedCall `json:"calls"`
}

// A SuggestedCall is a past call that a suggestion would have answered.
type SuggestedCall struct {
	Seq  int64  `json:"seq"`
	Name string `json:"name"`
}

// DefaultSuggestMin is how often something was approved before it is worth a rule.
const DefaultSuggestMin = 3

// SuggestOptions say what is looked for. The zero value is the defaults, without any rules.
type SuggestOptions struct {
	// Min is how many prompts a suggestion must have answered; 0 means [DefaultSuggestMin].
	Min int
	// Most is how many suggestions there may be, the best first; 0 means any number.
	Most int
	// Policy is what is kept already, and what config files say.
	Policy policy.Policy
	Now    time.Time
}

// SuggestFrom returns suggestions for the calls of a log.
func SuggestFrom(records iter.Seq2[approval.Record, error], opt SuggestOptions) ([]Suggestion, error) {
	var cases []Case
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		if k, ok := CaseFromRecord(&r); ok && (k.Asked || k.Refused()) {
			cases = append(cases, k)
		}
	}
	return Suggest(cases, opt), nil
}

// maxTried is how many candidates are tried of each kind, the most frequent first.
const maxTried = 200

// Suggest returns suggestions for the cases, those that save most first.
func Suggest(cases []Case, opt SuggestOptions) []Suggestion {
	if opt.Min <= 0 {
		opt.Min = DefaultSuggestMin
	}
	s := &search{SuggestOptions: opt, byAct: map[string][]int{}, done: map[int]bool{}}
	s.sort(cases)
	for _, by := range []level{exactly, byFolder, byRoot} {
		s.try(by)
	}
	slices.SortStableFunc(s.found, func(a, b candidate) int {
		return cmp.Or(len(b.answers)-len(a.answers), len(a.rules)-len(b.rules), cmp.Compare(a.rules[0], b.rules[0]))
	})
	out := []Suggestion{}
	for i, c := range s.found {
		if i == opt.Most && opt.Most > 0 {
			break
		}
		out = append(out, s.suggestion(c))
	}
	return out
}

// A prompt is a question that a person answered with yes.
type prompt struct {
	Case
	// needed are the acts that a rule would have to allow; none if no rule for them is worth
	// suggesting. A rule that others suggest may still answer it.
	needed []policy.Act
}

// A candidate is a set of rules and the prompts that it answers.
type candidate struct {
	rules   []string
	answers []int
}

// A search is one look for suggestions.
type search struct {
	SuggestOptions
	prompts []prompt
	refused []Case
	byAct   map[string][]int // the prompts that begin with exactly this act
	others  []int            // the prompts that no rule is suggested for
	found   []candidate
	done    map[int]bool // the prompts that what was found answers
}

// sort takes the prompts that still would be asked, and what was refused.
func (s *search) sort(cases []Case) {
	for _, c := range cases {
		switch {
		case c.Refused():
			s.refused = append(s.refused, c)
		case c.Asked && c.State == policy.StateApproved:
			if needed, ok := s.needs(&c); ok {
				s.add(prompt{c, needed})
			}
		}
	}
}

func (s *search) add(p prompt) {
	if i := len(s.prompts); len(p.needed) == 0 {
		s.others = append(s.others, i)
	} else {
		key := exact(p.needed[0])
		s.byAct[key] = append(s.byAct[key], i)
	}
	s.prompts = append(s.prompts, p)
}

// needs returns the acts that a rule would have to allow, none if no such rule is worth
// suggesting. It is false if no rule could answer the prompt.
func (s *search) needs(c *Case) ([]policy.Act, bool) {
	j := s.judge(s.Policy, c)
	if j.State != policy.StatePending || j.PersonOnly {
		return nil, false
	}
	var out []policy.Act
	for _, i := range j.Open {
		a := c.Acts[i]
		if !a.ByName && causedBy(c.Acts, i, j.Open) {
			continue // an allow for the cause answers it
		}
		if !worthy(a) {
			return nil, true
		}
		if changesFiles(c.Acts, i) {
			a.Prefix = 0 // exactly this, or not at all
		}
		out = append(out, a)
	}
	return out, true
}

func (s *search) judge(p policy.Policy, c *Case) policy.Judgement {
	p.Mode = policy.ModeAsk
	return p.Judge(policy.Question{Call: &c.Call, Acts: c.Acts, Now: s.Now})
}

// try makes candidates of one kind and keeps those that pass.
func (s *search) try(by level) {
	groups := map[string][]int{}
	for i := range s.prompts {
		if s.done[i] || len(s.prompts[i].needed) == 0 {
			continue
		}
		if key, ok := by.key(s.prompts[i].needed); ok {
			groups[key] = append(groups[key], i)
		}
	}
	keys := make([]string, 0, len(groups))
	for key, members := range groups {
		if len(members) >= s.Min {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(len(groups[b])-len(groups[a]), cmp.Compare(a, b)) })
	for _, key := range keys[:min(len(keys), maxTried)] {
		if c, ok := s.candidate(by, groups[key]); ok {
			s.keep(c)
		}
	}
}

// candidate makes the smallest rules for a group of prompts and tries them.
func (s *search) candidate(by level, members []int) (candidate, bool) {
	var rules []string
	for n := range s.prompts[members[0]].needed {
		acts := make([]policy.Act, len(members))
		for k, i := range members {
			acts[k] = s.prompts[i].needed[n]
		}
		text, ok := by.rule(acts)
		if !ok {
			return candidate{}, false
		}
		if !slices.Contains(rules, text) {
			rules = append(rules, text)
		}
	}
	return s.tried(rules, s.near(by, rules))
}

// near returns the prompts that the rules may answer: exact ones answer no others than
// those that begin with one of their acts, and some that nothing is suggested for.
func (s *search) near(by level, rules []string) (out []int) {
	if by == exactly {
		for _, text := range rules {
			out = append(out, s.byAct[text]...)
		}
		out = append(out, s.others...)
		slices.Sort(out)
		return out
	}
	for i := range s.prompts {
		out = append(out, i)
	}
	return out
}

// tried judges every refusal, and the prompts that may be answered, with the rules.
func (s *search) tried(texts []string, near []int) (candidate, bool) {
	rules := s.Policy.Rules.Rules()
	for _, text := range texts {
		rule, err := policy.ParseRule(text)
		if err != nil || Wide(rule) != "" {
			return candidate{}, false
		}
		rules = append(rules, rule)
	}
	with := s.Policy
	var err error
	if with.Rules, err = policy.CompileRules(rules); err != nil {
		return candidate{}, false
	}
	for i := range s.refused {
		if s.judge(with, &s.refused[i]).State.Runs() {
			return candidate{}, false
		}
	}
	c := candidate{rules: texts}
	for _, i := range near {
		if s.judge(with, &s.prompts[i].Case).State == policy.StateAutoApproved {
			c.answers = append(c.answers, i)
		}
	}
	return c, len(c.answers) >= s.Min
}

// keep takes a candidate, in the place of those that answer nothing beside it.
func (s *search) keep(c candidate) {
	answers := make(map[int]bool, len(c.answers))
	for _, i := range c.answers {
		answers[i], s.done[i] = true, true
	}
	s.found = slices.DeleteFunc(s.found, func(old candidate) bool {
		return !slices.ContainsFunc(old.answers, func(i int) bool { return !answers[i] })
	})
	s.found = append(s.found, c)
}

func (s *search) suggestion(c candidate) Suggestion {
	out := Suggestion{Rules: c.rules, Saves: len(c.answers)}
	sessions := map[string]bool{}
	out.Project = s.prompts[c.answers[0]].Call.Project
	for _, i := range c.answers {
		p := &s.prompts[i]
		if p.Call.Project != out.Project {
			out.Project = ""
		}
		sessions[p.Call.Session] = true
		out.Calls = append(out.Calls, SuggestedCall{p.Seq, p.Name()})
	}
	out.Sessions = len(sessions)
	return out
}

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
		fmt.Fprintf(&b, "%s%s (%s)\n", head, present.SafeLine(rule), present.SafeLine(policy.Where(s.Project)))
	}
	fmt.Fprintf(&b, "   would have answered %s in %s, and nothing that was denied:\n",
		counted(s.Saves, "prompt"), counted(s.Sessions, "session"))
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
