package model

import (
	"context"
	"errors"

	"github.com/assent-dev/assent/internal/worker"
)

// Turn has one turn of the model at an endpoint. The prompt is translated once, and streamed
// as often as [Retry] says; a stream that is silent for too long is given up.
func Turn[Params any](ctx context.Context, e *Endpoint, p worker.Prompt, l worker.Listener,
	translate func(worker.Prompt, *Names) (Params, error),
	stream func(context.Context, Params, *Collector, func()) (worker.Turn, error),
) (worker.Turn, error) {
	names, err := NewNames(p.Tools)
	if err != nil {
		return worker.Turn{}, err
	}
	params, err := translate(p, names)
	if err != nil {
		return worker.Turn{}, err
	}
	return e.Retry.Turn(ctx, l, func(ctx context.Context) (worker.Turn, error) {
		quiet, heard, stop := unless(ctx, e.Silence)
		defer stop()
		turn, err := stream(quiet, params, NewCollector(names, l), heard)
		if err != nil && errors.Is(context.Cause(quiet), ErrSilent) {
			err = e.Broken(ErrSilent.Error())
		}
		return turn, err
	})
}
