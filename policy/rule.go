package policy

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"
)

// An Effect says what a rule does with what it matches.
type Effect string

// The effects. The zero Effect is refused.
const (
	EffectAllow Effect = "allow"
	EffectDeny  Effect = "deny"
	// EffectExcept lifts the denies that have the same Source. It stands in files
	// only, never among the rules that a person keeps.
	EffectExcept Effect = "except"
)

// A Scope says what a rule's pattern is matched against.
type Scope string

// The scopes.
const (
	ScopeTool      Scope = "tool"      // a tool or an act, with or without a target
	ScopeConnector Scope = "connector" // every tool of a connector
)

// A Rule is an answer that is kept permanently.
type Rule struct {
	ID string `json:"id"`
	// Pattern is NAME, CONNECTOR:NAME, NAME(TARGET) or CONNECTOR:NAME(TARGET);
	// with ScopeConnector the connector's name. Names and connectors are globs
	// (* ? [a-z]) without case.
	Pattern string `json:"pattern"`
	Effect  Effect `json:"type"`
	Scope   Scope  `json:"scope"`
	// Project is the folder of the project whose calls the rule answers, as an absolute path with
	// symbolic links resolved. Empty means everywhere.
	Project string    `json:"project,omitempty"`
	Created time.Time `json:"created,omitzero"`
	Enabled bool      `json:"enabled"`
	// Expires is when the rule ends to hold; zero means never.
	Expires time.Time `json:"expires,omitzero"`
	// Because is shown to the person and, on a denial, returned to the model.
	Because string `json:"because,omitempty"`
	// Note is a remark of whoever keeps the rule, shown to them alone.
	Note string `json:"note,omitempty"`
	// Source is the file and line that the rule comes from, if it has one.
	Source string `json:"source,omitempty"`
}

// ParseRule reads the text form of a rule, for example
//
//	allow write_file(notes/**)
//	deny shell(git push)
//	allow github:search_*
//	deny connector github-mcp
//
// The rule is enabled and has neither id nor time. The error, if any, is a
// [*RuleError].
func ParseRule(text string) (Rule, error) {
	rule := readRule(text)
	if err := rule.Validate(); err != nil {
		return Rule{}, err
	}
	return rule, nil
}

// readRule takes the text of a rule apart.
func readRule(text string) Rule {
	effect, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rule := Rule{Effect: Effect(strings.ToLower(effect)), Scope: ScopeTool, Enabled: true}
	rest = strings.TrimSpace(rest)
	if after, ok := strings.CutPrefix(rest, "connector "); ok {
		rule.Scope, rest = ScopeConnector, strings.TrimSpace(after)
	}
	rule.Pattern = rest
	return rule
}

// String returns the text form.
func (r Rule) String() string {
	if r.Scope == ScopeConnector {
		return string(r.Effect) + " connector " + r.Pattern
	}
	return string(r.Effect) + " " + r.Pattern
}

// Validate reports with a [*RuleError] why the rule cannot be used.
func (r Rule) Validate() error {
	_, err := r.compile()
	return err
}

func (r Rule) compile() (pattern, error) {
	switch r.Effect {
	case EffectAllow, EffectDeny, EffectExcept:
	default:
		return pattern{}, r.fault(ErrMalformedRule, fmt.Sprintf("it starts with %q; write allow or deny", string(r.Effect)))
	}
	if r.Scope != ScopeTool && r.Scope != ScopeConnector {
		return pattern{}, r.fault(ErrMalformedRule, fmt.Sprintf("unknown scope %q: use tool or connector", string(r.Scope)))
	}
	if strings.TrimSpace(r.Pattern) == "" {
		return pattern{}, r.fault(ErrEmptyPattern, "write the name of a tool after "+string(r.Effect))
	}
	if r.Pattern != strings.TrimSpace(r.Pattern) || strings.ContainsAny(r.Pattern, "\x00\r\n") || !utf8.ValidString(r.Pattern) {
		return pattern{}, r.fault(ErrMalformedRule, "white space around the pattern, a control character in it, or text that is not UTF-8")
	}
	if !validProject(r.Project) {
		return pattern{}, r.fault(ErrMalformedRule, fmt.Sprintf("invalid project folder %q: write an absolute path", r.Project))
	}
	p, err := compilePattern(r.Scope, r.Pattern, r.fold())
	switch {
	case err == errEmptyName || err == errEmptyTarget:
		return p, r.fault(ErrEmptyPattern, err.Error())
	case err != nil:
		return p, r.fault(ErrMalformedRule, err.Error())
	}
	if r.Effect == EffectDeny && p.path != nil {
		p.path.reachBelow()
	}
	if r.Effect == EffectExcept && p.words != nil && !strings.HasSuffix(r.Pattern, " *)") {
		p.words.exact = len(p.words.words) > 0
	}
	return p, nil
}

