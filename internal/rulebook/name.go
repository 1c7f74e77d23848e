package rulebook

import (
	"errors"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
)

// ErrUnknownTool says that a rule names no tool there is, and nearly one that is.
var ErrUnknownTool = errors.New("unknown tool")

// CheckName looks at the tool that a rule names. A slip is an error, because a misspelt deny
// allows; a name that is not known here may be meant for a tool from elsewhere, and is
// worth a warning.
func CheckName(rule policy.Rule, known []string) (warning string, err error) {
	_, name, _, _ := split(rule.Pattern)
	if rule.Scope == policy.ScopeConnector || slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
		return "", nil
	}
	conf, err := config.Load("rule", []byte("rules: ["+quoted(rule.String())+"]\n"), "")
	var problems config.Problems
	if errors.As(err, &problems) {
		return "", &policy.RuleError{Err: ErrUnknownTool, Rule: rule.String(), Detail: afterColon(problems[0].Text)}
	}
	if err != nil || len(conf.Notes) == 0 {
		return "", err
	}
	return afterColon(conf.Notes[0].Text), nil
}

// afterColon leaves out the rule, which stands before the colon.
func afterColon(text string) string {
	if _, after, ok := strings.Cut(text, "): "); ok {
		return after
	}
	if _, after, ok := strings.Cut(text, ": "); ok {
		return after
	}
	return text
}
