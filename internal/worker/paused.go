package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
)

// An Store keeps a run that waits for answers. The gate of such a run needs claims: a call
// that was started is not started again, whatever happens to the program.
type RunStore interface {
	// Save keeps the run as it is now, in place of what was kept before.
	Save(ctx context.Context, data []byte) error
	// Collect hands the batch the answers that were given meanwhile.
	Collect(ctx context.Context, b *approval.Batch) error
	// Post makes what the batch has pending visible to whoever answers.
	Post(ctx context.Context, b *approval.Batch) error
}

// A PausedError says that a run was put aside, and what it waits for.
type PausedError struct{ Pending []*approval.Request }

func (e *PausedError) Error() string {
	switch len(e.Pending) {
	case 0:
		return fmt.Sprintf("a call of the run was not started: %v; resume the run later", approval.ErrKeepsChanging)
	case 1:
		return "the run waits for an answer"
	}
	return fmt.Sprintf("the run waits for %d answers", len(e.Pending))
}

// An Inner keeps the runs that the calls of a turn wait for, each under the id of its call.
// Such a call is suspended: it is entered again when its run has ended. As JSON it is part
// of the run that is saved.
type Inner interface {
	json.Marshaler
	json.Unmarshaler
	// GoOn lets the runs go on until they have ended. If one cannot without a person, the
	// error is its [*PausedError].
	GoOn(ctx context.Context) error
	// Preview is [Run.Preview] for the requests of these runs.
	Preview(ctx context.Context, request string, args json.RawMessage) (*approval.Request, error)
}

// An openTurn is a turn that was put aside: what the model said, its calls on their way
// through the gate, and the results that there are.
type openTurn struct {
	turn    Turn
	batch   *approval.Batch
	saved   json.RawMessage // the batch of another process, until it is restored
	further []string        // ids of the calls that the model did not ask for
	done    map[string]Result
}

// runLater runs the calls of a turn, as far as nobody needs to be asked. Before anything
// runs the batch is saved, and after it the results: a call that was started in between is
// found claimed, reported, and never repeated.
func (r *Run) runLater(ctx context.Context, t Turn) (results []Result, further []string, err error) {
	if err := r.reviewed(ctx, t); err != nil {
		return nil, nil, err
	}
	err = approval.Again(func() error {
		for {
			switch open, err := r.advance(ctx); {
			case err != nil || !open:
				return err
			case !r.open.suspended():
				return approval.ErrChanged // so a call is judged anew
			}
		}
	})
	switch {
	case errors.Is(err, approval.ErrKeepsChanging):
		return nil, nil, r.pause(ctx)
	case err != nil:
		return nil, nil, err
	}
	o := r.open
	r.open = nil
	return o.results(), o.further, nil
}

// advance takes the answers that there are, runs what is allowed, and lets the runs inside
// go on. It reports whether the turn is still open.
func (r *Run) advance(ctx context.Context) (open bool, err error) {
	o := r.open
	if err := r.Store.Collect(ctx, o.batch); err != nil {
		return true, err
	}
	if err := r.Save(ctx); err != nil {
		return true, err
	}
	switch {
	case len(o.batch.Pending()) > 0:
		return true, r.pause(ctx)
	case ctx.Err() != nil:
		return true, context.Cause(ctx) // it can be resumed
	}
	results, err := tool.Finish(ctx, r.Gate, o.batch)
	o.keep(results)
	if err == nil || !errors.Is(err, approval.ErrOpen) {
		return false, err
	}
	if !o.suspended() {
		return true, nil
	}
	if r.Inner == nil {
		return true, errors.New("a call is suspended, but the saved run has no state to continue it")
	}
	if err := r.Save(ctx); err != nil {
		return true, err
	}
	return true, r.Inner.GoOn(ctx)
}

