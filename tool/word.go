package tool

import "fmt"

// A Word is what config says about a tool: one meaning, in the many spellings
// that people know. The zero Word says nothing.
type Word string

// The words.
const (
	WordAllow Word = "allow"            // runs without asking
	WordAsk   Word = "ask"              // asks
	WordDeny  Word = "deny"             // blocked
	WordOnce  Word = "once_per_session" // asks, and a yes holds for the session
)

var words = map[string]Word{
	"allow": WordAllow, "none": WordAllow, "preApproved": WordAllow, "pre_approved": WordAllow, "false": WordAllow,
	"ask": WordAsk, "required": WordAsk, "approve": WordAsk, "true": WordAsk,
	"deny": WordDeny, "blocked": WordDeny,
	"once_per_session": WordOnce,
}

// ParseWord reads a word in any of its spellings. With an error the word is
// [WordDeny].
func ParseWord(text string) (Word, error) {
	if w, ok := words[text]; ok {
		return w, nil
	}
	return WordDeny, fmt.Errorf("unknown approval %q: it is allow, ask, deny or once_per_session", text)
}

// WordFor reads approval given as a bool: true asks, false allows.
func WordFor(approval bool) Word {
	if approval {
		return WordAsk
	}
	return WordAllow
}
