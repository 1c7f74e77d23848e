package approval

import (
	"context"
	"time"

	"github.com/assent-dev/assent/policy"
)

// IsDenied reports whether an act is denied on its own by what is kept, or by the fixed rules. If
// what is kept cannot be read, everything is.
func IsDenied(ctx context.Context, kept interface {
	RuleStore
	GrantStore
}, session string, fixed *policy.RuleSet, act policy.Act, now time.Time) bool {
	rules, err := kept.Rules(ctx)
	if err != nil {
		return true
	}
	grants, err := kept.Grants(ctx, session)
	if err != nil {
		return true
	}
	meets, _ := policy.Policy{Rules: rules, Fixed: fixed, Grants: grants}.Denies(session, act, now)
	return meets == policy.MatchYes
}
