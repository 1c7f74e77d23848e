package policy

import (
	"fmt"
	"strings"
)

// A Step is one thing that was looked at on the way to an answer.
type Step struct {
	// Look is what was looked at: tool, definition, deny, allow, grant, mode,
	// person, limit.
	Look string `json:"look"`
	// Act is 1 + the index of the act, 0 for the whole call.
	Act int `json:"act,omitempty"`
	// Name is the act or call as rules name it.
	Name string `json:"name,omitempty"`
	// Found is what it said: free, ask, blocked, denied, possibly denied,
	// covered, open, approved, refused.
	Found string `json:"found"`
	// Source is what is behind it: a rule, a config line, a grant, a default.
	Source string `json:"source,omitempty"`
	// ID is the id of the rule or grant, if it is one.
	ID string `json:"id,omitempty"`
}

// String returns the step as a sentence.
func (s Step) String() string {
	text := s.Look
	if s.Name != "" {
		text += " " + s.Name
	}
	text += ": " + s.Found
	if s.Source != "" {
		text += ", " + s.Source
	}
	if s.ID != "" {
		text += " (" + s.ID + ")"
	}
	return text + "."
}

// A Trace is the path of a decision: each step that was taken, in order.
type Trace []Step

// String returns the trace, a sentence a line.
func (t Trace) String() string {
	var b strings.Builder
	for i, s := range t {
		fmt.Fprintf(&b, "%d. %s\n", i+1, s)
	}
	return b.String()
}

// A tracer collects steps if somebody wants them. Its methods do nothing on a
// nil tracer, so that the fast path pays nothing.
type tracer struct {
	trace Trace
	acts  []Act
}

func (t *tracer) call(look, found, source string) {
	if t != nil {
		t.trace = append(t.trace, Step{Look: look, Found: found, Source: source})
	}
}

func (t *tracer) act(i int, look, found, source, id string) {
	if t != nil {
		t.trace = append(t.trace, Step{Look: look, Act: i + 1, Name: t.acts[i].String(), Found: found, Source: source, ID: id})
	}
}

func (t *tracer) rule(i int, look, found string, r *Rule) {
	if t != nil {
		t.act(i, look, found, r.Origin(), r.ID)
	}
}

func (t *tracer) grant(i int, look, found string, g *Grant) {
	if t != nil {
		t.act(i, look, found, "grant "+g.String(), g.ID)
	}
}
