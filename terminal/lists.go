package terminal

import (
	"fmt"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// textDialog shows lines in place of the request.
type textDialog struct {
	title  string
	lines  []line
	scroll int
}

func (d textDialog) key(s state, k keyEvent) (state, []effect) {
	switch k.name {
	case "esc", "q", "enter", "?", "v", "h":
		s.dialog = nil
	default:
		_, rows, _ := d.body(&s)
		d.scroll = scrolled(d.scroll, k.name, s.bodyRoom(), len(rows))
		s.dialog = d
	}
	return s, nil
}

func (d textDialog) foot(_ *state, n int) []line {
	return keyRows(n, "Esc", "back", "↑ ↓", "scroll")
}

func (d textDialog) body(s *state) (string, []line, int) {
	return d.title, wrapAll(d.lines, s.inner(), styled(faint, "↳ ")), d.scroll
}

// whyLines prints the path of the decision, and what would change it.
func whyLines(r *approval.Request) []line {
	lines := []line{text(present.SafeLine(r.Why)), nil}
	for i, step := range r.Trace {
		lines = append(lines, text(fmt.Sprintf("%d. %s", i+1, present.SafeLine(step.String()))))
	}
	lines = append(lines, nil)
	switch {
	case r.TeamDecides():
		who := present.SafeLine(r.Routing.Need.String())
		lines = append(lines, text("No rule, grant, mode or answer at this machine allows this: "+who+"."))
	case r.PersonOnly:
		lines = append(lines, text("No rule, grant or mode can answer this: a person must, each time."))
	case len(r.Offers) > 0:
		lines = append(lines, text("It would not ask if one of these rules were saved:"))
		for _, o := range r.Offers {
			for _, rule := range o.Allow {
				lines = append(lines, append(text("  "), ruleLine(rule)...))
			}
		}
	default:
		lines = append(lines, text("No rule can describe exactly this, so it asks each time."))
	}
	return append(lines, nil, styled(faint, "fingerprint "+r.Fingerprint.String()))
}

// listHistory opens what was decided in this session.
func (s state) listHistory(e historyEvent) state {
	if s.dialog != nil {
		return s
	}
	if e.err != nil {
		s.notice = styled(bad, present.SafeLine(e.err.Error()))
		return s
	}
	d := textDialog{title: "Decided in this session"}
	for _, l := range e.lines {
		d.lines = append(d.lines, text(present.SafeLine(l)))
	}
	if len(d.lines) == 0 {
		d.lines = []line{styled(faint, "Nothing yet.")}
	}
	s.dialog = d
	return s
}

// grantsDialog lists the grants of the session, and revokes them.
type grantsDialog struct {
	grants []policy.Grant
	at     int
}

// listGrants opens the list, or shows it anew after something was revoked.
func (s state) listGrants(e grantsEvent) state {
	d, open := s.dialog.(grantsDialog)
	if s.dialog != nil && !open {
		return s
	}
	s.busy = false
	if e.err != nil {
		s.notice = styled(bad, present.SafeLine(e.err.Error()))
		return s
	}
	d.grants = e.grants
	d.at = max(min(d.at, len(d.grants)-1), 0)
	s.dialog = d
	return s
}

func (d grantsDialog) key(s state, k keyEvent) (state, []effect) {
	session := s.current().request.Call.Session
	switch k.name {
	case "esc", "q", "g", "enter":
		s.dialog = nil
		return s, nil
	case "up", "k":
		d.at = max(d.at-1, 0)
	case "down", "j":
		d.at = max(min(d.at+1, len(d.grants)-1), 0)
	case "x":
		if len(d.grants) > 0 {
			s.busy = true
			return s, []effect{revokeEffect{session, []string{d.grants[d.at].ID}}}
		}
	case "X":
		var ids []string
		for _, g := range d.grants {
			ids = append(ids, g.ID)
		}
		s.busy = len(ids) > 0
		return s, []effect{revokeEffect{session, ids}}
	default:
		if i, ok := digit(k.name, len(d.grants)); ok {
			d.at = i
		}
	}
	s.dialog = d
	return s, nil
}

func (d grantsDialog) foot(_ *state, n int) []line {
	if len(d.grants) == 0 {
		return keyRows(n, "Esc", "back")
	}
	return keyRows(n, "↑ ↓", "choose", "x", "revoke this", "X", "revoke all", "Esc", "back")
}

func (d grantsDialog) body(s *state) (string, []line, int) {
	n := s.inner()
	if len(d.grants) == 0 {
		return "Grants of this session", []line{styled(faint, "None.")}, 0
	}
	var rows []line
	scroll := 0
	for i, g := range d.grants {
		mark := text("  ")
		if i == d.at {
			mark = styled(strong, "▸ ")
			scroll = max(len(rows)+2-s.bodyRoom(), 0)
		}
		rows = append(rows, wrap(append(mark, ruleLine(g.String())...), n, text("    "))...)
		rows = append(rows, wrap(styled(faint, "    "+grantDetails(g)), n, text("    "))...)
	}
	return "Grants of this session", rows, scroll
}

func grantDetails(g policy.Grant) string {
	out := "until the run ends"
	if !g.Expires.IsZero() {
		out = "until " + g.Expires.Format("15:04:05")
	}
	if g.Shared {
		out += ", also for called workers"
	}
	return present.SafeLine(out + ", by " + g.By.String())
}

// allDialog says which requests "all" would approve and which it leaves, and does it.
type allDialog struct{}

// sort splits the requests into those that may be approved together and the others.
func (allDialog) sort(s *state) (yes []*approval.Request, left []line) {
	for _, it := range s.chosen() {
		name := present.SafeLine(it.request.Call.Name() + " · " + it.request.Summary)
		switch {
		case it.request.PersonOnly:
			left = append(left, text(name+" (each time by a person)"))
		case it.request.TeamDecides():
			left = append(left, text(name+" (the team decides)"))
		case it.err != nil:
			left = append(left, text(name+" (cannot be shown)"))
		case !it.seen:
			left = append(left, text(name+" (was not on screen in full)"))
		default:
			yes = append(yes, it.request)
		}
	}
	return yes, left
}

func (d allDialog) key(s state, k keyEvent) (state, []effect) {
	switch k.name {
	case "esc":
		s.dialog = nil
	case "y", "Y":
		yes, left := d.sort(&s)
		if len(yes) == 0 {
			s.notice = styled(warn, "None of them was on screen in full: nothing was approved.")
			return s, nil
		}
		var all []approval.Decision
		for _, r := range yes {
			all = append(all, r.Approve(""))
		}
		s.dialog = nil
		if len(left) > 0 {
			why := " left open: not on screen in full, for a person each time, or for the team."
			s.notice = styled(warn, count(len(left), "request")+why)
		}
		return s.resolve(all...)
	}
	return s, nil
}

func (d allDialog) foot(s *state, n int) []line {
	yes, left := d.sort(s)
	rows := wrap(styled(strong, "Approve "+count(len(yes), "request")+", this once:"), n, nil)
	for _, r := range yes {
		what := present.SafeLine(r.Call.Name() + " · " + r.Summary)
		rows = append(rows, wrap(line{{"  ✓ ", good}, {what, plain}}, n, text("    "))...)
	}
	if len(left) > 0 {
		how := "Left open (Tab shows the next one):"
		if s.inbox {
			how = "Left open (open each one first, to see it):"
		}
		rows = append(rows, wrap(styled(warn, how), n, nil)...)
		for _, l := range left {
			rows = append(rows, wrap(append(text("  • "), l...), n, text("    "))...)
		}
	}
	return append(rows, keyRows(n, "y", fmt.Sprintf("yes, approve %d", len(yes)), "Esc", "back")...)
}

// choiceDialog takes one of the further answers that the tool offers.
type choiceDialog struct{ at int }

func (d choiceDialog) key(s state, k keyEvent) (state, []effect) {
	r := s.current().request
	switch k.name {
	case "esc":
		s.dialog = nil
		return s, nil
	case "y", "Y":
		if d.at < 0 {
			return s, nil
		}
		decision := r.Approve("")
		decision.Choice = r.Choices[d.at].ID
		return s.resolve(decision)
	case "up":
		d.at = max(d.at-1, 0)
	case "down":
		d.at = min(d.at+1, len(r.Choices)-1)
	default:
		if i, ok := digit(k.name, len(r.Choices)); ok {
			d.at = i
		}
	}
	s.dialog = d
	return s, nil
}

func (d choiceDialog) foot(s *state, n int) []line {
	rows := wrap(styled(strong, "Approve this once, with a choice:"), n, nil)
	choices := s.current().request.Choices
	for i, c := range choices {
		rows = append(rows, choiceRows(i, i == d.at, present.SafeLine(c.Label), n)...)
	}
	keys := []string{"1-" + fmt.Sprint(len(choices)), "choose", "Esc", "back"}
	if d.at >= 0 {
		keys = slices.Concat([]string{"y", "yes, approve with this"}, keys)
	}
	return append(rows, keyRows(n, keys...)...)
}
