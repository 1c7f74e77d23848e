package terminal

import (
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// alwaysDialog shows the rules that would be saved, lets them be edited, and saves them.
type alwaysDialog struct {
	effect  policy.Effect
	note    string
	reach   int
	rules   []string
	wider   bool // they hold in every project, and not only in that of the call
	editing int  // 1 + the rule that is being edited; 0 for none
	field   field
	confirm bool // a wide rule waits for its second yes
	also    coverage
}

// openAlways opens the dialog for a request that keeps such an answer.
func (s state) openAlways(e policy.Effect, note string) (state, []effect) {
	return alwaysDialog{effect: e, note: note}.chosen(s, 0)
}

// chosen takes the rules of an offer.
func (d alwaysDialog) chosen(s state, reach int) (state, []effect) {
	d.reach, d.rules = reach, slices.Clone(offeredRules(s.current().request.Offers[reach], d.effect))
	return d.ask(s)
}

// ask asks what else the rules settle as they stand now.
func (d alwaysDialog) ask(s state) (state, []effect) {
	effects := s.askCoverage(d.decision(&s))
	d.also, d.confirm = coverage{known: len(effects) == 0}, false
	s.dialog = d
	return s, effects
}

func (d alwaysDialog) decision(s *state) approval.Decision {
	r := s.current().request
	out := r.Approve("")
	if d.effect == policy.EffectDeny {
		out = r.Deny(d.note)
	}
	out = out.Always(slices.Clone(d.rules)...)
	out.Remember.Reach, out.Remember.Everywhere = r.Offers[d.reach].Reach, d.wider
	return out
}

func (d alwaysDialog) typing() bool { return d.editing > 0 || d.confirm }

func (d alwaysDialog) typed(text string) dialog {
	d.field = d.field.insert(strings.TrimSpace(text))
	return d
}

func (d alwaysDialog) told() bool { return d.also.known }

func (d alwaysDialog) covered(names []string) dialog {
	d.also = coverage{known: true, names: names}
	return d
}

func (d alwaysDialog) key(s state, k keyEvent) (state, []effect) {
	switch {
	case d.editing > 0:
		return d.editKey(s, k)
	case d.confirm:
		return d.confirmKey(s, k)
	}
	offers := len(s.current().request.Offers)
	switch k.name {
	case "esc":
		s.dialog = nil
	case "y", "Y":
		return d.save(s)
	case "e":
		s.dialog = d.edit(1)
	case "w":
		if s.current().request.Call.Project != "" {
			d.wider = !d.wider
			return d.ask(s)
		}
	case "up":
		return d.chosen(s, max(d.reach-1, 0))
	case "down":
		return d.chosen(s, min(d.reach+1, offers-1))
	default:
		if i, ok := digit(k.name, offers); ok {
			return d.chosen(s, i)
		}
	}
	return s, nil
}

// save saves the rules. A wide one waits for a second yes.
func (d alwaysDialog) save(s state) (state, []effect) {
	if !d.also.known {
		return s, nil
	}
	if d.effect == policy.EffectAllow && len(s.wideRules(d.rules)) > 0 {
		d.confirm, d.field = true, field{}
		s.dialog = d
		return s, nil
	}
	return s.resolve(d.decision(&s))
}

// wideRules says of each allow that reaches far more than one kind of call why it does.
// A rule that cannot be read is left to the gate, which refuses it.
func (s *state) wideRules(rules []string) []string {
	var out []string
	for _, text := range rules {
		rule, err := policy.ParseRule(text)
		if err != nil || rule.Effect != policy.EffectAllow {
			continue
		}
		if why := s.wide(rule); why != "" {
			out = append(out, rule.String()+": "+why+".")
		}
	}
	return out
}

func (d alwaysDialog) confirmKey(s state, k keyEvent) (state, []effect) {
	switch k.name {
	case "esc":
		d.confirm = false
	case "enter":
		if strings.EqualFold(strings.TrimSpace(d.field.String()), "yes") {
			return s.resolve(d.decision(&s))
		}
		s.notice = styled(warn, "Nothing was saved: type yes, or go back with Esc.")
	default:
		d.field = d.field.key(k)
	}
	s.dialog = d
	return s, nil
}

// edit opens rule i, counted from 1; past the last one the rules are checked.
func (d alwaysDialog) edit(i int) alwaysDialog {
	d.editing, d.field = i, field{}.insert(d.rules[i-1])
	return d
}

func (d alwaysDialog) editKey(s state, k keyEvent) (state, []effect) {
	switch k.name {
	case "esc":
		d.editing = 0
	case "enter":
		rule := strings.TrimSpace(d.field.String())
		if err := d.check(rule); err != "" {
			s.notice = styled(bad, present.SafeLine(err))
			return s, nil
		}
		d.rules = slices.Clone(d.rules)
		d.rules[d.editing-1] = rule
		if d.editing < len(d.rules) {
			s.dialog = d.edit(d.editing + 1)
			return s, nil
		}
		d.editing = 0
		return d.ask(s)
	default:
		d.field = d.field.key(k)
	}
	s.dialog = d
	return s, nil
}

// check says what is wrong with a rule that was typed.
func (d alwaysDialog) check(rule string) string {
	parsed, err := policy.Ground{}.Parse(rule)
	if err != nil {
		return err.Error()
	}
	if parsed.Effect != d.effect {
		return "The rule has to begin with " + string(d.effect) + "."
	}
	return ""
}

// where says in which projects the rules will hold.
func (d alwaysDialog) where(s *state) string {
	r := s.current().request
	if where := (approval.Remember{Everywhere: d.wider}).Where(r); where != policy.Everywhere {
		return "only " + where
	}
	return policy.Everywhere + ", in every project"
}

func (d alwaysDialog) foot(s *state, n int) []line {
	title := "Always allow: this is saved"
	if d.effect == policy.EffectDeny {
		title = "Always deny: this is saved"
	}
	rows := wrap(styled(strong, title), n, nil)
	for _, rule := range d.rules {
		rows = append(rows, wrap(append(text("  "), ruleLine(rule)...), n, text("    "))...)
	}
	rows = append(rows, wrap(append(text("  "), styled(strong, present.SafeLine(d.where(s)))...), n, text("    "))...)
	rows = append(rows, warnRows(s.current().request.Offers[d.reach], d.effect, n)...)
	switch {
	case d.editing > 0:
		rows = append(rows, d.field.rows(s.theme, n)...)
		return append(rows, keyRows(n, "Enter", "take it", "Esc", "back")...)
	case d.confirm:
		for _, w := range s.wideRules(d.rules) {
			rows = append(rows, wrap(styled(bad, present.SafeLine(w)), n, nil)...)
		}
		rows = append(rows, wrap(styled(strong, "Type yes to save it all the same:"), n, nil)...)
		rows = append(rows, d.field.rows(s.theme, n)...)
		return append(rows, keyRows(n, "Enter", "go on", "Esc", "back")...)
	}
	rows = append(rows, d.also.rows(n)...)
	keys := []string{"y", "yes, save"}
	r := s.current().request
	for i, o := range r.Offers {
		keys = append(keys, string(rune('1'+i)), reachText(r, o))
	}
	switch {
	case d.wider:
		keys = append(keys, "w", "only in this project")
	case r.Call.Project != "":
		keys = append(keys, "w", "everywhere")
	}
	return append(rows, keyRows(n, append(keys, "e", "edit", "Esc", "back")...)...)
}
