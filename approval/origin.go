package approval

import (
	"context"
	"time"
)

// An Origin says where a request comes from, for a person who answers it somewhere else. Nothing
// depends on it but what they are shown. Empty parts are unknown.
type Origin struct {
	// Agent is who asks: the name of another agent, of a worker, or of a program.
	Agent string `json:"agent,omitempty"`
	// Folder is the repository or project that it works in, Branch what is checked out there.
	Folder string `json:"folder,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Process waits for the answer. It is zero if none does: then the answer is taken later.
	Process Process `json:"process,omitzero"`
	// Until is when it stops waiting; zero for as long as it takes.
	Until time.Time `json:"until,omitzero"`
}

// A Process identifies a process: its number alone is used again.
type Process struct {
	Host    string `json:"host,omitempty"`
	ID      int    `json:"pid,omitempty"`
	Started string `json:"started,omitempty"`
}

// An OwnerStore is a [RequestStore] that can tell whether a process is gone: requests that it
// waits for are not open any more then.
type OwnerStore interface {
	RequestStore
	// Owner is this process.
	Owner() Process
}

// awaited returns the request as it is posted by a process that waits for the answer.
func (q queue) awaited(ctx context.Context, r *Request) *Request {
	posted := *r // which may be on a screen meanwhile
	if s, ok := q.store.(OwnerStore); ok {
		posted.Origin.Process = s.Owner()
	}
	if until, ok := ctx.Deadline(); ok {
		posted.Origin.Until = until
	}
	return &posted
}
