package approval

import (
	"slices"
	"time"
)

// An index holds the rules of one effect, filed so that few must be looked at.
type index struct {
	rules      []compiledRule
	byName     map[nameKey]*bucket
	globs      gramIndex // rules whose name or connector is a glob, by name
	connectors map[string][]int32
	connGlobs  gramIndex // rules for a connector that is a glob
	hasConn    bool
}

type compiledRule struct {
	rule    *Rule
	pattern pattern
}

// A nameKey files rules whose names are exact.
type nameKey struct{ connector, name string }

// everyConnector stands in a nameKey for rules that name no connector; no
// connector has this name.
const everyConnector = "\x00"

// A bucket holds the rules for one exact name.
type bucket struct {
	all      []int32
	bare     []int32            // without a target
	programs map[string][]int32 // commands, by the program's base name
	hosts    map[string][]int32 // URLs with an exact host
	targets  func() *gramIndex  // other targets; filed when the first is asked for
}

// named reports whether the rule is about this tool or act.
func (c *compiledRule) named(connector, name string, fold nameFold) bool {
	p := &c.pattern
	connector, name = fold(connector), fold(name)
	if p.connectorOnly {
		return connector != "" && p.connector.match(connector)
	}
	if !p.name.match(name) {
		return false
	}
	if p.anyConnector {
		// Trust in a built-in tool says nothing about a stranger's tool that
		// took its name.
		return connector == "" || c.rule.Effect == Deny || builtinKinds[name] == "" && !builtinTools[name]
	}
	return connector != "" && p.connector.match(connector)
}

// answers reports whether an allow answers the act. Under the name of the
// called tool, the target of a rule is not taken for a command that the tool
// runs, unless the tool is the shell.
func (c *compiledRule) answers(act *Act, foreign, byName bool) bool {
	p := &c.pattern
	if foreign && act.Target.Kind == Words && !p.bare() && p.kind != Words {
		return false
	}
	return p.covers(act, byName)
}

// A finder looks for the rule that decides about one act. It keeps the
// strictest finding, and of equal ones the earliest rule.
type finder struct {
	index         *index
	act           *Act
	now           time.Time
	byName        bool             // only rules whose target names the act count
	foreign       bool             // the rule is looked for under the tool's name, not the act's
	withConnector bool             // only rules that name a connector count
	lift          func(*Rule) bool // whether a found deny is excepted
	best          int32
	found         Meets
}

func (f *finder) deny(connector, name string) { f.search(connector, name, foldWide, f.tryDeny) }

func (f *finder) allow(connector, name string) {
	f.foreign = connector != f.act.Connector || name != f.act.Name
	f.search(connector, name, foldASCII, f.tryAllow)
}

// search tries every rule that may be about the tool or act.
func (f *finder) search(connector, name string, fold nameFold, try func(id int32)) {
	x := f.index
	if len(x.rules) == 0 {
		return
	}
	connector, name = fold(connector), fold(name)
	checked := func(id int32) {
		if x.rules[id].named(connector, name, fold) {
			try(id)
		}
	}
	f.bucket(x.byName[nameKey{everyConnector, name}], checked)
	if connector != "" {
		f.bucket(x.byName[nameKey{connector, name}], checked)
	}
	x.globs.candidates(name, checked)
	if x.hasConn && connector != "" {
		for _, id := range x.connectors[connector] {
			try(id)
		}
		x.connGlobs.candidates(connector, checked)
	}
}

// bucket tries the rules for an exact name whose target may fit the act's.
func (f *finder) bucket(b *bucket, try func(id int32)) {
	if b == nil {
		return
	}
	t := &f.act.Target
	if t.Unknown || t.Loose || hasUnknown(t.Words) {
		for _, id := range b.all {
			try(id)
		}
		return
	}
	for _, id := range b.bare {
		try(id)
	}
	switch t.Kind {
	case Words:
		if words := t.command(); len(words) > 0 && len(words) < len(t.Words) {
			for _, id := range b.programs[programOf(words[0].Text)] {
				try(id)
			}
		}
		if len(t.Words) > 0 {
			for _, id := range b.programs[programOf(t.Words[0].Text)] {
				try(id)
			}
		}
	case URL:
		for _, id := range b.hosts[t.URL.Host] {
			try(id)
		}
		for _, id := range b.hosts[""] {
			try(id)
		}
	case Path:
		for _, s := range t.Written {
			b.targets().candidates(s, try)
		}
		for _, s := range t.Resolved {
			if !slices.Contains(t.Written, s) {
				b.targets().candidates(s, try)
			}
		}
		for _, s := range t.Also {
			b.targets().candidates(s, try)
		}
	default:
		b.targets().candidates(t.Text, try)
	}
}

func (f *finder) tryDeny(id int32) {
	c := &f.index.rules[id]
	if !c.rule.active(f.now) {
		return
	}
	m := c.pattern.meets(f.act)
	if m == No || m < f.found || m == f.found && id >= f.best {
		return
	}
	if f.lift != nil && f.lift(c.rule) {
		return
	}
	f.best, f.found = id, m
}

func (f *finder) tryAllow(id int32) {
	c := &f.index.rules[id]
	if f.best >= 0 && id >= f.best || f.withConnector && c.pattern.anyConnector {
		return
	}
	if c.rule.active(f.now) && c.answers(f.act, f.foreign, f.byName) {
		f.best = id
	}
}
