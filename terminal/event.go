package terminal

import (
	"encoding/json"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

type (
	event  any // one of the events below
	effect any // one of the effects below
)

// An event is what happens to a prompt. Events carry the time, so that the core needs no
// clock.
type (
	// keyEvent is a key: its name ("y", "enter", "ctrl+c") and the text it stands for.
	keyEvent struct {
		name, text string
		at         time.Time
	}
	// pasteEvent is text that came at once. It is never an answer.
	pasteEvent struct{ text string }
	// sizeEvent is the size of the terminal; a height of 0 is without end.
	sizeEvent struct{ width, height int }
	// clickEvent is a click of the mouse in a row of what is drawn.
	clickEvent struct {
		row int
		at  time.Time
	}
	// clockEvent lets time pass in the list of an inbox.
	clockEvent struct{ at time.Time }
	// tickEvent lets time pass.
	tickEvent struct{ at time.Time }
	// loadedEvent brings the view of a request.
	loadedEvent struct {
		id    string
		view  present.View
		err   error
		about About
		at    time.Time
	}
	// settledEvent says what is pending now: after an answer given here, or because
	// somebody else answered.
	settledEvent struct {
		look     int // which look at the desk it was
		answered []approval.Decision
		err      error
		pending  []*approval.Request
		outcomes []approval.Outcome
		at       time.Time
	}
	// coversEvent says which other requests an answer would settle.
	coversEvent struct {
		turn  int
		names []string
	}
	// editedEvent brings arguments that a person changed; nil if they are as before.
	editedEvent struct {
		id        string
		arguments json.RawMessage
		err       error
		at        time.Time
	}
	// pagedEvent says that the pager was closed, or could not be opened.
	pagedEvent struct {
		id  string
		err error
		at  time.Time
	}
	// grantsEvent brings the grants of the session.
	grantsEvent struct {
		grants []policy.Grant
		err    error
	}
	// historyEvent brings what was decided in the session, a line each.
	historyEvent struct {
		lines []string
		err   error
	}
	// interruptEvent is Ctrl-C from outside, the end of input, or a closed terminal.
	interruptEvent struct{ why string }
)

// An effect is what the core wants done; its result comes back as an event.
type (
	loadEffect    struct{ request *approval.Request }
	resolveEffect struct{ decisions []approval.Decision }
	coversEffect  struct {
		turn     int
		request  *approval.Request
		decision approval.Decision
	}
	editEffect  struct{ request *approval.Request }
	pagerEffect struct {
		request *approval.Request
		view    present.View
	}
	grantsEffect struct{ session string }
	revokeEffect struct {
		session string
		ids     []string
	}
	historyEffect struct{ session string }
	refreshEffect struct{} // look at what is pending
	tickEffect    struct{ until time.Time }
	clockEffect   struct{ until time.Time }
	sayEffect     struct{ line line } // stays on the screen
	bellEffect    struct{}
	quitEffect    struct{}
)
