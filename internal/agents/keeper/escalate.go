package keeper

import (
	"context"
	"encoding/json"
	"sync"
)

// refusals are the commands of a session that the sandbox refused something to, by their arguments.
// Another agent's model has no word for "let it leave": it runs the command again, and then a person
// is asked.
type refusals struct {
	mu  sync.Mutex
	all map[string]bool
}

// maxRefused is how many are remembered at once.
const maxRefused = 1000

// escalated are the arguments of a command that was refused something, as those that ask to leave
// the sandbox; others stay as they are.
func (r *refusals) escalated(args json.RawMessage) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.all[string(args)] {
		return args
	}
	delete(r.all, string(args))
	return withEscalate(args)
}

// withEscalate are arguments with the word that asks to leave the sandbox.
func withEscalate(args json.RawMessage) json.RawMessage {
	var in map[string]any
	if json.Unmarshal(args, &in) != nil {
		return args
	}
	in["escalate"] = true
	out, err := json.Marshal(in)
	if err != nil {
		return args
	}
	return out
}

// again is what a model is told whose command was refused something that a person may allow.
const again = "assent: run the same command once more to have a person asked whether it may"

// offer notes that a command was refused something that a person may allow, and says what to do;
// empty if there is nothing of the kind.
func (k *keeper) offer(ctx context.Context, args json.RawMessage) string {
	if _, err := k.shell.Prepare(ctx, withEscalate(args)); err != nil {
		return "" // nothing was refused, or nobody may allow it
	}
	k.refused.mu.Lock()
	defer k.refused.mu.Unlock()
	if k.refused.all == nil || len(k.refused.all) >= maxRefused {
		k.refused.all = map[string]bool{}
	}
	k.refused.all[string(args)] = true
	return again
}
