package kept

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/redact"
	"github.com/assent-dev/assent/policy"
)

// A State says how far a request has come.
type State string

// The states: it waits; it has an answer, which whoever posted it is still to take; it has ended.
const (
	StateOpen     State = "open"
	StateAnswered State = "answered"
	StateSettled  State = "settled"
)

// A Damage says why what is kept cannot be what was written.
type Damage string

func (d Damage) Error() string { return string(d) }

func damage(format string, args ...any) error { return Damage(fmt.Sprintf(format, args...)) }

// A Request is a request as a store keeps it. Its methods change it as a whole or not at all: whoever
// writes it back makes sure that nobody else did meanwhile.
type Request struct {
	ID, Session string
	State       State
	Created     time.Time
	Body        []byte // the request as JSON
	Ended       []byte // how it ended, without the decision, and which answers were taken back; may be empty
	Problem     string
	Answer      *Answer // whole until it has taken effect, and then as the detail says

	decoded *approval.Request
}

// An Answer is the decision about a request.
type Answer struct {
	Digest []byte // of the whole decision
	Body   []byte // what is kept of it, as JSON
}

// An ending is a settlement as a request keeps it: of its decision, which is kept apart, the digest.
type ending struct {
	approval.Settlement
	Answer policy.Digest `json:"answer,omitzero"`
	// Withdrawn are the answers that were taken back: whoever has read one before cannot use it.
	Withdrawn []policy.Digest `json:"withdrawn,omitempty"`
}

// NewRequest returns an open request.
func NewRequest(r *approval.Request) (*Request, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("request %q: %w", r.ID, err)
	}
	return &Request{ID: r.ID, Session: r.Call.Session, State: StateOpen, Created: r.Created, Body: body, Ended: []byte{}}, nil
}

// Request returns what was posted. Nobody may change it.
func (r *Request) Request() (*approval.Request, error) {
	if r.decoded != nil {
		return r.decoded, nil
	}
	out := new(approval.Request)
	if err := json.Unmarshal(r.Body, out); err != nil || out.ID != r.ID {
		return nil, damage("request %q: it is kept as %q (%v)", r.ID, out.ID, err)
	}
	r.decoded = out
	return out, nil
}

func (r *Request) ending() (end ending, err error) {
	if len(r.Ended) == 0 {
		return end, nil
	}
	if err := json.Unmarshal(r.Ended, &end); err != nil {
		return end, damage("request %q: %v", r.ID, err)
	}
	return end, nil
}

// decision returns what is kept of the answer, and whether that is all of it.
func (r *Request) decision() (d approval.Decision, whole bool, err error) {
	if err := json.Unmarshal(r.Answer.Body, &d); err != nil || d.Request != r.ID {
		return d, false, damage("the answer to request %q: it is for %q (%v)", r.ID, d.Request, err)
	}
	now := d.Digest()
	return d, string(now[:]) == string(r.Answer.Digest), nil
}

// Settlement returns how the request ended.
func (r *Request) Settlement() (*approval.Settlement, error) {
	end, err := r.ending()
	if err != nil || end.Answer.IsZero() {
		return &end.Settlement, err
	}
	if r.Answer == nil || string(r.Answer.Digest) != string(end.Answer[:]) {
		return nil, damage("the answer to request %q is not the one that was written", r.ID)
	}
	d, whole, err := r.decision()
	if err != nil {
		return nil, err
	}
	end.Decision, end.Partial = &d, !whole
	return &end.Settlement, nil
}

// Posted returns the request as every process sees it.
func (r *Request) Posted() (p approval.Posted, err error) {
	if p.Request, err = r.Request(); err != nil {
		return p, err
	}
	p.Problem = r.Problem
	if r.State != StateOpen {
		p.Settled, err = r.Settlement()
	}
	return p, err
}

// TooLate says who was faster.
func (r *Request) TooLate() error {
	won, err := r.Settlement()
	if err != nil {
		return err
	}
	return &approval.SettledError{Request: r.ID, Settlement: *won}
}

