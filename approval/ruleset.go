package approval

import (
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
}

// CompileRules builds the set. Of two rules that both match, the earlier is
// named as the reason. The error, if any, is a [*RuleError].
func CompileRules(rules []Rule) (*RuleSet, error) {
	s := &RuleSet{rules: slices.Clone(rules)}
	builders := map[Effect]*indexBuilder{Allow: {}, Deny: {}, Except: {}}
	for i := range s.rules {
		r := &s.rules[i]
		p, err := r.compile()
		if err != nil {
			return nil, err
		}
		builders[r.Effect].add(r, p)
	}
	s.denies = builders[Deny].build()
	s.allows = builders[Allow].build()
	s.except = builders[Except].build()
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
// strictly.
func (s *RuleSet) denied(call *Call, act *Act, now time.Time) (*Rule, Meets) {
	if s == nil {
		return nil, No
	}
	f := finder{index: &s.denies, act: act, now: now, best: -1}
	f.lift = func(r *Rule) bool { return s.excepted(r, call, act, now) }
	if len(s.except.rules) == 0 {
		f.lift = nil
	}
	f.deny(call.Connector, call.Tool)
	if act.Connector != call.Connector || act.Name != call.Tool {
		f.deny(act.Connector, act.Name)
	}
	if f.best >= 0 {
		return s.denies.rules[f.best].rule, f.found
	}
	if act.Opaque {
		return s.anyDeny(now)
	}
	return nil, No
}

// anyDeny finds a deny that code which cannot be read may meet: one about what
// this machine's own tools do.
func (s *RuleSet) anyDeny(now time.Time) (*Rule, Meets) {
	for i := range s.denies.rules {
		c := &s.denies.rules[i]
		if c.pattern.anyConnector && !c.pattern.connectorOnly && c.rule.active(now) {
			return c.rule, Possibly
		}
	}
	return nil, No
}

// excepted reports whether the file that denies the act also excepts it.
func (s *RuleSet) excepted(deny *Rule, call *Call, act *Act, now time.Time) bool {
	for i := range s.except.rules {
		c := &s.except.rules[i]
		if c.rule.active(now) && sourceFile(c.rule.Source) == sourceFile(deny.Source) &&
			(c.named(call.Connector, call.Tool, foldASCII) || c.named(act.Connector, act.Name, foldASCII)) &&
			c.pattern.covers(act, act.ByName) {
			return true
		}
	}
	return false
}

// allowing is the question whether an allow covers an act.
type allowing struct {
	call *Call
	act  *Act
	// byName wants a rule whose target names the act, withConnector one that
	// names the connector.
	byName, withConnector bool
	now                   time.Time
}

// allowed finds an allow rule that covers the act under its own name or that
// of the called tool.
func (s *RuleSet) allowed(q allowing) *Rule {
	if s == nil || q.act.Away {
		return nil
	}
	f := finder{index: &s.allows, act: q.act, now: q.now, best: -1, byName: q.byName, withConnector: q.withConnector}
	f.allow(q.call.Connector, q.call.Tool)
	if q.act.Connector != q.call.Connector || q.act.Name != q.call.Tool {
		f.allow(q.act.Connector, q.act.Name)
	}
	if f.best < 0 {
		return nil
	}
	return s.allows.rules[f.best].rule
}

// sourceFile returns the file of a FILE:LINE source.
func sourceFile(source string) string {
	if file, line, ok := cutLast(source, ":"); ok && line != "" && isDigit(line[0]) {
		return file
	}
	return source
}

func programOf(word string) string { return path.Base(word) }
