package terminal

import (
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// options are fixed for the life of a prompt.
type options struct {
	theme           theme
	limit           present.Limit
	quiet, maxQuiet time.Duration
	who             policy.Who
	wide            func(policy.Rule) string // why a rule needs a second yes
	footer          string                   // said above the keys
	covers          bool                     // what a lasting answer settles can be told
	grants          bool                     // grants can be listed
	lines           bool                     // answers are typed as lines
	inbox           bool                     // the questions are those of other processes
}

// A state is a prompt at one moment. It is a value: update returns the next one and
// changes nothing.
type state struct {
	options
	width, height int

	items  []item // the requests that wait, in the model's order
	at     int    // the one on the screen
	total  int    // how many the batch had
	dialog dialog // what is open over the request; nil for none
	notice line   // one line about the last key
	busy   bool   // an answer, an editor or a pager is on its way
	stale  bool   // something was answered elsewhere meanwhile
	turn   int    // tells late answers about coverage from the last one
	look   int    // the last look at the desk

	ready      bool // the keys work, and the screen says so
	quietUntil time.Time
	quietEnd   time.Time
	yesFrom    time.Time // from when a key may say yes: it has been quiet then, however long it took

	listing bool      // the list of an inbox is on the screen, and not a request
	now     time.Time // for ages in the list
	clock   bool      // a tick for them is under way

	over bool // nothing is left to do here
	end  end
}

// An end says how the person ended the whole; the zero end is by answering.
type end struct {
	stopped     bool // q
	interrupted bool // Ctrl-C, end of input, closed terminal
	request     *approval.Request
	note        string // of the person, or why it was interrupted
}

// An item is a request and what the person has seen of it.
type item struct {
	request *approval.Request
	view    present.View
	err     error // the view could not be built: it must not be approved
	about   About
	loaded  bool
	scroll  int
	page    page // for the width below
	width   int  // that the page was laid out for
	height  int  // likewise
	reached int  // how many rows from the top were on the screen
	seen    bool // all of it was on the screen
	marked  bool // in the list of an inbox, to be answered with others
	opened  bool // all of it was opened with v
}

// whole reports whether the person could see the whole view.
func (it *item) whole() bool {
	return it.loaded && it.err == nil && (it.seen || it.opened && !it.page.headOnly)
}

// informed reports whether the person could see why it asks and every act that does.
func (it *item) informed() bool { return it.opened || it.reached >= it.page.head }

// newState returns the prompt for the requests, of which there is at least one, and what
// has to be done first.
func newState(o options, width, height int, pending []*approval.Request, now time.Time) (state, []effect) {
	s := state{options: o, width: width, height: height, total: len(pending)}
	for _, r := range pending {
		s.items = append(s.items, item{request: r})
	}
	if s.inbox {
		s, effects := s.openList(now)
		return s, append(effects, bellEffect{})
	}
	return s, []effect{loadEffect{s.current().request}, bellEffect{}}
}

func (s *state) current() *item { return &s.items[s.at] }

// update takes an event. Once all is over, what is still told changes nothing.
func (s state) update(e event) (state, []effect) {
	if s.over {
		return s, nil
	}
	s.items = slices.Clone(s.items)
	var effects []effect
	switch e := e.(type) {
	case keyEvent:
		s, effects = s.key(e)
	case pasteEvent:
		s = s.paste(e.text)
	case sizeEvent:
		s.width, s.height = e.width, e.height
	case clickEvent:
		s, effects = s.click(e)
	case clockEvent:
		s, effects = s.clockTicks(e)
	case tickEvent:
		s.ready = !e.at.Before(s.quietUntil)
		if !s.ready {
			effects = []effect{tickEffect{s.quietUntil}}
		}
	case loadedEvent:
		s, effects = s.loaded(e)
	case settledEvent:
		s, effects = s.settled(e)
	case coversEvent:
		if c, ok := s.dialog.(coverer); ok && e.turn == s.turn {
			s.dialog = c.covered(e.names)
		}
	case editedEvent:
		s, effects = s.edited(e)
	case pagedEvent:
		s, effects = s.paged(e)
	case grantsEvent:
		s = s.listGrants(e)
	case historyEvent:
		s = s.listHistory(e)
	case interruptEvent:
		s, effects = s.interrupt(e.why)
	}
	if s.over {
		return s, effects
	}
	if s.stale && !s.busy {
		s.stale, effects = false, append(effects, refreshEffect{})
	}
	s.layout()
	return s, effects
}

// resume returns what has to be done again after the prompt was taken off the screen for
// a moment: answers that were on their way are lost then.
func (s state) resume() (state, []effect) {
	switch c, ok := s.dialog.(coverer); {
	case s.over:
		return s, nil
	case s.listing:
		return s, []effect{clockEffect{s.now.Add(listTick)}}
	case !s.current().loaded:
		return s, []effect{loadEffect{s.current().request}}
	case ok && !c.told():
		s, effects := c.ask(s)
		return s, append(effects, tickEffect{s.quietUntil})
	}
	return s, []effect{tickEffect{s.quietUntil}}
}

// key swallows what was typed before the prompt could be read, and hands the rest to the
// dialog that is open or to the request.
func (s state) key(k keyEvent) (state, []effect) {
	if k.name == "ctrl+c" {
		return s.interrupt("Ctrl-C")
	}
	if s.listing && s.dialog == nil {
		if k.at.Before(s.quietUntil) {
			s.quietUntil = earlier(k.at.Add(s.quiet), s.quietEnd)
			return s, nil
		}
		if s.busy {
			return s, nil
		}
		s.ready, s.notice = true, nil
		next, effects := s.listKey(k)
		if !next.over && next.asksYes() {
			effects = append(effects, next.arm(k.at)) // what it says must be readable first
		}
		return next, effects
	}
	yes := k.name == "y" || k.name == "Y"
	restless := k.at.Before(s.yesFrom) // it has not been quiet yet
	if restless {
		s.yesFrom = k.at.Add(s.quiet)
	}
	early := k.at.Before(s.quietUntil) || restless && agrees(k)
	if early && (s.dialog == nil || yes && s.asksYes()) {
		s.quietUntil = k.at.Add(s.quiet)
		if !agrees(k) && k.name != "n" { // neither a key that is held down nor a text ever comes to answer
			s.quietUntil = earlier(s.quietUntil, s.quietEnd)
		}
		if s.ready {
			s.ready = false
			return s, []effect{tickEffect{s.quietUntil}}
		}
		return s, nil // the tick that is under way sees the new time
	}
	if s.over || s.busy || !s.listing && !s.current().loaded {
		return s, nil
	}
	s.ready, s.notice = true, nil
	next, effects := s, []effect(nil)
	switch {
	case s.dialog == nil:
		next, effects = s.answer(k)
	case k.name == "enter" && s.asksYes():
		next.notice = styled(faint, "Enter does not say yes: press y, or Esc to go back.")
	case agrees(k) && s.asksYes() && s.tooTall():
		next.notice = styled(warn, "Enlarge the terminal: this does not fit, and you should see what you agree to.")
	default:
		next, effects = s.dialog.key(s, k)
	}
	if s.asksYes() && next.dialog == nil && !next.busy {
		next.quietUntil, next.yesFrom = k.at, k.at // back at the request, which has been read
	}
	if !next.over && next.asksYes() {
		effects = append(effects, next.arm(k.at)) // what it says must be readable first
	}
	return next, effects
}

// agrees reports whether the key can lead to a yes.
func agrees(k keyEvent) bool { return strings.ContainsAny(k.name, "yYsSaAcC") && len(k.name) == 1 }

// asksYes reports whether a dialog is open in which y agrees to more than this once.
func (s *state) asksYes() bool {
	switch s.dialog.(type) {
	case sessionDialog, alwaysDialog, allDialog, choiceDialog:
		t, ok := s.dialog.(typist)
		return !ok || !t.typing()
	}
	return false
}

// tooTall reports whether the dialog that is open does not fit on the screen.
func (s *state) tooTall() bool {
	return s.height > 0 && s.height-4-len(s.dialog.foot(s, s.inner())) < minBody
}

// arm makes the keys wait until it has been quiet for a while: something new is on the
// screen.
func (s *state) arm(now time.Time) effect {
	s.ready = s.quiet <= 0
	s.quietUntil, s.quietEnd = now.Add(s.quiet), now.Add(s.maxQuiet)
	s.yesFrom = s.quietUntil
	return tickEffect{s.quietUntil}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// paste puts text where text is being typed, and nowhere else.
func (s state) paste(text string) state {
	if t, ok := s.dialog.(typist); ok && t.typing() && !s.busy {
		s.dialog = t.typed(text)
	}
	return s
}

func (s state) loaded(e loadedEvent) (state, []effect) {
	for i := range s.items {
		it := &s.items[i]
		if it.request.ID == e.id && !it.loaded {
			it.view, it.err, it.about, it.loaded = e.view, e.err, e.about, true
			if i == s.at {
				return s, []effect{s.arm(e.at)}
			}
		}
	}
	return s, nil
}

func (s state) interrupt(why string) (state, []effect) {
	s.over = true
	s.end = end{interrupted: true, note: why}
	return s, []effect{quitEffect{}}
}

// show puts another request on the screen.
func (s state) show(i int, now time.Time) (state, []effect) {
	s.at, s.dialog, s.ready = i, nil, false
	if !s.current().loaded {
		return s, []effect{loadEffect{s.current().request}}
	}
	return s, []effect{s.arm(now)}
}

// layout wraps the request on the screen for the width, keeps the scroll position inside,
// and notes whether all of it is or was on the screen.
func (s *state) layout() {
	it := s.current()
	if !it.loaded || s.listing {
		return
	}
	if n := s.inner(); it.width != n || it.height != s.height {
		page := requestPage(it, s.limit, n, s.usualRoom())
		if it.width != n || len(page.rows) != len(it.page.rows) { // what was seen is elsewhere now
			it.reached = 0
		}
		it.page, it.width, it.height = page, n, s.height
	}
	if s.dialog != nil {
		return
	}
	room := s.bodyRoom()
	last := max(len(it.page.rows)-room, 0)
	it.scroll = min(max(it.scroll, 0), last)
	if it.scroll <= it.reached && !s.cramped() { // what was jumped over was not seen
		it.reached = max(it.reached, it.scroll+min(room, len(it.page.rows)))
	}
	if it.reached >= len(it.page.rows) && !it.page.cut && it.err == nil && !s.cramped() {
		it.seen = true
	}
}
