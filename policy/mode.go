package policy

import (
	"fmt"
	"strings"
)

// A Mode says who answers when nothing remembered does. The zero Mode is
// [ModeAsk], which refuses where nobody can be asked.
type Mode int

// The modes.
const (
	ModeAsk        Mode = iota // the approver
	ModeApproveAll             // yes, except for what only a person may answer
	ModeStrict                 // no
)

var modeWords = map[string]Mode{
	"ask": ModeAsk, "interactive": ModeAsk,
	"approve-all": ModeApproveAll, "approve_all": ModeApproveAll, "auto_approve": ModeApproveAll,
	"strict": ModeStrict, "auto_deny": ModeStrict,
}

// ParseMode reads a mode in any of its spellings.
func ParseMode(word string) (Mode, error) {
	if m, ok := modeWords[strings.ToLower(word)]; ok {
		return m, nil
	}
	return ModeStrict, fmt.Errorf("unknown mode %q: it is ask, approve-all or strict", word)
}

func (m Mode) String() string {
	switch m {
	case ModeAsk:
		return "ask"
	case ModeApproveAll:
		return "approve-all"
	}
	return "strict"
}
