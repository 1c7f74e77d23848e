package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// answer takes a key at the request itself. A key that does nothing here is answered with a hint.
func (s state) answer(k keyEvent) (state, []effect) {
	it := s.current()
	r := it.request
	if r.TeamDecides() && answersOtherwise(k) {
		s.notice = styled(warn, "Nobody at this machine can approve this: press n to deny it, or wait for the team.")
		return s, nil
	}
	switch k.name {
	case "y", "Y":
		if !s.approvable() {
			return s, nil
		}
		return s.resolve(r.Approve(""))
	case "n":
		return s.resolve(r.Deny(""))
	case "N":
		s.dialog = noteDialog{purpose: denyOne}
	case "D":
		if s.inbox {
			return s.hint(k), nil
		}
		s.dialog = noteDialog{purpose: denyAll}
		if len(s.items) == 1 {
			s.dialog = noteDialog{purpose: denyOne}
		}
	case "s", "S":
		if s.lasting(keepsSession(r, policy.EffectAllow)) {
			return s.openSession(policy.EffectAllow, "")
		}
	case "a":
		if s.lasting(keepsAlways(r, policy.EffectAllow)) {
			return s.openAlways(policy.EffectAllow, "")
		}
	case "A":
		if s.inbox {
			return s.hint(k), nil // several are answered from the list
		}
		s.dialog = allDialog{}
	case "e":
		if r.YesOrNo {
			return s.hint(k), nil
		}
		s.busy = true
		return s, []effect{editEffect{r}}
	case "r":
		if r.YesOrNo {
			return s.hint(k), nil
		}
		s.dialog = respondDialog{}
	case "v":
		if it.err == nil {
			s.busy = true
			return s, []effect{pagerEffect{r, it.view}}
		}
	case "?":
		s.dialog = textDialog{title: "Why it asks", lines: whyLines(r)}
	case "g":
		if !s.grants {
			return s.hint(k), nil
		}
		return s, []effect{grantsEffect{r.Call.Session}}
	case "h":
		return s, []effect{historyEffect{r.Call.Session}}
	case "c":
		if len(r.Choices) == 0 {
			return s.hint(k), nil
		}
		if s.approvable() {
			s.dialog = choiceDialog{at: -1}
		}
	case "q":
		s.dialog = noteDialog{purpose: stopAll}
	case "m":
		if !s.inbox {
			return s.hint(k), nil
		}
		it.marked = !it.marked
	case "esc":
		if !s.inbox {
			return s.hint(k), nil
		}
		s.quietUntil = k.at
		return s.openList(k.at)
	case "ctrl+d":
		return s.interrupt("end of input")
	default:
		return s.move(k)
	}
	return s, nil
}

// answersOtherwise reports whether a key leads to another answer to the request on the screen than a denial.
func answersOtherwise(k keyEvent) bool {
	return len(k.name) == 1 && strings.Contains("yYsSaerc", k.name)
}

// teamRow says whose answer a request waits for that nobody at this machine can approve.
func teamRow(r *approval.Request) line {
	return styled(warn, "Waiting for the team: "+present.SafeLine(r.Routing.Need.String())+". Here you can only deny it.")
}

// move scrolls, or goes to another request of the batch.
func (s state) move(k keyEvent) (state, []effect) {
	it, n := s.current(), len(s.items)
	switch k.name {
	case "tab", "right":
		if n > 1 {
			return s.show((s.at+1)%n, k.at)
		}
	case "shift+tab", "left":
		if n > 1 {
			return s.show((s.at+n-1)%n, k.at)
		}
	case "up", "k", "down", "j", "pgup", "pgdown", "space", "home", "end":
		it.scroll = scrolled(it.scroll, k.name, s.bodyRoom(), len(it.page.rows))
	default:
		return s.hint(k), nil
	}
	return s, nil
}

// hint says which keys answer, after one that does not.
func (s state) hint(k keyEvent) state {
	said, yes := "Enter alone answers nothing.", "y to approve, "
	if k.name != "enter" {
		said = "No such key here: " + shorten(present.SafeLine(k.name), 20) + "."
	}
	if it := s.current(); it.err != nil || !it.informed() || it.request.TeamDecides() {
		yes = ""
	}
	s.notice = styled(faint, said+" Press "+yes+"n to deny, ? for why.")
	return s
}

// scrolled returns where a key leads in rows of which room are on the screen.
func scrolled(at int, key string, room, rows int) int {
	switch key {
	case "up", "k":
		at--
	case "down", "j":
		at++
	case "pgup":
		at -= room
	case "pgdown", "space":
		at += room
	case "home":
		at = 0
	case "end":
		at = rows
	}
	return max(min(at, rows-room), 0)
}

// resolve answers requests, and lets no key answer until that is done.
func (s state) resolve(decisions ...approval.Decision) (state, []effect) {
	for i := range decisions {
		decisions[i].By = s.who
	}
	s.busy = true
	return s, []effect{resolveEffect{decisions}}
}

