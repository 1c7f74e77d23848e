package policy

import (
	"errors"
	"fmt"
)

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
