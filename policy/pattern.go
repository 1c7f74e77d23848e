package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Match says whether a deny meets an act. The order matters: a larger value is
// the stricter finding.
type Match int

// The answers. Possibly means that an unknown part of the act decides.
const (
	MatchNo Match = iota
	MatchPossibly
	MatchYes
)

func possibly(unknown bool) Match {
	if unknown {
		return MatchPossibly
	}
	return MatchNo
}

// A pattern is the compiled form of what a rule matches: a connector, a name
// and a target, or a connector alone.
type pattern struct {
	connectorOnly bool
	anyConnector  bool // the rule names no connector
	connector     glob
	name          glob
	hasTarget     bool
	any           bool // the target is * or **, as wide as no target
	kind          Kind // the kind of the named built-in act, else empty
	words         *wordsPattern
	path          *pathPattern
	url           *urlPattern
	text          glob
	input         string // what is handed to the named one, as a digest; empty for anything
}

// nameFold makes names equal that differ in case only. A deny folds the letters
// of every script; an allow only a to z, so that a look-alike such as the Kelvin
// sign does not pass for the letter.
type nameFold func(string) string

func foldWide(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			// Up and down again: the long s has no lower case but the letter s.
			return strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, s)
		}
	}
	return foldASCII(s)
}

func foldASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; 'A' <= c && c <= 'Z' {
			return mapASCII(s)
		}
	}
	return s
}

func mapASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// splitPattern takes NAME, CONNECTOR:NAME, NAME(TARGET) or
// CONNECTOR:NAME(TARGET) apart. A parenthesis that is not closed at the very
// end is part of the name.
func splitPattern(text string) (connector, name, target string, hasTarget bool) {
	name = text
	if open := strings.IndexByte(text, '('); open > 0 && strings.HasSuffix(text, ")") {
		name, target, hasTarget = text[:open], text[open+1:len(text)-1], true
	}
	if before, after, ok := strings.Cut(name, ":"); ok {
		connector, name = before, after
	}
	return connector, name, target, hasTarget
}

func compilePattern(scope Scope, text string, fold nameFold) (pattern, error) {
	if scope == ScopeConnector {
		p := pattern{connectorOnly: true}
		if strings.ContainsAny(text, ":()") {
			return p, errors.New("write only the connector's name; for one of its tools write CONNECTOR:NAME")
		}
		var err error
		p.connector, err = compileName(text, fold)
		return p, err
	}
	connector, name, target, hasTarget := splitPattern(text)
	p := pattern{hasTarget: hasTarget, anyConnector: !strings.Contains(beforeTarget(text), ":")}
	var err error
	if !p.anyConnector {
		if p.connector, err = compileName(connector, fold); err != nil {
			return p, err
		}
	}
	if p.name, err = compileName(name, fold); err != nil {
		return p, err
	}
	if act, _, open := strings.Cut(fold(name), "("); open && (builtinKinds[act] != "" || builtinTools[act]) {
		return p, fmt.Errorf("the target of %s is not closed: end it with )", act)
	}
	if !hasTarget {
		return p, nil
	}
	return p, p.compileTarget(name, target)
}

func beforeTarget(text string) string {
	if open := strings.IndexByte(text, '('); open > 0 && strings.HasSuffix(text, ")") {
		return text[:open]
	}
	return text
}

func compileName(name string, fold nameFold) (glob, error) {
	if strings.TrimSpace(name) == "" {
		return glob{}, errEmptyName
	}
	if strings.ContainsAny(name, " \t\r\n") {
		return glob{}, fmt.Errorf("white space in the name %q", name)
	}
	return compileGlob(fold(name), false)
}

// compileTarget compiles the target for every kind of act that the name may
// stand for. The target of a built-in act must fit its kind; that of another
// tool is tried in every way in which it can be read.
func (p *pattern) compileTarget(name, target string) error {
	if strings.TrimSpace(target) == "" {
		return errEmptyTarget
	}
	if p.any = isAny(target); p.any {
		return nil
	}
	literal, _ := p.name.literal()
	if p.anyConnector {
		p.kind = builtinKinds[literal]
	}
	if p.kind == KindText {
		target, p.input = cutInput(target)
	}
	var err error
	if p.words, err = fitting(compileWords(target)); err != nil && p.kind == KindWords {
		return unfit(name, target, err)
	}
	if p.path, err = fitting(compilePath(target, p.name.match(ActShareFile))); err != nil && p.kind == KindPath {
		return unfit(name, target, err)
	}
	if p.url, err = fitting(compileURL(target, literal == ActConnect)); err != nil && p.kind == KindURL {
		return unfit(name, target, err)
	}
	if p.text, err = compileGlob(target, true); err != nil && (p.kind == KindText || p.kind == "") {
		return unfit(name, target, err)
	}
	return nil
}

// cutInput takes the digest of an input off a target: NAME, DIGEST.
func cutInput(target string) (name, input string) {
	name, input, ok := cutLast(target, ", ")
	if new(Digest).UnmarshalText([]byte(input)) != nil || !ok {
		return target, ""
	}
	return name, input
}

