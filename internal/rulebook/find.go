package rulebook

import (
	"strings"

	"github.com/assent-dev/assent/policy"
)

// Find returns the rule that a person means: by its id, the beginning of it, or the text
// of the rule. The error is a [*policy.RuleError].
func Find(rules []policy.Rule, word string) (policy.Rule, error) {
	var found []policy.Rule
	for _, r := range rules {
		if r.ID == word || r.String() == word {
			return r, nil
		}
		if len(word) >= minPrefix && len(r.ID) > len(word) && strings.EqualFold(r.ID[:len(word)], word) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return policy.Rule{}, &policy.RuleError{Err: policy.ErrRuleNotFound, Rule: word, Detail: "'assent rules list' prints the ids"}
	}
	return policy.Rule{}, &policy.RuleError{Err: policy.ErrRuleNotFound, Rule: word, Detail: "several rules have an id that begins so; write more of it"}
}

// minPrefix is how much of an id has to be given, shownID how much is shown.
const (
	minPrefix = 4
	shownID   = 8
)

// ShortID returns the beginning of an id, which is enough to name a rule or grant.
func ShortID(id string) string {
	if len(id) > shownID && !strings.ContainsAny(id, ":./ ") {
		return id[:shownID]
	}
	return id
}