// reviewed has the turn judged, or takes up the batch that was saved.
func (r *Run) reviewed(ctx context.Context, t Turn) (err error) {
	if r.open == nil {
		calls, further := r.expanded(t.Calls)
		r.open = &openTurn{turn: t, batch: r.Gate.Review(ctx, calls...), further: further, done: map[string]Result{}}
		return nil
	}
	if r.open.batch == nil {
		r.open.batch, err = r.Gate.Restore(ctx, r.open.saved)
	}
	return err
}

// pause posts what waits, and gives the batch up: it goes on when the run is resumed.
func (r *Run) pause(ctx context.Context) error {
	b := r.open.batch
	pending := b.Pending()
	if err := r.Store.Post(ctx, b); err != nil {
		return err
	}
	b.Close()
	return &PausedError{Pending: pending}
}

// keep notes the results of calls that have ended. Of one that was started before there is
// none to be had: its fate is unknown.
func (o *openTurn) keep(results []Result) {
	for _, res := range results {
		switch _, known := o.done[res.ID]; {
		case known, errors.Is(res.Err, approval.ErrOpen):
			continue
		case errors.Is(res.Err, tool.ErrRunning):
			unknown := &tool.UnknownError{Tool: res.Tool}
			res.Err, res.Text, res.Stage = unknown, unknown.ForModel(), approval.StageUnknown
		}
		o.done[res.ID] = res
	}
}

// suspended reports whether a call waits for what goes on inside it.
func (o *openTurn) suspended() bool {
	return slices.ContainsFunc(o.batch.Outcomes(), func(x approval.Outcome) bool { return x.Stage == approval.StageSuspended })
}

// results are those of the calls, in their order.
func (o *openTurn) results() []Result {
	var out []Result
	for _, x := range o.batch.Outcomes() {
		if res, ok := o.done[x.Call.ID]; ok {
			out = append(out, res)
		}
	}
	return out
}

// Resume goes on with a run that was put aside. The data is what its Store was given.
func (r *Run) Resume(ctx context.Context, data []byte) (Round, error) {
	if err := r.restore(data); err != nil {
		return Round{}, err
	}
	ctx, cancel := r.Limits.within(ctx)
	defer cancel()
	return r.goOn(ctx)
}

// Preview returns what a request of a run that was put aside would be with other arguments.
// Nothing happens to the run: its gate is to keep no records.
func (r *Run) Preview(ctx context.Context, data []byte, request string, args json.RawMessage) (*approval.Request, error) {
	if err := r.restore(data); err != nil {
		return nil, err
	}
	if r.open == nil {
		return nil, approval.ErrUnknownRequest
	}
	batch, err := r.Gate.Restore(ctx, r.open.saved)
	if err != nil {
		return nil, err
	}
	defer batch.Close()
	if len(batch.Pending()) == 0 && r.Inner != nil {
		return r.Inner.Preview(ctx, request, args)
	}
	return batch.Preview(ctx, request, args)
}

