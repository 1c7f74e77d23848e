package approval

import (
	"context"
	"time"
)

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