// coversText reports whether an allow covers a plain name. A wildcard stands for no control
// character: a name that has one is not what it looks like.
func (p *pattern) coversText(t *Target) bool {
	if _, literal := p.text.literal(); !literal && strings.ContainsFunc(t.Text, unicode.IsControl) {
		return false
	}
	return p.meetsText(t)
}

func (p *pattern) meetsText(t *Target) bool {
	return p.text.match(t.Text) && (p.input == "" || p.input == t.To)
}

// fitting keeps what was compiled; nil if it could not be.
func fitting[T any](compiled T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	kept := compiled
	return &kept, nil
}

func unfit(name, target string, err error) error {
	return fmt.Errorf("target %q of %s: %w", target, name, err)
}

// bare reports whether the pattern holds whatever the target is.
func (p *pattern) bare() bool { return !p.hasTarget || p.any }

// about reports whether the target of the pattern can be read as one of the
// act's: that of shell(ls) says nothing about the files of a command.
func (p *pattern) about(act *Act) bool {
	if p.bare() || p.kind == "" || act.Connector != "" {
		return true
	}
	kind, builtin := builtinKinds[act.Name]
	return !builtin || kind == p.kind
}

// covers is the match of an allow on an act's target. What is answered by name
// only needs a target, and an absolute path an absolute one.
func (p *pattern) covers(act *Act, byName bool) bool {
	t := &act.Target
	if t.Unknown || hides(t.Words) || !p.about(act) {
		return false
	}
	if p.bare() {
		return !byName && !act.Secret
	}
	switch t.Kind {
	case KindWords:
		return p.words != nil && p.words.covers(t)
	case KindPath:
		return p.path != nil && p.path.covers(t) && (!act.Secret || p.path.namesFile())
	case KindURL:
		return p.url != nil && p.url.covers(t)
	case KindText, KindArguments:
		return p.coversText(t)
	}
	return false
}

// meets is the match of a deny on an act's target. An unknown target may be any.
func (p *pattern) meets(act *Act) Match {
	if p.bare() {
		return MatchYes
	}
	if !p.about(act) {
		return MatchNo
	}
	return max(p.targetMeets(&act.Target), possibly(act.Target.Unknown))
}

func (p *pattern) targetMeets(t *Target) Match {
	switch t.Kind {
	case KindWords:
		if p.words != nil {
			return p.words.meets(t)
		}
	case KindPath:
		if p.path != nil {
			return p.path.meets(t)
		}
	case KindURL:
		if p.url != nil {
			return p.url.meets(t)
		}
	case KindText, KindArguments:
		if p.meetsText(t) {
			return MatchYes
		}
	}
	return MatchNo
}

// A NamePattern matches tools by name, as rules do, for config that speaks of
// tools by name.
type NamePattern struct{ compiled compiledRule }

// CompileName compiles NAME or CONNECTOR:NAME. The effect says how careful the
// match is: as an allow it does not reach a connector's tool that has taken the
// name of a built-in one.
func CompileName(effect Effect, pattern string) (NamePattern, error) {
	r := &Rule{Effect: effect, Scope: ScopeTool, Pattern: pattern, Enabled: true}
	p, err := r.compile()
	if err != nil {
		return NamePattern{}, err
	}
	if p.hasTarget {
		return NamePattern{}, r.fault(ErrMalformedRule, "leave out the target: only the name of a tool is allowed here")
	}
	return NamePattern{compiledRule{rule: r, pattern: p}}, nil
}

// Match reports whether the pattern is about the tool.
func (p NamePattern) Match(connector, name string) bool {
	if p.compiled.rule == nil {
		return false
	}
	fold := p.compiled.rule.fold()
	return p.compiled.named(fold(connector), fold(name))
}

// A CommandPattern is what a rule says about commands, for config that has its
// own lists of them: words as in a shell, a prefix of the command unless "= "
// stands before them. The zero CommandPattern matches nothing.
type CommandPattern struct{ words wordsPattern }

// CompileCommand reads a pattern.
func CompileCommand(text string) (CommandPattern, error) {
	words, err := compileWords(text)
	return CommandPattern{words}, err
}

// Covers is the match of an allow: only what is known and meant.
func (p CommandPattern) Covers(t Target) bool {
	return len(p.words.words) > 0 && t.Kind == KindWords && p.words.covers(&t)
}

// Spells reports whether an allow with this pattern answers the connections of a command that
// it covers, of which so many words have to be spelled: see [Act.Own].
func (p CommandPattern) Spells(words int) bool { return words > 0 && p.words.spells(words) }

// Match is the match of a deny: whatever may be meant.
func (p CommandPattern) Meets(t Target) Match {
	if t.Kind != KindWords || len(p.words.words) == 0 {
		return MatchNo
	}
	return max(p.words.meets(&t), possibly(t.Unknown))
}

// Words returns the words of the pattern.
func (p CommandPattern) Words() []string { return slices.Clone(p.words.words) }

// Hides reports whether every command that o covers is covered by p as well.
func (p CommandPattern) Hides(o CommandPattern) bool {
	mine, theirs := p.words.words, o.words.words
	if len(mine) == 0 || len(mine) > len(theirs) || !slices.Equal(mine, theirs[:len(mine)]) {
		return false
	}
	return !p.words.exact || o.words.exact && len(mine) == len(theirs)
}