// validProject takes folders as [Call.Project] has them. A project that cannot be named in one line
// of text has no rules of its own.
func validProject(folder string) bool {
	return folder == "" || path.IsAbs(folder) && path.Clean(folder) == folder &&
		!strings.ContainsAny(folder, "\x00\r\n") && utf8.ValidString(folder)
}

// HoldsIn reports whether the rule is for calls of a project: one for everywhere is.
func (r *Rule) HoldsIn(project string) bool { return r.Project == "" || r.Project == project }

// Everywhere is the scope of a rule without a project, for a person.
const Everywhere = "everywhere"

// Where is the scope of the rule for a person: "everywhere", or "in" and the folder of its project.
func (r Rule) Where() string { return Where(r.Project) }

// Where is the scope of rules for a project, for a person.
func Where(project string) string {
	if project == "" {
		return Everywhere
	}
	return "in " + project
}

// RulesIn returns the rules that are for calls of a project.
func RulesIn(rules []Rule, project string) []Rule {
	var out []Rule
	for i := range rules {
		if rules[i].HoldsIn(project) {
			out = append(out, rules[i])
		}
	}
	return out
}

func (r Rule) fold() nameFold {
	if r.Effect == EffectDeny {
		return foldWide
	}
	return foldASCII
}

// active reports whether the rule holds at now.
func (r *Rule) active(now time.Time) bool {
	return r.Enabled && (r.Expires.IsZero() || now.Before(r.Expires))
}

// key is what two rules of a project may not share: the effect, the scope, the names without
// case, and the target.
func (r Rule) key() string {
	if r.Scope == ScopeConnector {
		return string(r.Effect) + " connector " + foldWide(r.Pattern)
	}
	head := beforeTarget(r.Pattern)
	return string(r.Effect) + " tool " + foldWide(head) + r.Pattern[len(head):]
}

// Same reports whether another rule says the same under the same id. When it was
// made, and where it comes from, do not count.
func (r Rule) Same(other Rule) bool {
	return r.ID == other.ID && r.Pattern == other.Pattern && r.Effect == other.Effect && r.Scope == other.Scope &&
		r.Project == other.Project && r.Enabled == other.Enabled && r.Because == other.Because && r.Note == other.Note &&
		r.Expires.Equal(other.Expires)
}

// Origin returns the rule with where it comes from, for a reason. The model is told reasons, so
// that the folder of a project is not named.
func (r *Rule) Origin() string {
	switch {
	case r.Source != "":
		return "rule " + r.String() + " at " + r.Source
	case r.Project != "":
		return "rule " + r.String() + " of this project"
	}
	return "rule " + r.String()
}

// Why a rule was refused; match with [errors.Is].
var (
	ErrEmptyPattern  = errors.New("empty pattern")
	ErrMalformedRule = errors.New("malformed rule")
	ErrDuplicateRule = errors.New("duplicate rule")
	ErrRuleLimit     = errors.New("too many rules")
	ErrRuleNotFound  = errors.New("no such rule")
	ErrGrantNotFound = errors.New("no such grant")
)

var (
	errEmptyName   = errors.New("the name is empty")
	errEmptyTarget = errors.New("the target in () is empty")
)

// A RuleError says which rule was refused and why.
type RuleError struct {
	Err      error  // one of the sentinels above
	Rule     string // the rule's text, or the id that was not found
	Detail   string // what is wrong and what to do
	Existing *Rule  // with [ErrDuplicateRule]: the rule that is there
}

func (e *RuleError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("rule %q: %v", e.Rule, e.Err)
	}
	return fmt.Sprintf("rule %q: %v: %s", e.Rule, e.Err, e.Detail)
}

func (e *RuleError) Unwrap() error { return e.Err }

func (r Rule) fault(err error, detail string) error {
	return &RuleError{Err: err, Rule: r.String(), Detail: detail}
}
