package policy

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"time"
)

// An index files the rules of one effect, so that only those are looked at that
// have something in common with an act. It is a hash table: each rule is filed
// under a key of what an act must have for the rule to match.
type index struct {
	rules []compiledRule // the rules of every effect
	fold  nameFold
	folds bool    // the texts of targets are filed and looked for without case, too
	heads []int32 // where a key's chain of links starts, by the key's upper bits
	shift uint
	links []link // the link 0 ends every chain
}

type link struct {
	key  key
	rule int32
	next int32
}

// A key is a hash of a connector, a name and a part of a target. Two keys that are
// equal by chance do no harm: a rule that is found is then matched in full.
type key uint64

func (k key) with(part uint64) key { return (k ^ key(part)) * 0x9e3779b97f4a7c15 }

func hashText(text string) uint64 { return maphash.String(hashSeed, text) }

var hashSeed = maphash.MakeSeed()

// A key starts with the hash of a connector or with one of these.
const (
	anyConnector   key = 0
	connectorGlobs key = 1 << 63 // rules for a connector that is a glob
)

// A key ends with a name, a program, a host, a gram or one of these.
const (
	withTarget uint64 = 1<<(8*gramSize) + iota // every rule for the name that has a target
	withoutGram
	someGlob // one of the globs, if there are any
)

// A gram is four bytes of text. A glob is filed under one that stands in
// everything the glob matches, and found by the grams of a text.
const gramSize = 4

func gram(s string, i int) uint64 {
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24
}

func newIndex(rules []compiledRule, effect Effect, fold nameFold) index {
	n := 0
	for i := range rules {
		if rules[i].rule.Effect == effect {
			n++
		}
	}
	if n == 0 {
		return index{rules: rules}
	}
	// With four heads for a rule, most keys that are not there meet an empty one.
	width := max(8, bits.Len(uint(4*n)))
	x := index{
		rules: rules, fold: fold, folds: effect == EffectDeny && foldsCase,
		heads: make([]int32, 1<<width), shift: uint(64 - width), links: make([]link, 1, n+1),
	}
	// From the last to the first, so that chains start with the earliest rule.
	for id := len(rules) - 1; id >= 0; id-- {
		if rules[id].rule.Effect == effect {
			x.file(int32(id), &rules[id].pattern)
		}
	}
	return x
}

func (x *index) add(k key, id int32) {
	head := &x.heads[k>>x.shift]
	x.links = append(x.links, link{k, id, *head})
	*head = int32(len(x.links) - 1)
}

// count counts the rules of a key, up to a limit.
func (x *index) count(k key, limit int) (n int) {
	for i := x.heads[k>>x.shift]; i != 0 && n < limit; i = x.links[i].next {
		if x.links[i].key == k {
			n++
		}
	}
	return n
}

// file files a rule by its connector, if that is exact, and by its name.
func (x *index) file(id int32, p *pattern) {
	var texts [8]string
	scope := anyConnector
	connector, one := p.connector.literal()
	if one {
		scope = key(hashText(connector))
	}
	if name, exact := p.name.literal(); exact {
		x.fileTarget(id, scope.with(hashText(name)), p)
	} else if p.connectorOnly && !one {
		x.fileGlob(id, connectorGlobs, p.connector.plainTexts(texts[:0]))
	} else {
		x.fileGlob(id, scope, p.name.plainTexts(texts[:0]))
	}
}

// fileTarget files a rule for an exact name by its target, in every way in which
// that can be read.
func (x *index) fileTarget(id int32, scope key, p *pattern) {
	if p.bare() {
		x.add(scope, id)
		return
	}
	x.add(scope.with(withTarget), id)
	if p.words != nil {
		x.add(scope.with(hashText(programOf(p.words.words[0]))), id)
	}
	if p.url != nil {
		x.add(scope.with(hashText(strings.TrimLeft(p.url.host, "*"))), id)
	}
	var texts [8]string
	if p.path != nil {
		// What stands in the path stands in the text too.
		x.fileGlob(id, scope, x.spelled(p.path.plainTexts(texts[:0])))
	} else {
		x.fileGlob(id, scope, x.spelled(p.text.plainTexts(texts[:0])))
	}
}

// spelled are texts of targets as they are filed.
func (x *index) spelled(texts []string) []string {
	for i := range texts {
		texts[i] = x.asFiled(texts[i])
	}
	return texts
}

func (x *index) asFiled(text string) string {
	if x.folds {
		return foldWide(text)
	}
	return text
}

// fileGlob files a rule under the gram of its plain texts that has the fewest
// rules so far. The last grams come first: numbered names differ at their end.
func (x *index) fileGlob(id int32, scope key, texts []string) {
	best, fewest := scope.with(withoutGram), len(x.rules)
	for t := len(texts) - 1; t >= 0; t-- {
		for i := len(texts[t]) - gramSize; i >= 0 && fewest > 0; i-- {
			k := scope.with(gram(texts[t], i))
			if n := x.count(k, fewest); n < fewest {
				best, fewest = k, n
			}
		}
	}
	x.add(best, id)
	if some := scope.with(someGlob); x.count(some, 1) == 0 {
		x.add(some, id)
	}
}

