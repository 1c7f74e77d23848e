package tool

import (
	"context"
	"encoding/json"

	"github.com/assent-dev/assent/policy"
)

// Under returns the tools as ones whose calls act under the sandbox profile with this
// digest, unless they name another one themselves. An answer to a call is bound to it.
func Under(profile policy.Digest, tools ...Tool) []Tool {
	out := make([]Tool, len(tools))
	for i, t := range tools {
		out[i] = wrap(t, func(ctx context.Context, args json.RawMessage) (Action, error) {
			a, err := t.Prepare(ctx, args)
			if a.profile.IsZero() {
				a = a.Under(profile)
			}
			return a, err
		})
	}
	return out
}
