package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/store"
)

// compare looks whether what ran is what the agent was told yes to. A difference is
// recorded; it is too late for anything else.
func (a *answering) compare(ctx context.Context, e agents.Event) error {
	want, err := a.Agent.Call(e)
	if err != nil {
		return err
	}
	why, err := a.difference(want.Call)
	if err != nil || why == "" {
		return err
	}
	s, err := a.userStore(ctx)
	if err != nil {
		return err
	}
	args, err := approval.CanonicalArguments(want.Call.Arguments)
	if err == nil {
		err = s.RecordFull(ctx, approval.Event{
			Kind: approval.Differed, At: a.Clock(), Session: e.Session, CallID: e.CallID,
			Connector: want.Call.Connector, Tool: want.Call.Tool, Arguments: args, ArgumentsDigest: approval.DigestOf(args),
			State: approval.Denied, Stage: approval.StageReleased, Why: why,
		})
	}
	return errors.Join(err, s.Close())
}

// difference says how a call that ran differs from what was answered; empty if not.
func (a *answering) difference(call approval.Call) (string, error) {
	name, _, err := memoName(call)
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(filepath.Join(memoFolder(a.Places.State, call.Session), name))
	if errors.Is(err, fs.ErrNotExist) {
		return "it ran and assent was not asked about these arguments", nil
	}
	if err != nil {
		return "", err
	}
	var m memory
	if err := json.Unmarshal(data, &m); err != nil {
		return "", fmt.Errorf("what the agent was told about the call cannot be read: %w", err)
	}
	switch {
	case m.Answer.Verdict == agents.Deny:
		return "it ran although it was denied: " + m.Answer.Reason, nil
	case m.Answer.Input != nil:
		return "it ran with the arguments that a person had changed", nil
	}
	return "", nil
}

// end ends the session with its grants, and forgets what its hooks were told; unless a
// call of it was put aside: then the run goes on some day.
func (a *answering) end(ctx context.Context, e agents.Event) error {
	if waits, err := a.hasDeferred(e.Session); err != nil || waits {
		return err
	}
	err := os.RemoveAll(memoFolder(a.Places.State, e.Session))
	if _, statErr := os.Stat(filepath.Join(a.Places.State, store.FileName)); errors.Is(statErr, fs.ErrNotExist) {
		return err
	}
	s, storeErr := a.userStore(ctx)
	if storeErr != nil {
		return errors.Join(err, storeErr)
	}
	endErr := s.EndSession(ctx, e.Session)
	if errors.Is(endErr, approval.ErrNoSession) {
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
