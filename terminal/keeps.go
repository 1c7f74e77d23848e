package terminal

import (
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// keepsSession reports whether a request takes such an answer for the session.
func keepsSession(r *approval.Request, e policy.Effect) bool {
	return !r.NoSession && canKeep(r, e)
}

// keepsAlways reports whether a request takes such an answer as rules.
func keepsAlways(r *approval.Request, e policy.Effect) bool {
	return !r.NoAlways && canKeep(r, e)
}

// canKeep reports whether there is something to remember: a yes that only a person may
// give is given each time, a no may be kept.
func canKeep(r *approval.Request, e policy.Effect) bool {
	if e == policy.EffectAllow && r.PersonOnly {
		return false
	}
	return slices.ContainsFunc(r.Offers, func(o policy.Offer) bool { return len(offeredRules(o, e)) > 0 })
}

// offeredRules returns the rules of an offer for such an answer.
func offeredRules(o policy.Offer, e policy.Effect) []string {
	if e == policy.EffectDeny {
		return o.Deny
	}
	return o.Allow
}
