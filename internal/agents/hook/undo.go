package hook

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

// A keeping keeps what an edit of the agent's own tools will change, while it is judged: before
// the agent is told yes everything is kept, and whether it can be is part of the judgement.
type keeping struct {
	folder files.UndoFolder
	entry  files.Entry // but for its changes
	off    bool        // the policy has nothing kept
	look   bool        // nothing is made

	seen []files.Foreseen  // what the call that was prepared last would change
	kept map[string]string // the entries, by the arguments of the call
	mine string            // the one that stays
}

func (a *answering) newKeeping(d *evaluator, e agents.Event) *keeping {
	return &keeping{
		folder: files.UndoFolder{Dir: a.Places.UndoFolder(), Clock: a.Clock, Unsynced: true},
		entry:  files.Entry{Agent: a.Agent.Name, Session: e.Session, Project: d.project, Pending: true},
		off:    d.setup.UndoOff, look: a.looking, kept: map[string]string{},
	}
}

// see is told which files a call would change.
func (k *keeping) see(list []files.Foreseen) { k.seen = list }

// cover keeps what the call would change. Where that fails, no change is free, and the question
// says why.
func (k *keeping) cover(ctx context.Context, call policy.Call, acts []policy.Act) []policy.Act {
	seen := k.seen
	k.seen = nil
	blocked := func(a policy.Act) bool { return a.Verdict == policy.VerdictBlock }
	if len(seen) == 0 || k.off || slices.ContainsFunc(acts, blocked) {
		return acts
	}
	changes, err := files.Foresee(ctx, seen)
	if err == nil && !k.look {
		err = k.keep(ctx, call, changes)
	}
	if err == nil {
		return acts
	}
	why := "undo will not cover it: " + err.Error()
	if errors.As(err, new(*roots.Refusal)) { // the act says it too
		why = "undo will not cover it"
	}
	return uncovered(acts, why)
}

func (k *keeping) keep(ctx context.Context, call policy.Call, changes []files.Change) error {
	key := string(call.Arguments)
	if before := k.kept[key]; before != "" { // the files may have changed while somebody was asked
		if err := k.folder.Drop(ctx, before); err != nil {
			return roots.Plain(err)
		}
		delete(k.kept, key)
	}
	entry := k.entry
	entry.Tool, entry.Changes = call.Tool, changes
	id, err := k.folder.Keep(ctx, entry)
	if err == nil {
		k.kept[key] = id
	}
	return roots.Plain(err)
}

// uncovered has every change asked about, for a reason.
func uncovered(acts []policy.Act, why string) []policy.Act {
	out := slices.Clone(acts)
	for i, a := range out {
		switch {
		case !changes(a):
		case a.Verdict == policy.VerdictFree:
			out[i].Verdict, out[i].Why = policy.VerdictAsk, why
		case a.Why == "":
			out[i].Why = why
		default:
			out[i].Why += "; " + why
		}
	}
	return out
}

// stays returns the entry of a call that the agent may run now; empty if there is none. All
// others go when the desk is left.
func (k *keeping) stays(call policy.Call, answer agents.Answer) string {
	if answer.Verdict == agents.Deny || answer.Verdict == agents.Defer {
		return ""
	}
	k.mine = k.kept[string(call.Arguments)]
	return k.mine
}

// leave drops what is kept for a call that will not run.
func (k *keeping) leave() (err error) {
	if k == nil {
		return nil
	}
	for _, id := range k.kept {
		if id != k.mine {
			err = errors.Join(err, k.folder.Drop(context.Background(), id))
		}
	}
	return err
}

// settle notes what an edit left that has run.
func (a *answering) settle(ctx context.Context, call policy.Call) error {
	if call.Connector != "" || !slices.Contains([]string{"write_file", "edit_file", "delete_file"}, call.Tool) {
		return nil
	}
	m, err := a.keptFor(call)
	if err != nil || m == nil || m.Undo == "" {
		return err
	}
	folder := files.UndoFolder{Dir: a.Places.UndoFolder(), Clock: a.Clock, Unsynced: true}
	return folder.Settle(ctx, m.Undo, m.Answer.Verdict == agents.Allow)
}

// keptFor finds the memory about a call that has run. An agent may have tidied its arguments, so
// the id counts too.
func (a *answering) keptFor(call policy.Call) (*memory, error) {
	m, err := a.lastAnswer(call)
	if m != nil || err != nil || call.ID == "" {
		return m, err
	}
	folder := memoFolder(a.Places.State, call.Session)
	names, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range names {
		if f.Name() == projectName {
			continue
		}
		if m, err := readMemory(filepath.Join(folder, f.Name())); err == nil && m != nil && m.CallID == call.ID &&
			m.Undo != "" {
			return m, nil
		}
	}
	return nil, err
}
