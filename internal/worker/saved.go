package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
)

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