// Decide gives the request its answer, which whoever posted it then takes.
func (r *Request) Decide(d approval.Decision, now time.Time) error {
	if r.State != StateOpen {
		return r.TooLate()
	}
	request, err := r.Request()
	if err != nil {
		return err
	}
	if d.At.IsZero() {
		d.At = now
	}
	if err := request.Check(d); err != nil {
		return &approval.DecisionError{Request: d.Request, Err: err}
	}
	return r.end(StateAnswered, d.Settled(), r.Body, approval.DetailFull)
}

// Settle ends the request for good; it reports false if it had ended in this very way. What was shown and said is
// kept as the detail says.
func (r *Request) Settle(how approval.Settlement, detail approval.Detail, now time.Time) (changed bool, err error) {
	if r.State == StateOpen {
		end, err := r.ending()
		if err != nil {
			return false, err
		}
		if how.Decision != nil && slices.Contains(end.Withdrawn, how.Decision.Digest()) {
			return false, fmt.Errorf("request %q: %w", r.ID, approval.ErrTakenBack)
		}
		return true, r.finish(how, detail, now)
	}
	same, err := r.endedSo(how)
	switch {
	case err != nil:
		return false, err
	case !same:
		return false, r.TooLate()
	case r.State == StateAnswered:
		return true, r.finish(how, detail, now) // it has been taken
	}
	return false, nil
}

// endedSo reports whether the request has ended in this very way.
func (r *Request) endedSo(how approval.Settlement) (bool, error) {
	won, err := r.Settlement()
	if err != nil {
		return false, err
	}
	if won.Decision == nil || how.Decision == nil {
		return won.Decision == nil && how.Decision == nil && won.State == how.State && won.By == how.By, nil
	}
	want := how.Decision.Digest()
	return string(r.Answer.Digest) == string(want[:]), nil
}

func (r *Request) finish(how approval.Settlement, detail approval.Detail, now time.Time) error {
	request, err := r.Request()
	if err != nil {
		return err
	}
	if how.At.IsZero() {
		how.At = now
	}
	body, err := json.Marshal(request.Keep(detail))
	if err != nil {
		return err
	}
	return r.end(StateSettled, how, body, detail)
}

// end notes how the request ended.
func (r *Request) end(state State, how approval.Settlement, body []byte, detail approval.Detail) error {
	end, err := r.ending()
	if err != nil {
		return err
	}
	next := ending{Settlement: how, Withdrawn: end.Withdrawn}
	answer := r.Answer
	if d := how.Decision; d != nil {
		digest := d.Digest()
		data, err := json.Marshal(d.Keep(detail))
		if err != nil {
			return fmt.Errorf("the answer to request %q: %w", r.ID, err)
		}
		answer = &Answer{Digest: digest[:], Body: data}
		next.Decision, next.Answer = nil, digest
	}
	ended, err := json.Marshal(next)
	if err != nil {
		return err
	}
	*r = Request{ID: r.ID, Session: r.Session, State: state, Created: r.Created, Body: body, Ended: ended, Answer: answer}
	return nil
}

// TakeBack opens the request again if nobody has taken its answer yet, which must have this digest.
func (r *Request) TakeBack(answer policy.Digest) error {
	if r.State == StateOpen {
		return fmt.Errorf("request %q: %w", r.ID, approval.ErrOpen)
	}
	if r.State != StateAnswered || r.Answer == nil || string(r.Answer.Digest) != string(answer[:]) {
		return r.TooLate()
	}
	return r.open(r.Body, "an answer was taken back", answer)
}

// Reopen takes back an answer that could not take effect, and says why.
func (r *Request) Reopen(request *approval.Request, why string) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("request %q: %w", r.ID, err)
	}
	return r.open(body, redact.Text(why))
}

// open makes the request wait again. Answers that were taken back stay so.
func (r *Request) open(body []byte, problem string, withdrawn ...policy.Digest) error {
	end, err := r.ending()
	if err != nil {
		return err
	}
	ended := []byte{}
	if all := append(end.Withdrawn, withdrawn...); len(all) > 0 {
		if ended, err = json.Marshal(ending{Withdrawn: all}); err != nil {
			return err
		}
	}
	*r = Request{ID: r.ID, Session: r.Session, State: StateOpen, Created: r.Created, Body: body, Ended: ended, Problem: problem}
	return nil
}
