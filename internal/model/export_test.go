package model

import (
	"context"

	"github.com/assent-dev/assent/internal/worker"
)

// Next plays the next turn of a conversation of one message.
func (s *Script) Next(ctx context.Context, message string, steps []worker.Step) (worker.Turn, error) {
	p := worker.Prompt{Rounds: []worker.Round{{Message: worker.Message{Text: message}, Steps: steps}}}
	return s.Talk(ctx, p, nil)
}
