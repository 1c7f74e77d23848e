package approval

import (
	"context"
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

// A Switch is the master switch of all gates that share it. Off, [ModeAsk] answers
// as [ModeApproveAll] does; what waits already is still asked. It is looked at for
// every judgement, also at the last moment before a call runs.
type Switch interface {
	// Approvals reports whether people are asked.
	Approvals(ctx context.Context) (on bool, err error)
}

// switchedOff reports whether the master switch is off. A mode that asks nobody does not
// look at it.
func (g *Gate) switchedOff(ctx context.Context) (off bool, err error) {
	master, ok := g.cfg.Rules.(Switch)
	if !ok || g.cfg.Mode != ModeAsk {
		return false, nil
	}
	err = safely("reading the master switch", func() error {
		on, err := master.Approvals(ctx)
		off = err == nil && !on
		return err
	})
	return off, err
}