// A finder looks for the rule that decides about one act. It keeps the
// strictest finding, and of equal ones the earliest rule.
type finder struct {
	*index
	set           *RuleSet
	call          *Call
	act           *Act
	now           time.Time
	byName        bool   // only rules whose target names the act count
	withConnector bool   // only rules that name a connector count
	spells        int    // only rules that spell so many words count
	file          string // only exceptions of this file count

	connector, name string // what is looked for, folded
	foreign         bool   // that is the called tool and not the act
	best            int32
	found           Match
}

// find looks under the name of the called tool and under that of the act.
func (f *finder) find() (*Rule, Match) {
	if f.heads == nil {
		return nil, MatchNo
	}
	f.search(f.call.Connector, f.call.Tool)
	if f.act.Connector != f.call.Connector || f.act.Name != f.call.Tool {
		f.search(f.act.Connector, f.act.Name)
	}
	if f.found == MatchNo {
		return nil, MatchNo
	}
	return f.rules[f.best].rule, f.found
}

func (f *finder) search(connector, name string) {
	f.foreign = connector != f.act.Connector || name != f.act.Name
	f.connector, f.name = f.fold(connector), f.fold(name)
	hashed := hashText(f.name)
	f.tryNamed(anyConnector, hashed)
	if connector != "" {
		f.tryNamed(key(hashText(f.connector)), hashed)
		f.tryGlobs(connectorGlobs, f.connector)
	}
}

// tryNamed tries the rules under a connector whose name and target may match.
func (f *finder) tryNamed(scope key, name uint64) {
	f.tryGlobs(scope, f.name)
	scope = scope.with(name)
	f.tryKey(scope)
	if f.count(scope.with(withTarget), 1) == 0 {
		return
	}
	t := &f.act.Target
	command := t.command()
	switch {
	case t.Unknown || t.Loose || len(command) > 0 && command[0].Unknown:
		f.tryKey(scope.with(withTarget))
	case t.Kind == KindWords:
		// A deny passes over variables that are set before the command, an allow spells them.
		if len(command) > 0 {
			f.tryKey(scope.with(hashText(programOf(command[0].Text))))
		}
		if len(command) < len(t.Words) {
			f.tryKey(scope.with(hashText(programOf(t.Words[0].Text))))
		}
	case t.Kind == KindURL:
		host := t.URL.Host
		f.tryKey(scope.with(hashText(host)))
		f.tryKey(scope.with(hashText("")))
		for i := range len(host) {
			if host[i] == '.' {
				f.tryKey(scope.with(hashText(host[i:])))
			}
		}
	case t.Kind == KindPath:
		for _, s := range t.Written {
			f.tryGlobs(scope, f.asFiled(s))
		}
		for i, s := range t.Resolved {
			if i >= len(t.Written) || s != t.Written[i] {
				f.tryGlobs(scope, f.asFiled(s))
			}
		}
		for _, s := range t.Also {
			f.tryGlobs(scope, f.asFiled(s))
		}
	default:
		f.tryGlobs(scope, f.asFiled(t.Text))
	}
}

// tryGlobs tries the globs that may match the text.
func (f *finder) tryGlobs(scope key, text string) {
	if f.count(scope.with(someGlob), 1) == 0 {
		return
	}
	f.tryKey(scope.with(withoutGram))
	for i := range len(text) - gramSize + 1 {
		if k := scope.with(gram(text, i)); f.heads[k>>f.shift] != 0 {
			f.tryKey(k)
		}
	}
}

func (f *finder) tryKey(k key) {
	for i := f.heads[k>>f.shift]; i != 0; i = f.links[i].next {
		if f.links[i].key == k {
			f.try(f.links[i].rule)
		}
	}
}

func (f *finder) try(id int32) {
	c := &f.rules[id]
	if f.found == MatchYes && id >= f.best || !c.rule.active(f.now) || !c.rule.HoldsIn(f.call.Project) ||
		!c.named(f.connector, f.name) {
		return
	}
	if m := f.match(c); m > f.found || m != MatchNo && m == f.found && id < f.best {
		f.best, f.found = id, m
	}
}

func (f *finder) match(c *compiledRule) Match {
	matches := false
	switch c.rule.Effect {
	case EffectDeny:
		if m := c.pattern.meets(f.act); m == MatchNo || !f.set.excepted(c.rule, f.call, f.act, f.now) {
			return m
		}
	case EffectExcept:
		matches = sourceFile(c.rule.Source) == f.file && c.pattern.covers(f.act, f.byName)
	case EffectAllow:
		matches = !(f.withConnector && c.pattern.anyConnector) && c.answers(f.act, f.foreign, f.byName) &&
			(f.spells == 0 || c.pattern.words != nil && c.pattern.words.spells(f.spells))
	}
	if matches {
		return MatchYes
	}
	return MatchNo
}
