package tool

import (
	"context"
	"io"
)

type progressKey struct{}

// WithProgress returns a context in which tools tell w what they print while they
// run, so that a person sees that they are alive. What is written is raw output;
// whoever shows it makes it safe. It must not block: the tool waits for it.
func WithProgress(ctx context.Context, w io.Writer) context.Context {
	return context.WithValue(ctx, progressKey{}, w)
}

// Progress returns where a [Do] may write its output as it comes. Nobody need be
// there to see it, so it is never the tool's result.
func Progress(ctx context.Context) io.Writer {
	if w, ok := ctx.Value(progressKey{}).(io.Writer); ok {
		return w
	}
	return io.Discard
}
