package terminal

import (
	"errors"
	"slices"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// settled takes away what was answered, here or elsewhere, says how, and shows what is
// next.
func (s state) settled(e settledEvent) (state, []effect) {
	if s.busy && len(e.answered) == 0 {
		s.stale = true // what is on its way comes first
		return s, nil
	}
	s.busy = false
	if e.err != nil && !errors.Is(e.err, approval.ErrSettled) {
		s.notice = styled(bad, present.SafeLine(reason(e.err)))
	}
	if e.look < s.look {
		return s, []effect{refreshEffect{}} // a later look was told before
	}
	s.look = e.look
	if s.listing && len(e.answered) > 0 {
		s.dialog = nil // what it asked is answered
	}
	var effects []effect
	for _, it := range s.items {
		if !contains(e.pending, it.request) {
			said := settledLine(it.request, e)
			effects = append(effects, sayEffect{said})
			if s.inbox {
				s.notice = said
			}
		}
	}
	same := func(it item, r *approval.Request) bool { return it.request == r }
	if slices.EqualFunc(s.items, e.pending, same) {
		return s, effects
	}
	return s.rebuilt(e.pending, e.at, effects)
}

// lastWords say how what was on the screen was answered. Once all is, whoever asked may end
// the prompt before it was told.
func (w *work) lastWords(s state) []line {
	e := w.settled(nil, nil)
	var out []line
	for _, it := range s.items {
		if !contains(e.pending, it.request) {
			out = append(out, settledLine(it.request, e))
		}
	}
	return out
}

// rebuilt goes on with the requests that are pending now.
func (s state) rebuilt(pending []*approval.Request, now time.Time, effects []effect) (state, []effect) {
	old, here := s.items, s.current().request
	s.items = nil
	for _, r := range pending {
		i := slices.IndexFunc(old, func(it item) bool { return it.request == r })
		if i >= 0 {
			s.items = append(s.items, old[i])
		} else {
			s.items = append(s.items, item{request: r})
			if s.inbox {
				effects = append(effects, bellEffect{})
			}
		}
	}
	s.total = max(s.total, len(pending))
	if len(s.items) == 0 {
		s.over = true
		return s, append(effects, quitEffect{})
	}
	if i := slices.IndexFunc(s.items, func(it item) bool { return it.request == here }); i >= 0 {
		s.at = i
		return s, effects
	}
	s.at = min(s.at, len(s.items)-1)
	if s.listing {
		return s, effects
	}
	if s.inbox {
		next, more := s.openList(now)
		again := next.arm(now) // what is being typed is not for the list
		return next, append(append(effects, more...), again)
	}
	next, more := s.show(s.at, now)
	return next, append(effects, more...)
}

func contains(list []*approval.Request, r *approval.Request) bool {
	return slices.ContainsFunc(list, func(p *approval.Request) bool { return p.ID == r.ID })
}

// settledLine says in one line how a request was answered.
func settledLine(r *approval.Request, e settledEvent) line {
	what := present.SafeLine(r.Call.Name() + " · " + r.Summary)
	i := slices.IndexFunc(e.outcomes, func(o approval.Outcome) bool { return o.Request == r.ID })
	mine := slices.IndexFunc(e.answered, func(d approval.Decision) bool { return d.Request == r.ID })
	switch {
	case i < 0 && mine >= 0 && e.answered[mine].Arguments != nil:
		return line{{"✎ ", warn}, {"changed, asking again", strong}, {": " + what, plain}}
	case i < 0:
		return line{{"• ", faint}, {"asked again or withdrawn", strong}, {": " + what, plain}}
	}
	o := &e.outcomes[i]
	mark, st := "✗ ", bad
	if o.Runs() {
		mark, st = "✓ ", good
	}
	if o.State == policy.StateAnswered {
		mark, st = "✎ ", warn
	}
	how := string(o.State)
	if mine >= 0 && won(o, &e.answered[mine]) {
		how += keptText(e.answered[mine])
	} else {
		how += byWhom(o)
	}
	out := line{{mark, st}, {present.SafeLine(how), strong}, {": " + what, plain}}
	if note := o.Note(); note != "" {
		out = append(out, seg{" — " + present.SafeLine(note), faint})
	} else if !o.Runs() && o.Why != "" && o.State != policy.StateAnswered {
		out = append(out, seg{" — " + present.SafeLine(o.Why), faint})
	}
	return out
}

// won reports whether the answer d is the one that counted.
func won(o *approval.Outcome, d *approval.Decision) bool {
	return o.Decision != nil && o.Decision.By == d.By && o.Decision.Answer == d.Answer
}

// byWhom says who or what answered, if it was not this prompt.
func byWhom(o *approval.Outcome) string {
	switch {
	case o.Decision != nil:
		return " by " + o.Decision.By.String()
	case o.Basis != "":
		return " by " + o.Basis
	}
	return ""
}

// keptText says how long an answer is kept.
func keptText(d approval.Decision) string {
	switch m := d.Remember; {
	case m.Keep == approval.KeepSession && m.For > 0:
		return " for " + m.For.String()
	case m.Keep == approval.KeepSession:
		return " for this session"
	case m.Keep == approval.KeepAlways && m.Everywhere:
		return " always, everywhere"
	case m.Keep == approval.KeepAlways:
		return " always"
	}
	return ""
}

// reason returns the error without the request's id, which a person does not know.
func reason(err error) string {
	var d *approval.DecisionError
	if errors.As(err, &d) {
		return d.Err.Error()
	}
	return err.Error()
}
