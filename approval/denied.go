package approval

import (
	"context"
	"time"
)

// Denies says whether a deny rule, or a denial of the session, meets an act on its own, whatever
// the tool itself says about the act: what lists, searches, sandboxes and commands with many
// files ask about each of them. The rule is nil if none decided.
func (p Policy) Denies(session string, act Act, now time.Time) (Meets, *Rule) {
	call := Call{Tool: act.Name, Connector: act.Connector, Session: session}
	rule, meets := p.deny(&call, &act, now)
	if _, m := p.Grants.denied(&call, &act, now); m > meets {
		return m, nil
	}
	return meets, rule
}

// IsDenied reports whether an act is denied on its own by what is kept, or by the fixed rules. If
// what is kept cannot be read, everything is.
func IsDenied(ctx context.Context, kept interface {
	RuleStore
	GrantStore
}, session string, fixed *RuleSet, act Act, now time.Time) bool {
	rules, err := kept.Rules(ctx)
	if err != nil {
		return true
	}
	grants, err := kept.Grants(ctx, session)
	if err != nil {
		return true
	}
	meets, _ := Policy{Rules: rules, Fixed: fixed, Grants: grants}.Denies(session, act, now)
	return meets == Yes
}
