package model

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/assent-dev/assent/internal/worker"
)

// maxTurn is how large a turn may be. No provider's limit of tokens comes near it.
const maxTurn = 32 << 20

// A Collector gathers a turn from the pieces of a stream. Nothing of it is a turn before
// [Collector.Turn], which is only called when the stream has come to its proper end.
type Collector struct {
	Usage worker.Usage

	names    *Names
	listener worker.Listener
	text     strings.Builder
	calls    []*partCall
	size     int
}

// A partCall is a call of which not everything may have come yet.
type partCall struct {
	id, name  string
	arguments strings.Builder
}

// NewCollector returns a collector for one turn. The listener may be nil.
func NewCollector(names *Names, l worker.Listener) *Collector {
	return &Collector{names: names, listener: l}
}

// Text adds a piece of what the model says.
func (c *Collector) Text(piece string) {
	if piece == "" {
		return
	}
	c.size += len(piece)
	c.text.WriteString(piece)
	if c.listener != nil {
		c.listener.Text(piece)
	}
}

// Begin adds a call and returns its number.
func (c *Collector) Begin(id, name string) int {
	c.calls = append(c.calls, &partCall{id: id, name: name})
	return len(c.calls) - 1
}

// Arguments adds a piece of the arguments of a call that has begun.
func (c *Collector) Arguments(call int, piece string) {
	c.size += len(piece)
	c.calls[call].arguments.WriteString(piece)
}

// Check reports a turn that is too large to go on with.
func (c *Collector) Check() error {
	if c.size > maxTurn {
		return fmt.Errorf("it has more than %d bytes", maxTurn)
	}
	return nil
}

// Turn returns what was gathered. Every call has an id of its own.
func (c *Collector) Turn() (worker.Turn, error) {
	turn := worker.Turn{Text: c.text.String(), Usage: c.Usage}
	seen := map[string]bool{}
	for i, call := range c.calls {
		if call.name == "" {
			return worker.Turn{}, fmt.Errorf("call %d has no name", i+1)
		}
		id := call.id
		for n := i + 1; id == "" || seen[id]; n++ {
			id = fmt.Sprintf("call-%d", n)
		}
		seen[id] = true
		turn.Calls = append(turn.Calls, c.names.Call(id, call.name, readArguments(call.arguments.String())))
	}
	return turn, nil
}

// readArguments returns what a model wrote as arguments. What is not JSON becomes a JSON
// text, so that it can be kept; the gate refuses it and tells the model why.
func readArguments(text string) json.RawMessage {
	switch {
	case strings.TrimSpace(text) == "":
		return json.RawMessage("{}")
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // a text always has a JSON form
	return quoted
}

// Arguments returns the arguments of an earlier call as a JSON object, for the
// conversation as providers want to see it.
func Arguments(c worker.Call) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(c.Arguments, &object) == nil && object != nil {
		return c.Arguments
	}
	wrapped, err := json.Marshal(map[string]string{"not_an_object": string(c.Arguments)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return wrapped
}

// A ResultOf is what a model is told about one of its calls.
type ResultOf struct {
	ID    string
	Text  string
	Error bool // it did not run, or failed
}

// Results returns a result for each call of a step, in order. Providers want one for
// every call, so a call that has none, because the run was interrupted, is told so.
func Results(s worker.Step) []ResultOf {
	out := make([]ResultOf, len(s.Turn.Calls))
	for i, c := range s.Turn.Calls {
		out[i] = ResultOf{ID: c.ID, Text: "[INTERRUPTED] The run was interrupted; this call has no result.", Error: true}
		if i < len(s.Results) {
			out[i].Text, out[i].Error = s.Results[i].Text, s.Results[i].Err != nil
		}
		if strings.TrimSpace(out[i].Text) == "" {
			out[i].Text = "(empty)" // providers take no empty text
		}
	}
	return out
}
