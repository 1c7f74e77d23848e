package terminal

import (
	"context"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
)

// A Questions is where questions lie and answers are put: an [*approval.Batch], or an [Inbox].
type Questions interface {
	Pending() []*approval.Request
	Resolve(ctx context.Context, decisions ...approval.Decision) error
	Outcomes() []approval.Outcome
}

// An Inbox is a desk with the questions of other processes. It is never done: more may
// come, and others may answer what lies there. It is safe for concurrent use.
type Inbox interface {
	Questions
	// Watch returns a channel that holds a value whenever what is pending may have
	// changed, until stop is called.
	Watch() (changed <-chan struct{}, stop func())
	// About says what the request itself does not.
	About(ctx context.Context, r *approval.Request) About
	// Quiet is what is shown while nothing waits, the most important part first.
	Quiet() []string
	// Err returns why there will be no more questions, or nil. What is pending is nothing
	// then.
	Err() error
}

// About is what an inbox knows of a request. Empty parts are not shown.
type About struct {
	// From says who asks.
	From string
	// Problem says why an answer that was given had no effect.
	Problem string
}

// rows are what is known, in rows of at most n cells.
func (a About) rows(n int) []line {
	var rows []line
	if a.From != "" {
		rows = append(rows, wrap(line{{"From: ", faint}, {present.SafeLine(a.From), plain}}, n, nil)...)
	}
	if a.Problem != "" {
		rows = append(rows, wrap(styled(warn, "An earlier answer had no effect: "+present.SafeLine(a.Problem)), n, nil)...)
	}
	return rows
}
