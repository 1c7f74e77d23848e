package rulebook

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// ErrWide says that a rule allows nearly everything and nobody said yes to that.
var ErrWide = errors.New("wide rule")

// KeepOptions say how a new rule is looked at.
type KeepOptions struct {
	Wide  bool // it may allow nearly everything
	Tools int  // how many known tools it may be about without a warning
	Limit int  // how many rules are kept
	// Folders are the names of the folders that tools may reach where the rule is written; empty if
	// that is not known.
	Folders []string
}

// Keep saves a rule and says what is worth knowing about it.
func Keep(ctx context.Context, s *store.Store, rule policy.Rule, o KeepOptions) ([]Advice, error) {
	known, err := knownTools(ctx, s)
	if err != nil {
		return nil, err
	}
	advice := []Advice{}
	warning, err := CheckName(rule, known)
	if err != nil {
		return nil, err
	}
	if warning != "" {
		advice = append(advice, Advice{Concern: "unknown-tool", Text: warning})
	}
	if text := config.Unreached(rule, o.Folders); text != "" {
		advice = append(advice, Advice{Concern: Unreached, Text: text})
	}
	if text := Connects(rule); text != "" {
		advice = append(advice, Advice{Concern: Connections, Text: text})
	}
	set, err := s.Rules(ctx)
	if err != nil {
		return nil, err
	}
	advice = append(advice, Advise(set.Rules(), rule, known, o.Tools, time.Now())...)
	if why := Wide(rule); why != "" {
		err := policy.CheckNewRule(set.Rules(), rule, o.Limit) // that is the better reason
		if err == nil && !o.Wide {
			err = &policy.RuleError{Err: ErrWide, Rule: rule.String(), Detail: why + "; add --wide if you mean it"}
		}
		if err != nil {
			return nil, err
		}
		advice = append(advice, Advice{Concern: "wide", Text: why})
	}
	return advice, s.AddRules(ctx, rule)
}

// manySeen is how many records are looked through for the names of tools.
const manySeen = 2000

// knownTools are the names of the tools of this program, and of those that were called
// lately.
func knownTools(ctx context.Context, s *store.Store) ([]string, error) {
	names := config.BuiltinTools()
	for r, err := range s.Records(ctx, approval.RecordFilter{Last: manySeen}) {
		if err != nil {
			return nil, err
		}
		name := policy.Call{Connector: r.Connector, Tool: r.Tool}.Name()
		if r.Tool != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// refusals are the reasons for which a rule is not kept, in a word.
var refusals = []struct {
	err  error
	word string
}{
	{policy.ErrEmptyPattern, "empty"}, {policy.ErrMalformedRule, "malformed"},
	{policy.ErrDuplicateRule, "duplicate"}, {policy.ErrRuleLimit, "limit"}, {ErrUnknownTool, "unknown-tool"},
	{ErrWide, "wide"},
}

// Refused is the reason for which a rule was not kept, in a word; empty for another error.
func Refused(err error) string {
	for _, r := range refusals {
		if errors.Is(err, r.err) {
			return r.word
		}
	}
	return ""
}
