package terminal

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
)

// The list of an inbox has a row for each request: who asks, where, for how long, and what. Keys and
// clicks choose from it; what is chosen is answered where its details are, or with others that were
// marked. Nothing in the list itself approves.

// listTick is how often ages are counted anew.
const listTick = time.Second

// openList shows the list, with the cursor where it was.
func (s state) openList(now time.Time) (state, []effect) {
	s.listing, s.dialog, s.ready = true, nil, true
	if now.After(s.now) {
		s.now = now
	}
	if s.clock {
		return s, nil
	}
	s.clock = true
	return s, []effect{clockEffect{s.now.Add(listTick)}}
}

// clockTicks counts ages anew, as long as the list is open.
func (s state) clockTicks(e clockEvent) (state, []effect) {
	s.now, s.clock = e.at, s.listing
	if !s.listing {
		return s, nil
	}
	return s, []effect{clockEffect{e.at.Add(listTick)}}
}

// listKey takes a key in the list.
func (s state) listKey(k keyEvent) (state, []effect) {
	last := len(s.items) - 1
	switch k.name {
	case "up", "k":
		s.at = max(s.at-1, 0)
	case "down", "j":
		s.at = min(s.at+1, last)
	case "pgup":
		s.at = max(s.at-s.bodyRoom(), 0)
	case "pgdown":
		s.at = min(s.at+s.bodyRoom(), last)
	case "home":
		s.at = 0
	case "end":
		s.at = last
	case "enter", "right":
		return s.openDetails(s.at, k.at)
	case "space":
		s.items[s.at].marked = !s.items[s.at].marked
	case "A":
		if s.marked() == 0 {
			s.notice = styled(faint, "Nothing is marked. Mark requests with Space, then approve them together.")
			break
		}
		s.dialog = allDialog{}
	case "D":
		if s.marked() == 0 {
			s.notice = styled(faint, "Nothing is marked. Mark requests with Space, then deny them together.")
			break
		}
		s.dialog = noteDialog{purpose: denyAll}
	case "q", "ctrl+d":
		return s.interrupt("the inbox was left")
	default:
		if i, ok := digit(k.name, len(s.items)); ok {
			return s.openDetails(i, k.at)
		}
		s.notice = styled(faint, "Nothing is answered in this list. Press Enter to open a request, q to leave.")
	}
	return s, nil
}

// click chooses the row that was clicked; a second click opens it. It answers nothing.
func (s state) click(e clickEvent) (state, []effect) {
	if !s.listing || s.dialog != nil || s.busy {
		return s, nil
	}
	const above = 2 // the border and the names of the columns
	i := e.row - above - len(longTitle(s.listTitle(), s.inner())) + s.listScroll()
	if e.row < above || i < 0 || i >= len(s.items) || e.row-above >= s.listRoom() {
		return s, nil
	}
	if i == s.at {
		return s.openDetails(i, e.at)
	}
	s.at = i
	return s, nil
}

func (s state) openDetails(i int, now time.Time) (state, []effect) {
	s.listing = false
	return s.show(i, now)
}

// marked returns how many requests are marked.
func (s *state) marked() (n int) {
	for i := range s.items {
		if s.items[i].marked {
			n++
		}
	}
	return n
}

// chosen are the requests that an answer to several is for: those that are marked in an inbox, else
// all.
func (s *state) chosen() []*item {
	var out []*item
	for i := range s.items {
		if !s.inbox || s.items[i].marked {
			out = append(out, &s.items[i])
		}
	}
	return out
}

// listed tells one content of the list from another.
func (s *state) listed() string {
	var b strings.Builder
	for i := range s.items {
		fmt.Fprintf(&b, "%s %t\n", s.items[i].request.ID, s.items[i].marked)
	}
	return b.String()
}

func (s *state) listTitle() string { return "Inbox · " + count(len(s.items), "request") + " waiting" }

// listRoom is how many requests fit below the names of the columns.
func (s *state) listRoom() int { return max(s.bodyRoom()-1, 1) }

// listScroll is the first request on the screen: the cursor is always there.
func (s *state) listScroll() int { return max(s.at-s.listRoom()+1, 0) }

// listRows are the rows of the list that fit, below the names of the columns.
func (s *state) listRows(n int) []line {
	rows := make([]listRow, len(s.items))
	for i := range s.items {
		rows[i] = rowOf(&s.items[i], i, s.now)
	}
	head := listRow{number: "", agent: "AGENT", project: "PROJECT", age: "AGE", urgent: "WAITS", what: "WHAT"}
	all := append([]listRow{head}, rows...)
	wide := columnWidths(all, n)
	out := []line{head.line(wide, n, faint, "  ")}
	from := s.listScroll()
	for i := from; i < min(from+s.listRoom(), len(rows)); i++ {
		st, mark := plain, "  "
		if s.items[i].marked {
			mark = " *"
		}
		if i == s.at {
			st, mark = strong, "▸"+mark[1:]
		}
		out = append(out, rows[i].line(wide, n, st, mark))
	}
	return out
}

