package policy

import "encoding/json"

// A Call is one tool invocation that an agent wants.
type Call struct {
	// ID is the id that the model gave the call. Within a turn it is unique.
	ID string `json:"id"`
	// Connector says where a foreign tool comes from; empty for built-in tools.
	Connector string `json:"connector,omitempty"`
	// ReachTool is the tool's own name, as the model sees it.
	Tool string `json:"tool"`
	// KindArguments are the arguments; a [approval.Gate] keeps only their canonical form.
	Arguments json.RawMessage `json:"arguments"`
	// Definition is the digest of the tool's definition that the model was
	// shown. Zero means the definition at the moment of the review.
	Definition Digest `json:"definition,omitzero"`
	// Session is the run, chat or foreign session that the call belongs to.
	// Empty means the gate's own session.
	Session string `json:"session,omitempty"`
	// Workers is the chain of workers that led to the call, outermost first.
	Workers []string `json:"workers,omitempty"`
}

// Name returns the tool's name, behind that of its connector if it has one.
func (c Call) Name() string { return qualified(c.Connector, c.Tool) }

func qualified(connector, name string) string {
	if connector == "" {
		return name
	}
	return connector + ":" + name
}
