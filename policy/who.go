package policy

// Via says by what way an answer came.
type Via string

// The ways. An answer that says nothing came from the program that embeds the
// gate.
const (
	ViaProgram     Via = "program"
	ViaTerminal    Via = "terminal"
	ViaInbox       Via = "inbox"
	ViaCommand     Via = "command"
	ViaElicitation Via = "elicitation"
	ViaAgentPrompt Via = "agent-prompt"
	ViaRule        Via = "rule"
	ViaGrant       Via = "grant"
	ViaMode        Via = "mode"
)

// Who says who answered.
type Who struct {
	User string `json:"user,omitempty"`
	Host string `json:"host,omitempty"`
	Via  Via    `json:"via,omitempty"`
}

// String returns who answered, for a sentence.
func (w Who) String() string {
	text := w.User
	switch {
	case text != "" || w.Host != "":
	case w.Via == ViaRule || w.Via == ViaGrant || w.Via == ViaMode:
		return "a " + string(w.Via)
	default:
		text = "somebody"
	}
	if w.Host != "" {
		text += " on " + w.Host
	}
	if w.Via != "" {
		text += " (" + string(w.Via) + ")"
	}
	return text
}
