package trust

import (
	"context"

	"github.com/assent-dev/assent/internal/config"
)

// Standing says whether a file is trusted as it is now, with all that it would load or start.
func Standing(ctx context.Context, known Store, f *config.File) (State, error) {
	bundle, err := Of(f)
	if err != nil {
		return Untrusted, err
	}
	record, there, err := known.Get(ctx, bundle.Path)
	if err != nil {
		return Untrusted, err
	}
	state, _ := Compare(bundle, record, there)
	return state, nil
}