// A listRow is what the list says of a request.
type listRow struct {
	number, agent, project, age, urgent, what string
	soon                                      bool // it does not wait for long any more
}

func rowOf(it *item, i int, now time.Time) listRow {
	r := it.request
	urgent, soon := urgency(r.Origin, now)
	row := listRow{
		number: fmt.Sprint(i + 1), agent: present.SafeLine(agentOf(r)), project: present.SafeLine(projectOf(r.Origin)),
		age: shortTime(now.Sub(r.Created)), urgent: urgent, soon: soon, what: present.SafeLine(r.Summary),
	}
	if r.PersonOnly {
		row.what = "! " + row.what // each time by a person
	}
	return row
}

// agentOf is who asks, as far as it is known.
func agentOf(r *approval.Request) string {
	switch {
	case r.Origin.Agent != "":
		return r.Origin.Agent
	case len(r.Call.Workers) > 0:
		return strings.Join(r.Call.Workers, " › ")
	}
	return "?"
}

// projectOf names the repository shortly, with its branch.
func projectOf(o approval.Origin) string {
	switch {
	case o.Folder == "":
		return "?"
	case o.Branch == "":
		return filepath.Base(o.Folder)
	}
	return filepath.Base(o.Folder) + " (" + o.Branch + ")"
}

// urgency says how long the asker still waits: forever unless it says until when, and not at all if
// its run was put aside.
func urgency(o approval.Origin, now time.Time) (says string, soon bool) {
	switch left := o.Until.Sub(now); {
	case o.Until.IsZero() && o.Process == approval.Process{}:
		return "later", false
	case o.Until.IsZero():
		return "now", false
	case left <= 0:
		return "over", true
	default:
		return shortTime(left) + " left", left < time.Minute
	}
}

// shortTime is a time in one unit, for a column.
func shortTime(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// narrow is up to which width the list leaves out where a request comes from and how long it waits:
// its details say so.
const narrow = 56

// columnWidths is how wide each column is: as wide as its content, within a share of the line.
func columnWidths(rows []listRow, n int) [5]int {
	var wide [5]int
	for _, r := range rows {
		for i, cell := range []string{r.number, r.agent, r.project, r.age, r.urgent} {
			wide[i] = max(wide[i], width(cell))
		}
	}
	wide[1], wide[2] = min(wide[1], max(n/6, 8)), min(wide[2], n/4)
	if n <= narrow {
		wide[2], wide[4] = 0, 0
	}
	return wide
}

// line lays the row out in n cells. What is asked has what is left.
func (r listRow) line(wide [5]int, n int, st style, mark string) line {
	urgent := st
	if r.soon {
		urgent = warn
	}
	out := line{{mark + " ", st}}
	for i, cell := range []string{r.number, r.agent, r.project, r.age, r.urgent} {
		of := st
		if i == 4 {
			of = urgent
		}
		if wide[i] == 0 {
			continue
		}
		text := shorten(cell, wide[i])
		out = append(out, seg{text + strings.Repeat(" ", wide[i]-width(text)+1), of})
	}
	return fitted(append(out, seg{shorten(r.what, max(n-out.width(), 0)), st}), n)
}

// fitted cuts a line to n cells.
func fitted(l line, n int) line {
	rows := wrap(l, n, nil)
	return rows[0]
}

// listKeys says what can be pressed in the list.
func (s *state) listKeys(n int) []line {
	keys := []string{"Enter", "open", "Space", "mark"}
	if marked := s.marked(); marked > 0 {
		yes, _ := allDialog{}.sort(s)
		approve := fmt.Sprintf("approve %d marked", len(yes))
		if len(yes) < marked {
			approve = fmt.Sprintf("approve marked: %d of %d", len(yes), marked)
		}
		keys = slices.Concat(keys, []string{"A", approve, "D", fmt.Sprintf("deny %d marked", marked)})
	}
	var rows []line
	if slices.ContainsFunc(s.items, func(it item) bool { return it.request.PersonOnly }) {
		rows = wrap(styled(faint, "! only a person may answer this, each time"), n, nil)
	}
	return append(rows, keyRows(n, append(keys, "↑ ↓", "choose", "q", "leave")...)...)
}
