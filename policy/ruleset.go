package policy

import (
	"fmt"
	"path"
	"slices"
	"time"
)

// A RuleSet is an immutable, indexed set of rules. Looking a call up costs
// about the same among ten rules as among ten thousand. The nil RuleSet has no
// rules.
type RuleSet struct {
	rules  []Rule
	denies index
	allows index
	except index
	own    []*Rule // the denies that name no connector
}

// CompileRules builds the set. Of two rules that both match, the earlier is
// named as the reason. The error, if any, is a [*RuleError].
func CompileRules(rules []Rule) (*RuleSet, error) {
	s := &RuleSet{rules: slices.Clone(rules)}
	compiled := make([]compiledRule, len(rules))
	for i := range s.rules {
		r := &s.rules[i]
		p, err := r.compile()
		if err != nil {
			return nil, err
		}
		compiled[i] = compiledRule{rule: r, pattern: p}
		if r.Effect == EffectDeny && p.anyConnector {
			s.own = append(s.own, r)
		}
	}
	s.denies = newIndex(compiled, EffectDeny, foldWide)
	s.allows = newIndex(compiled, EffectAllow, foldASCII)
	s.except = newIndex(compiled, EffectExcept, foldASCII)
	return s, nil
}

// Rules returns the rules, in order.
func (s *RuleSet) Rules() []Rule {
	if s == nil {
		return nil
	}
	return slices.Clone(s.rules)
}

// denied finds the deny rule that meets the act, done by the call's tool, most
// strictly. Code that cannot be read may meet any deny about what this machine's
// own tools do.
func (s *RuleSet) denied(call *Call, act *Act, now time.Time) (*Rule, Match) {
	if s == nil {
		return nil, MatchNo
	}
	f := finder{index: &s.denies, set: s, call: call, act: act, now: now}
	rule, meets := f.find()
	if act.Project != "" && meets != MatchYes {
		f := finder{index: &s.denies, set: s, call: call, act: act.asProjectCode(), now: now}
		if other, also := f.find(); also > meets {
			rule, meets = other, also
		}
	}
	if meets == MatchNo && act.Opaque {
		for _, r := range s.own {
			if r.active(now) && r.HoldsIn(call.Project) {
				return r, MatchPossibly
			}
		}
	}
	return rule, meets
}

// excepted reports whether the file that denies the act also excepts it.
func (s *RuleSet) excepted(deny *Rule, call *Call, act *Act, now time.Time) bool {
	f := finder{index: &s.except, call: call, act: act, now: now, byName: act.ByName, file: sourceFile(deny.Source)}
	_, meets := f.find()
	return meets == MatchYes
}

// allowing is the question whether an allow covers an act.
type allowing struct {
	call *Call
	act  *Act
	// byName wants a rule whose target names the act, withConnector one that
	// names the connector.
	byName, withConnector bool
	// spells is how many leading words of a command the rule has to spell, see [Act.Own];
	// 0 for any.
	spells int
	now    time.Time
}

// allowed finds an allow rule that covers the act under its own name or that
// of the called tool.
func (s *RuleSet) allowed(q allowing) *Rule {
	if s == nil || q.act.Away {
		return nil
	}
	f := finder{index: &s.allows, call: q.call, act: q.act, now: q.now, byName: q.byName, withConnector: q.withConnector, spells: q.spells}
	rule, _ := f.find()
	if rule == nil && q.spells == 0 && q.act.plainProjectCode() {
		f := finder{index: &s.allows, call: q.call, act: q.act.asProjectCode(), now: q.now, byName: q.byName, withConnector: q.withConnector}
		rule, _ = f.find()
	}
	return rule
}

type compiledRule struct {
	rule    *Rule
	pattern pattern
}

// named reports whether the rule is about this tool or act, whose names are folded
// as the rule's.
func (c *compiledRule) named(connector, name string) bool {
	p := &c.pattern
	if p.connectorOnly {
		return connector != "" && p.connector.match(connector)
	}
	if !p.name.match(name) {
		return false
	}
	if p.anyConnector {
		// Trust in a built-in tool says nothing about a stranger's tool that
		// took its name.
		return connector == "" || c.rule.Effect == EffectDeny || builtinKinds[name] == "" && !builtinTools[name]
	}
	return connector != "" && p.connector.match(connector)
}

// answers reports whether an allow answers the act. Under the name of the
// called tool, the target of a rule is not taken for a command that the tool
// runs, unless the tool is the shell.
func (c *compiledRule) answers(act *Act, foreign, byName bool) bool {
	p := &c.pattern
	if foreign && act.Target.Kind == KindWords && !p.bare() && p.kind != KindWords {
		return false
	}
	return p.covers(act, byName)
}

// builtinTools are the built-in tools whose names are not acts. An allow for
// one of them never reaches a connector's tool of that name.
var builtinTools = map[string]bool{
	"edit_file": true, "list_files": true, "search_files": true, "move_file": true,
	"copy_file": true, "make_dir": true, "file_info": true, "list_workers": true,
}

// sourceFile returns the file of a FILE:LINE source.
func sourceFile(source string) string {
	if file, line, ok := cutLast(source, ":"); ok && line != "" && '0' <= line[0] && line[0] <= '9' {
		return file
	}
	return source
}

func programOf(word string) string { return path.Base(word) }

// HasRule reports whether the same rule is there and holds, for its project or everywhere.
func HasRule(rules []Rule, r Rule, now time.Time) bool {
	return slices.ContainsFunc(rules, func(there Rule) bool {
		return there.key() == r.key() && there.HoldsIn(r.Project) && there.active(now) && there.Expires.IsZero()
	})
}

// CheckNewRule reports with a [*RuleError] why r cannot join the rules that are
// there: not a valid rule, a duplicate, or one more than limit.
func CheckNewRule(rules []Rule, r Rule, limit int) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if r.Effect == EffectExcept {
		return r.fault(ErrMalformedRule, "an exception belongs to the policy file that denies")
	}
	key := r.key()
	for i := range rules {
		if end := rules[i].Expires; !end.IsZero() && !r.Created.Before(end) && rules[i].ID != r.ID {
			continue // it has ended before this one begins
		}
		if rules[i].key() == key && rules[i].Project == r.Project || r.ID != "" && rules[i].ID == r.ID {
			there := rules[i]
			return &RuleError{Err: ErrDuplicateRule, Rule: r.String(), Existing: &there,
				Detail: fmt.Sprintf("%s already says %s %s; remove or change that one", there.ID, there, there.Where())}
		}
	}
	if len(rules) >= limit {
		return r.fault(ErrRuleLimit, fmt.Sprintf("at most %d rules can be saved; remove one first", limit))
	}
	return nil
}
