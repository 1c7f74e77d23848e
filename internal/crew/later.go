package crew

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/tool"
)

// callLater is call in a run that may be put aside. The call itself only begins the worker
// and, once that has ended, gives its answer; between the two it is suspended. So the worker
// can be saved wherever it is, and a program that dies leaves a call that can be entered
// again instead of one whose end was not seen.
func (m *Member) callLater(ctx context.Context, in callArgs, d delegation) (any, error) {
	id := tool.CallID(ctx)
	c := m.turn.called(id)
	switch {
	case c == nil:
		message, err := m.message(in, d)
		if err != nil {
			return nil, err
		}
		m.turn.begin(&child{Call: id, Worker: in.Worker, Message: message})
		return nil, tool.ErrSuspended
	case !c.Ended:
		return nil, tool.ErrSuspended
	case c.Failed != "":
		return nil, errors.New(c.Failed)
	}
	return c.Answer, nil
}

// inner are the workers that a member has called, as its run knows them.
type inner struct{ *Member }

var _ worker.Inner = inner{}

// MarshalJSON implements [worker.Inner].
func (i inner) MarshalJSON() ([]byte, error) { return i.turn.marshal() }

// UnmarshalJSON implements [worker.Inner].
func (i inner) UnmarshalJSON(data []byte) error { return i.turn.unmarshal(data) }

// GoOn implements [worker.Inner].
func (i inner) GoOn(ctx context.Context) error {
	for {
		c := i.turn.underWay()
		if c == nil {
			return nil
		}
		err := i.goOn(ctx, c)
		var stopped *worker.StoppedError
		switch {
		case err == nil:
		case errors.As(err, new(*worker.PausedError)):
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &stopped) && !stopped.Repeated:
			return err
		default:
			c.Ended, c.Failed = true, err.Error()
		}
	}
}

// goOn lets a worker that was called go on until it has ended.
func (m *Member) goOn(ctx context.Context, c *child) error {
	callee, err := m.reopen(ctx, c)
	if err != nil {
		return err
	}
	answer, err := callee.answer(ctx, func(run *worker.Run) (worker.Round, error) {
		if len(c.Run) == 0 {
			return run.Say(ctx, c.Message)
		}
		return run.Resume(ctx, c.Run)
	})
	if err = errors.Join(err, callee.Close()); err == nil {
		c.Ended, c.Answer = true, answer
	}
	return err
}

// reopen opens a worker that was called, perhaps in another process.
func (m *Member) reopen(ctx context.Context, c *child) (*Member, error) {
	path, err := config.FindNamed(c.Worker, m.crew.Folders...)
	if err != nil {
		return nil, err
	}
	f, err := config.Read(path, config.WorkerFile)
	if err != nil {
		return nil, err
	}
	callee, err := m.callee(ctx, f)
	if err != nil {
		return nil, err
	}
	callee.inside = c
	return callee, nil
}

// Preview implements [worker.Inner].
func (i inner) Preview(ctx context.Context, request string, args json.RawMessage) (*approval.Request, error) {
	c := i.turn.underWay()
	if c == nil || len(c.Run) == 0 {
		return nil, approval.ErrUnknownRequest
	}
	callee, err := i.reopen(ctx, c)
	if err != nil {
		return nil, err
	}
	r, err := callee.Preview(ctx, c.Run, request, args)
	return r, errors.Join(err, callee.Close())
}

// Preview returns what a request of a run of this member that was put aside would be with
// other arguments. The crew is one that is only looking, and its gates keep no records.
func (m *Member) Preview(ctx context.Context, data []byte, request string, args json.RawMessage) (*approval.Request, error) {
	run, err := m.Run(ctx)
	if err != nil {
		return nil, err
	}
	r, err := run.Preview(ctx, data, request, args)
	if err != nil {
		return nil, err
	}
	_, err = r.View(ctx) // while what it is built from is open
	return r, err
}

// store is where the runs of the member are put: the crew's place, or inside the caller.
func (m *Member) store() worker.RunStore {
	if m.crew.Store == nil || m.caller == nil {
		return m.crew.Store
	}
	return nestedStore{m.crew.Store, m}
}

// nestedStore puts a worker that was called aside as a part of its caller.
type nestedStore struct {
	worker.RunStore
	callee *Member
}

// Save implements [worker.RunStore].
func (n nestedStore) Save(ctx context.Context, data []byte) error {
	n.callee.inside.Run = data
	return n.callee.caller.run.Save(ctx)
}
