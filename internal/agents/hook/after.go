package hook

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// compare looks whether what ran is what the agent was told yes to. A difference is
// recorded; it is too late for anything else.
func (a *answering) compare(ctx context.Context, e agents.Event) error {
	want, err := a.Agent.Call(e)
	if err != nil {
		return err
	}
	settled := a.settle(ctx, want.Call)
	why, err := a.difference(want.Call)
	if err = errors.Join(err, settled); err != nil || why == "" {
		return err
	}
	return a.record(ctx, e, want.Call, approval.Event{
		Kind: approval.EventDiffered, State: policy.StateDenied, Stage: approval.StageReleased,
		Why: ranText(want.Call) + " " + why,
	})
}

// record records what came of a call.
func (a *answering) record(ctx context.Context, e agents.Event, call policy.Call, of approval.Event) error {
	s, err := a.userStore(ctx)
	if err != nil {
		return err
	}
	of.At, of.Session, of.CallID, of.Folder = a.Clock(), e.Session, e.CallID, e.Dir
	of.Connector, of.Tool = call.Connector, call.Tool
	if of.Arguments, err = canonical.Arguments(call.Arguments); err == nil {
		of.ArgumentsDigest = policy.DigestOf(of.Arguments)
		err = s.RecordFull(ctx, of)
	}
	return errors.Join(err, s.Close())
}

// difference says despite what a call ran; empty if it ran as it was answered.
func (a *answering) difference(call policy.Call) (string, error) {
	m, err := a.lastAnswer(call)
	switch {
	case err != nil:
		return "", err
	case m == nil:
		return "although assent was not asked about it", nil
	case m.Answer.Verdict == agents.Deny:
		return "although it was denied", nil
	case m.Replaced && m.Answer.Input != nil:
		return "although it was to run in assent's sandbox: the agent did not take the command that stands for it", nil
	case m.Answer.Input != nil:
		return "although a person had changed its arguments", nil
	}
	return "", nil
}

// ranText says which call ran: the command, or the tool.
func ranText(call policy.Call) string {
	var in struct{ Command string }
	if call.Connector == "" && call.Tool == policy.ActShell && json.Unmarshal(call.Arguments, &in) == nil {
		return "the command " + present.SafeLine(in.Command) + " ran"
	}
	return call.Name() + " ran"
}

// end ends the session with its grants, and forgets what its hooks were told; unless a
// call of it was put aside: then the run goes on some day.
func (a *answering) end(ctx context.Context, e agents.Event) error {
	if waits, err := a.hasDeferred(e.Session); err != nil || waits {
		return err
	}
	err := errors.Join(a.leaveKeepers(ctx, e), os.RemoveAll(memoFolder(a.Places.State, e.Session)))
	if !store.Made(a.Places.State) {
		return err
	}
	s, storeErr := a.userStore(ctx)
	if storeErr != nil {
		return errors.Join(err, storeErr)
	}
	endErr := s.EndSession(ctx, e.Session)
	if errors.Is(endErr, sessions.ErrNoSession) {
		endErr = nil
	}
	return errors.Join(err, endErr, s.Close())
}

// userStore opens the store where no policy is needed.
func (a *answering) userStore(ctx context.Context) (*store.Store, error) {
	file, err := config.ReadUser(a.Places.Config)
	if err != nil {
		return nil, err
	}
	return a.openStore(ctx, file.User)
}
