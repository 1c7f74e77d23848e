package terminal

import (
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// A dialog is what a key opened over the request. Esc closes it, and then nothing has
// been answered.
type dialog interface {
	// key takes a key. The dialog that comes next is in the state returned.
	key(s state, k keyEvent) (state, []effect)
	// foot is what stands below the request, in rows of at most n cells.
	foot(s *state, n int) []line
}

type (
	// A typist is a dialog in which text may be typed.
	typist interface {
		dialog
		typing() bool
		typed(text string) dialog
	}
	// A coverer is a dialog that says what else an answer settles.
	coverer interface {
		dialog
		ask(s state) (state, []effect)
		told() bool
		covered(names []string) dialog
	}
	// A reader is a dialog that shows rows in place of the request.
	reader interface {
		dialog
		body(s *state) (title string, rows []line, scroll int)
	}
)

// purpose is what a note is for.
type purpose int

const (
	denyOne purpose = iota
	denyAll
	stopAll
)

// noteDialog takes an optional note to the model.
type noteDialog struct {
	purpose purpose
	field   field
}

func (d noteDialog) typing() bool { return true }

func (d noteDialog) typed(text string) dialog {
	d.field = d.field.insert(strings.Join(strings.Fields(text), " "))
	return d
}

func (d noteDialog) key(s state, k keyEvent) (state, []effect) {
	switch k.name {
	case "esc":
		s.dialog = nil
	case "enter":
		return d.done(s, strings.TrimSpace(d.field.String()))
	default:
		d.field = d.field.key(k)
		s.dialog = d
	}
	return s, nil
}

func (d noteDialog) done(s state, note string) (state, []effect) {
	r := s.current().request
	switch d.purpose {
	case denyAll:
		var all []approval.Decision
		for _, it := range s.chosen() {
			all = append(all, it.request.Deny(note))
		}
		return s.resolve(all...)
	case stopAll:
		if s.inbox {
			return s.resolve(s.stops(note)...)
		}
		s.over, s.end = true, end{stopped: true, request: r, note: note}
		return s, []effect{quitEffect{}}
	}
	if !keepsSession(r, policy.EffectDeny) && !keepsAlways(r, policy.EffectDeny) {
		return s.resolve(r.Deny(note))
	}
	s.dialog = keepDialog{note}
	return s, nil
}

// stops are the answers that end the run which asks: all that it waits for is denied.
func (s *state) stops(note string) []approval.Decision {
	r := s.current().request
	var all []approval.Decision
	for _, it := range s.items {
		if it.request.Call.Session != r.Call.Session {
			continue
		}
		d := it.request.Deny("the person stopped the run")
		if it.request == r && note != "" {
			d.Note = note
		}
		d.Stop = true
		all = append(all, d)
	}
	return all
}

func (d noteDialog) foot(s *state, n int) []line {
	title := "Deny"
	switch d.purpose {
	case denyAll:
		title = "Deny all " + count(len(s.chosen()), "request")
	case stopAll:
		title = "Deny and stop the run"
	}
	rows := wrap(styled(strong, title+": a note to the model?"), n, nil)
	rows = append(rows, d.field.rows(s.theme, n)...)
	return append(rows, keyRows(n, "Enter", "go on", "Esc", "back")...)
}

// keepDialog asks how long a denial is kept.
type keepDialog struct{ note string }

func (d keepDialog) key(s state, k keyEvent) (state, []effect) {
	r := s.current().request
	switch k.name {
	case "enter", "o", "O", "n", "N":
		return s.resolve(r.Deny(d.note))
	case "s", "S":
		if keepsSession(r, policy.EffectDeny) {
			return s.openSession(policy.EffectDeny, d.note)
		}
	case "a":
		if keepsAlways(r, policy.EffectDeny) {
			return s.openAlways(policy.EffectDeny, d.note)
		}
	case "esc":
		s.dialog = noteDialog{field: field{}.insert(d.note)}
	}
	return s, nil
}

func (d keepDialog) foot(s *state, n int) []line {
	r := s.current().request
	keys := []string{"o", "this once"}
	if keepsSession(r, policy.EffectDeny) {
		keys = append(keys, "s", "for this session")
	}
	if keepsAlways(r, policy.EffectDeny) {
		keys = append(keys, "a", "always")
	}
	rows := wrap(styled(strong, "Deny for how long?"), n, nil)
	if d.note != "" {
		rows = append(rows, wrap(styled(faint, "Note: "+present.SafeLine(d.note)), n, nil)...)
	}
	return append(rows, keyRows(n, append(keys, "Esc", "back")...)...)
}

// respondDialog takes the tool's result in the person's own words.
type respondDialog struct{ field field }

func (d respondDialog) typing() bool { return true }

func (d respondDialog) typed(text string) dialog {
	d.field = d.field.insert(text)
	return d
}

func (d respondDialog) key(s state, k keyEvent) (state, []effect) {
	switch k.name {
	case "esc":
		s.dialog = nil
	case "enter":
		d.field = d.field.insert("\n")
		s.dialog = d
	case "ctrl+d":
		if strings.TrimSpace(d.field.String()) == "" {
			s.notice = styled(warn, "Type the result first, or go back with Esc.")
			return s, nil
		}
		return s.resolve(s.current().request.Respond(d.field.String()))
	default:
		d.field = d.field.key(k)
		s.dialog = d
	}
	return s, nil
}

func (d respondDialog) foot(s *state, n int) []line {
	rows := wrap(styled(strong, "Answer in the tool's place: nothing runs, the model gets this text."), n, nil)
	rows = append(rows, d.field.rows(s.theme, n)...)
	finish := "Ctrl-D"
	if s.lines {
		finish = "a line with only ."
	}
	return append(rows, keyRows(n, finish, "send", "Esc", "back")...)
}