// Save keeps the run as it is. A run inside calls it when it has changed itself.
func (r *Run) Save(ctx context.Context) error {
	s := savedRun{Version: savedVersion, Usage: r.usage, Streak: savedStreak(r.streak)}
	for _, round := range r.rounds {
		s.Rounds = append(s.Rounds, saveRound(round))
	}
	if r.open != nil {
		open, err := r.saveTurn(r.open)
		if err != nil {
			return err
		}
		s.Open = open
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return r.Store.Save(context.WithoutCancel(ctx), data)
}

// savedVersion is the version of the JSON form of a run.
const savedVersion = 1

type savedRun struct {
	Version int          `json:"version"`
	Rounds  []savedRound `json:"rounds"`
	Usage   Usage        `json:"usage"`
	Streak  savedRefusal `json:"streak"`
	Open    *savedTurn   `json:"open,omitempty"`
}

type savedRound struct {
	Message Message     `json:"message"`
	Steps   []savedStep `json:"steps,omitempty"`
}

type savedStep struct {
	Turn    Turn          `json:"turn"`
	Results []savedResult `json:"results,omitempty"`
}

// A savedTurn is a turn that is under way.
type savedTurn struct {
	Turn    Turn            `json:"turn"`
	Batch   json.RawMessage `json:"batch"`
	Further []string        `json:"further,omitempty"`
	Done    []savedResult   `json:"done,omitempty"`
	// Inner are the runs that calls of the turn wait for.
	Inner json.RawMessage `json:"inner,omitempty"`
}

// A savedResult is what the model is told of a call, and how it ended.
type savedResult struct {
	ID      string           `json:"id"`
	Tool    string           `json:"tool"`
	Outcome approval.Outcome `json:"outcome"`
	Stage   approval.Stage   `json:"stage"`
	Text    string           `json:"text"`
	Error   string           `json:"error,omitempty"`
}

type savedRefusal struct {
	Call  string `json:"call,omitempty"`
	Count int    `json:"count,omitempty"`
}

func savedStreak(s streak) savedRefusal { return savedRefusal{s.call, s.count} }

func saveRound(r Round) savedRound {
	out := savedRound{Message: r.Message}
	for _, s := range r.Steps {
		step := savedStep{Turn: s.Turn}
		for _, res := range s.Results {
			step.Results = append(step.Results, saveResult(res))
		}
		out.Steps = append(out.Steps, step)
	}
	return out
}

// saveTurn is a turn that is under way, with the runs inside it.
func (r *Run) saveTurn(o *openTurn) (out *savedTurn, err error) {
	out = &savedTurn{Turn: o.turn, Further: o.further}
	if out.Batch, err = json.Marshal(o.batch); err != nil {
		return nil, err
	}
	if r.Inner != nil {
		if out.Inner, err = json.Marshal(r.Inner); err != nil {
			return nil, err
		}
	}
	for _, res := range o.done {
		out.Done = append(out.Done, saveResult(res))
	}
	slices.SortFunc(out.Done, func(a, b savedResult) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

func saveResult(r Result) savedResult {
	out := savedResult{ID: r.ID, Tool: r.Tool, Outcome: r.Outcome, Stage: r.Stage, Text: r.Text}
	if r.Err != nil {
		out.Error = r.Err.Error()
	}
	return out
}

func (s savedResult) result() Result {
	out := Result{ID: s.ID, Tool: s.Tool, Outcome: s.Outcome, Stage: s.Stage, Text: s.Text}
	if s.Error != "" {
		out.Err = errors.New(s.Error)
	}
	return out
}

func (s savedRound) round() Round {
	out := Round{Message: s.Message}
	for _, step := range s.Steps {
		kept := Step{Turn: step.Turn}
		for _, res := range step.Results {
			kept.Results = append(kept.Results, res.result())
		}
		out.Steps = append(out.Steps, kept)
	}
	return out
}

// restore reads what save wrote.
func (r *Run) restore(data []byte) error {
	var s savedRun
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("saved run: %w", err)
	}
	if s.Version != savedVersion {
		return fmt.Errorf("saved run: version %d; this program knows version %d", s.Version, savedVersion)
	}
	if len(s.Rounds) == 0 {
		return errors.New("saved run: it has no message")
	}
	r.rounds, r.usage, r.streak, r.open = nil, s.Usage, streak{s.Streak.Call, s.Streak.Count}, nil
	for _, round := range s.Rounds {
		r.rounds = append(r.rounds, round.round())
	}
	if s.Open == nil {
		return nil
	}
	return r.restoreTurn(s.Open)
}

func (r *Run) restoreTurn(o *savedTurn) error {
	r.open = &openTurn{turn: o.Turn, saved: o.Batch, further: o.Further, done: map[string]Result{}}
	for _, res := range o.Done {
		r.open.done[res.ID] = res.result()
	}
	if len(o.Inner) == 0 || r.Inner == nil {
		return nil
	}
	if err := r.Inner.UnmarshalJSON(o.Inner); err != nil {
		return fmt.Errorf("saved run: %w", err)
	}
	return nil
}
