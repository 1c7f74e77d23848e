package suggest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/internal/replay"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/policy"
)

// A Suggestion is rules that belong together: none of them answers the calls alone.
type Suggestion struct {
	Rules []string `json:"rules"`
	// Saves is how many past prompts it would have answered, in how many sessions.
	Saves    int `json:"saves"`
	Sessions int `json:"sessions"`
	// Denied is how many refused calls it would have let through: always none.
	Denied int `json:"denied"`
	// Calls are what it would have answered.
	Calls []Call `json:"calls"`
}

// A Call is a past call that a suggestion would have answered.
type Call struct {
	Seq  int64  `json:"seq"`
	Name string `json:"name"`
}

// DefaultMin is how often something was approved before it is worth a rule.
const DefaultMin = 3

// Options say what is looked for. The zero Options are the defaults, without any rules.
type Options struct {
	// Min is how many prompts a suggestion must have answered; 0 means [DefaultMin].
	Min int
	// Policy is what is kept already, and what config files say.
	Policy policy.Policy
	Now    time.Time
}

// maxTried is how many candidates are tried of each kind, the most frequent first.
const maxTried = 200

// Find returns suggestions for the cases, those that save most first.
func Find(cases []replay.Case, opt Options) []Suggestion {
	if opt.Min <= 0 {
		opt.Min = DefaultMin
	}
	s := &search{Options: opt, byAct: map[string][]int{}, done: map[int]bool{}}
	s.sort(cases)
	for _, by := range []level{exactly, byFolder, byRoot} {
		s.try(by)
	}
	slices.SortStableFunc(s.found, func(a, b candidate) int {
		return cmp.Or(len(b.answers)-len(a.answers), len(a.rules)-len(b.rules), strings.Compare(a.rules[0], b.rules[0]))
	})
	out := []Suggestion{}
	for _, c := range s.found {
		out = append(out, s.suggestion(c))
	}
	return out
}

// A prompt is a question that a person answered with yes.
type prompt struct {
	replay.Case
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
	Options
	prompts []prompt
	refused []replay.Case
	byAct   map[string][]int // the prompts that begin with exactly this act
	others  []int            // the prompts that no rule is suggested for
	found   []candidate
	done    map[int]bool // the prompts that what was found answers
}

// sort takes the prompts that still would be asked, and what was refused.
func (s *search) sort(cases []replay.Case) {
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
func (s *search) needs(c *replay.Case) ([]policy.Act, bool) {
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

func (s *search) judge(p policy.Policy, c *replay.Case) policy.Judgement {
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
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(len(groups[b])-len(groups[a]), strings.Compare(a, b)) })
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
		if err != nil || rulebook.Wide(rule) != "" {
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
	for _, i := range c.answers {
		p := &s.prompts[i]
		sessions[p.Call.Session] = true
		out.Calls = append(out.Calls, Call{p.Seq, p.Name()})
	}
	out.Sessions = len(sessions)
	return out
}