// approvable reports whether the request may be approved at all, and says why not.
func (s *state) approvable() bool {
	if err := s.current().err; err != nil {
		s.notice = styled(bad, "This cannot be approved, because what it would do cannot be shown.")
		return false
	}
	if s.cramped() && !s.current().opened {
		return false // and the keys say so
	}
	if !s.current().informed() {
		s.notice = styled(warn, uninformedNote)
		return false
	}
	return true
}

// lasting reports whether a yes that the request takes may be kept now, and says why not.
func (s *state) lasting(taken bool) bool {
	it := s.current()
	switch {
	case !s.approvable():
	case it.request.PersonOnly:
		s.notice = styled(warn, "Only a person may answer this, each time; the answer cannot be remembered.")
	case len(it.request.Offers) == 0:
		s.notice = styled(warn, "No rule can describe exactly this, so it can only be answered once.")
	case !taken:
		s.notice = styled(warn, "This request cannot be answered for that long.")
	case !it.whole():
		s.notice = styled(warn, unseenNote(it))
	default:
		return true
	}
	return false
}

// uninformedNote stands where y would, while it is not offered.
const uninformedNote = "Scroll down first (↓, PgDn): not all acts that need your answer were on the screen."

func unseenNote(it *item) string {
	switch {
	case it.page.headOnly:
		return "Session and always are not available: only the beginning can be shown."
	case it.page.cut:
		return "To answer for the session or always, see all of it first: press v."
	}
	return "To answer for the session or always, see all of it first: scroll, or press v."
}

func (s state) edited(e editedEvent) (state, []effect) {
	s.busy = false
	again := s.arm(e.at)
	it := s.current()
	switch {
	case it.request.ID != e.id:
	case e.err != nil:
		s.notice = styled(bad, present.SafeLine(e.err.Error()))
	case e.arguments == nil:
		s.notice = styled(faint, "Nothing was changed.")
	default:
		return s.resolve(it.request.Change(e.arguments, ""))
	}
	return s, []effect{again}
}

// paged comes back from the pager. If there was none, the view opens here. One that was
// interrupted may have shown less than all.
func (s state) paged(e pagedEvent) (state, []effect) {
	s.busy = false
	again := s.arm(e.at)
	it := s.current()
	if it.request.ID != e.id {
		return s, []effect{again}
	}
	if interrupted(e.err) {
		s.notice = styled(warn, "The pager was interrupted: press v to see all of it.")
		return s, []effect{again}
	}
	it.opened = true
	if e.err != nil {
		s.notice = styled(faint, fmt.Sprintf("No pager: %s", present.SafeLine(e.err.Error())))
		rows := viewRows(it.view, present.Limit{}, s.inner()).rows
		s.dialog = textDialog{title: "All of it", lines: append(wholeHead(it.request), rows...)}
	}
	return s, []effect{again}
}

// keepsSession reports whether a request takes such an answer for the session.
func keepsSession(r *approval.Request, e policy.Effect) bool {
	return !r.NoSession && canKeep(r, e)
}

// keepsAlways reports whether a request takes such an answer as rules.
func keepsAlways(r *approval.Request, e policy.Effect) bool {
	return !r.NoAlways && canKeep(r, e)
}

// canKeep reports whether there is something to remember: a yes that only a person may
// give is given each time, a no may be kept.
func canKeep(r *approval.Request, e policy.Effect) bool {
	if e == policy.EffectAllow && r.PersonOnly {
		return false
	}
	return slices.ContainsFunc(r.Offers, func(o policy.Offer) bool { return len(offeredRules(o, e)) > 0 })
}

// offeredRules returns the rules of an offer for such an answer.
func offeredRules(o policy.Offer, e policy.Effect) []string {
	if e == policy.EffectDeny {
		return o.Deny
	}
	return o.Allow
}

// coverage is what else an answer would settle.
type coverage struct {
	known bool
	names []string
}

// askCoverage asks for it; what was asked before no longer counts.
func (s *state) askCoverage(d approval.Decision) []effect {
	if !s.covers {
		return nil
	}
	s.turn++
	return []effect{coversEffect{s.turn, s.current().request, d}}
}

// rows says what else is settled, before it is.
func (c coverage) rows(n int) []line {
	if !c.known {
		return wrap(styled(faint, "looking at what else waits …"), n, nil)
	}
	if len(c.names) == 0 {
		return nil
	}
	waits := "waits"
	if len(c.names) > 1 {
		waits = "wait"
	}
	others := count(len(c.names), "other request")
	rows := wrap(styled(warn, fmt.Sprintf("This also answers %s that %s:", others, waits)), n, nil)
	for _, name := range c.names {
		rows = append(rows, wrap(text("  "+present.SafeLine(name)), n, text("    "))...)
	}
	return rows
}
