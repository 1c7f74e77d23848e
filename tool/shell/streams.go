package shell

import (
	"context"
	"io"
	"syscall"
)

// Streams are for a command that somebody else waits for: another agent, which ends it when it
// takes too long.
type Streams struct {
	// Stdout and Stderr receive its output as it comes.
	Stdout, Stderr io.Writer
	// Signals are handed to it.
	Signals <-chan syscall.Signal
}

type streamsKey struct{}

// WithStreams returns a context in which a command has streams. It has no time limit then.
func WithStreams(ctx context.Context, s Streams) context.Context {
	return context.WithValue(ctx, streamsKey{}, s)
}

// StreamsOf returns the streams of a command, if it has some.
func StreamsOf(ctx context.Context) (Streams, bool) {
	s, ok := ctx.Value(streamsKey{}).(Streams)
	return s, ok
}
