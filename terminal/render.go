package terminal

import (
	"fmt"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// minWidth is what a box needs; a narrower terminal cuts it.
const minWidth = 24

// inner is how many cells a row has between its borders.
func (s *state) inner() int { return max(s.width, minWidth) - 4 }

// divider is a row that is drawn as a line across the box.
var divider = styled(frame, "─")

func isDivider(l line) bool { return len(l) == 1 && l[0] == divider[0] }

// render draws the prompt. It draws nothing when the prompt is over.
func (s *state) render() string {
	if s.over || !s.listing && !s.current().loaded {
		return ""
	}
	return s.theme.painted(s.frame())
}

// frame returns the rows of the box.
func (s *state) frame() []line {
	n := s.inner()
	it := s.current()
	title, rows, scroll := s.title(), it.page.rows, it.scroll
	if s.listing {
		title, rows, scroll = s.listTitle(), s.listRows(n), 0
	}
	if r, ok := s.dialog.(reader); ok {
		title, rows, scroll = r.body(s)
	}
	room := s.bodyRoom()
	out := []line{border("┌", "┐", title, n)}
	for _, l := range longTitle(title, n) {
		out = append(out, boxed(l, n))
	}
	end := min(scroll+room, len(rows))
	for _, l := range rows[min(scroll, end):end] {
		out = append(out, boxed(l, n))
	}
	more := ""
	if s.listing && len(s.items) > s.listRoom() {
		from := s.listScroll()
		more = fmt.Sprintf("%d–%d of %d", from+1, min(from+s.listRoom(), len(s.items)), len(s.items))
	} else if end < len(rows) || scroll > 0 {
		more = fmt.Sprintf("rows %d–%d of %d · ↑ ↓ PgDn", scroll+1, end, len(rows))
	}
	out = append(out, border("├", "┤", more, n))
	for _, l := range s.foot() {
		out = append(out, boxed(l, n))
	}
	prompt := "wait: the keys work in a moment"
	switch {
	case s.listing && s.dialog == nil && s.ready:
		prompt = "your choice?"
	case s.ready:
		prompt = "your answer?"
	}
	return append(out, border("└", "┘", prompt, n))
}

// bodyRoom is how many rows of the request fit above the foot.
func (s *state) bodyRoom() int {
	if s.height <= 0 {
		return 1 << 30
	}
	title := s.title()
	if s.listing {
		title = s.listTitle()
	}
	return max(s.height-4-len(s.foot())-len(longTitle(title, s.inner())), 1)
}

// usualRoom is how many rows of the request fit above its keys, without a notice or a dialog.
func (s *state) usualRoom() int {
	if s.height <= 0 {
		return 1 << 30
	}
	n := s.inner()
	return s.height - 4 - len(s.allKeys(n)) - len(longTitle(s.title(), n))
}

// foot is the notice and what can be pressed.
func (s *state) foot() []line {
	n := s.inner()
	var rows []line
	if s.notice != nil {
		rows = wrap(s.notice, n, nil)
	}
	if s.dialog != nil {
		return append(rows, s.dialog.foot(s, n)...)
	}
	if s.listing {
		return append(rows, s.listKeys(n)...)
	}
	return append(rows, s.keys(n)...)
}

// minBody is how many rows of the request must fit on the screen for it to be approved.
const minBody = 3

// cramped reports whether the screen is too low to show the request above its keys. What
// could not be read is not approved.
func (s *state) cramped() bool {
	return s.width > 0 && s.width < minWidth || s.usualRoom() < minBody
}

// keys lists what the request takes on this screen.
func (s *state) keys(n int) []line {
	if !s.cramped() {
		return s.allKeys(n)
	}
	if r := s.current().request; s.current().opened && !r.TeamDecides() {
		return keyRows(n, "y", "approve once", "n", "deny", "N", "with note", "v", "view all", "q", "stop")
	}
	small := styled(warn, "The terminal is too small for this: enlarge it, or press v, before you approve.")
	if r := s.current().request; r.TeamDecides() {
		small = teamRow(r)
	}
	rows := wrap(small, n, nil)
	return append(rows, keyRows(n, "n", "deny", "v", "view all", "q", "stop")...)
}

// allKeys lists what the request takes.
func (s *state) allKeys(n int) []line {
	it := s.current()
	r := it.request
	var rows []line
	var keys []string
	add := func(ok bool, key, what string) {
		if ok {
			keys = append(keys, key, what)
		}
	}
	yes := !r.TeamDecides() // or any other answer than a denial
	add(yes && it.err == nil && it.informed(), "y", "approve once")
	add(true, "n", "deny")
	add(true, "N", "with note")
	session, always := yes && keepsSession(r, policy.EffectAllow), yes && keepsAlways(r, policy.EffectAllow)
	add(it.whole() && session, "s", "session")
	add(it.whole() && always, "a", "always")
	add(yes && !r.YesOrNo, "e", "edit")
	add(yes && !r.YesOrNo, "r", "answer instead")
	add(it.err == nil, "v", "view all")
	add(true, "?", "why")
	add(s.grants, "g", "grants")
	add(true, "h", "history")
	add(yes && len(r.Choices) > 0 && it.err == nil, "c", "choices")
	all := s.approvesAll()
	add(all != "", "A", all)
	add(len(s.items) > 1 && !s.inbox, "D", fmt.Sprintf("deny all %d", len(s.items)))
	add(s.inbox, "m", map[bool]string{false: "mark", true: "unmark"}[it.marked])
	add(s.inbox, "Esc", "list")
	add(len(s.items) > 1, "Tab", "next")
	add(true, "q", "stop")
	switch {
	case !yes:
		rows = wrap(teamRow(r), n, nil)
	case s.notice != nil || it.err != nil:
	case !it.informed():
		rows = wrap(styled(warn, uninformedNote), n, nil)
	case !it.whole() && (session || always):
		rows = wrap(styled(faint, unseenNote(it)), n, nil)
	}
	if s.footer != "" {
		rows = append(rows, wrap(styled(warn, present.SafeLine(s.footer)), n, nil)...)
	}
	return append(rows, keyRows(n, keys...)...)
}

// approvesAll says how many requests A would approve; nothing if there is no choice.
func (s *state) approvesAll() string {
	yes, left := allDialog{}.sort(s)
	switch {
	case len(s.items) < 2 || len(yes) == 0 || s.inbox: // there, those that were marked in the list
		return ""
	case len(left) == 0:
		return fmt.Sprintf("approve all %d", len(yes))
	}
	return fmt.Sprintf("approve all: %d of %d", len(yes), len(s.items))
}

// keyRows lays out pairs of a key and what it does.
func keyRows(n int, pairs ...string) []line {
	var rows []line
	var row line
	for i := 0; i+1 < len(pairs); i += 2 {
		item := line{{"[" + pairs[i] + "]", keycap}, {" " + pairs[i+1], plain}}
		if len(row) > 0 && row.width()+2+item.width() > n {
			rows, row = append(rows, row), nil
		}
		if len(row) > 0 {
			row = append(row, seg{"  ", plain})
		}
		row = append(row, item...)
	}
	return wrapAll(append(rows, row), n, text("    "))
}

// title names the tool as the model sees it, who asks, and which of how many it is.
func (s *state) title() string {
	r := s.current().request
	title := present.SafeLine(r.Call.Name())
	if len(r.Call.Workers) > 0 {
		title += " · " + present.SafeLine(strings.Join(r.Call.Workers, " › "))
	}
	if s.total > 1 {
		title += fmt.Sprintf(" · %d of %d", s.total-len(s.items)+s.at+1, s.total)
	}
	return title
}

// longTitle returns the rows of a title that the border cuts: they stand below it.
func longTitle(title string, n int) []line {
	if width(title) <= n-2 {
		return nil
	}
	return wrap(styled(heading, title), n, nil)
}

// border is a row of the box that carries a word.
func border(left, right, word string, n int) line {
	if word == "" {
		return styled(frame, left+strings.Repeat("─", n+2)+right)
	}
	st := heading
	if left != "┌" {
		st = faint
	}
	word = shorten(word, n-2)
	return line{
		{left + "─ ", frame}, {word, st},
		{" " + strings.Repeat("─", max(n-1-width(word), 0)) + right, frame},
	}
}

// boxed puts borders around a row.
func boxed(l line, n int) line {
	if isDivider(l) {
		return border("├", "┤", "", n)
	}
	row := append(line{{"│ ", frame}}, l.padded(n)...)
	return append(row, seg{" │", frame})
}
