package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/assent-dev/assent/present"
)

// How often a status is drawn, and how long something takes before it is.
const (
	statusEvery = 100 * time.Millisecond
	statusAfter = 300 * time.Millisecond
)

// A Status is one line at the bottom of a terminal that says that something is still
// going on: a spinner, how long it takes, and the last line of output. Where the output is
// no terminal it does nothing. A nil Status does nothing either. It is safe for
// concurrent use.
type Status struct {
	out    io.Writer
	width  func() int
	clock  func() time.Time
	styles theme

	mu     sync.Mutex
	task   *Task // the latest one
	paused int
	asides []func() // what is to be printed when nothing else is on the screen
	drawn  bool     // there is a line to clear
	turn   int
}

// NewStatus returns the status line of a file, such as standard error. A nil getenv
// means os.Getenv.
func NewStatus(out *os.File, getenv func(string) string) *Status {
	if getenv == nil {
		getenv = os.Getenv
	}
	if !canDraw(out, getenv) {
		return nil
	}
	s := &Status{out: out, clock: time.Now, styles: colours, width: func() int {
		n, _, err := term.GetSize(out.Fd())
		if err != nil {
			return 80
		}
		return n
	}}
	if getenv("NO_COLOR") != "" {
		s.styles = attributes
	}
	return s
}

// A Task is something that goes on. Write its output to it and end it with Done. A nil
// Task does nothing.
type Task struct {
	status *Status
	label  string
	began  time.Time
	stop   chan struct{}
	ended  chan struct{}

	// guarded by status.mu
	last string // the last line of output
	part string // the begin of the next one
}

// Start shows a task in place of the one before. The line appears once the task has taken
// a moment.
func (s *Status) Start(label string) *Task {
	if s == nil {
		return nil
	}
	t := &Task{status: s, label: label, began: s.clock(), stop: make(chan struct{}), ended: make(chan struct{})}
	s.mu.Lock()
	s.task = t
	s.mu.Unlock()
	go t.spin()
	return t
}

func (t *Task) spin() {
	defer close(t.ended)
	ticker := time.NewTicker(statusEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			t.status.draw(t)
		case <-t.stop:
			return
		}
	}
}

// maxStatusLine is how much of a line is kept.
const maxStatusLine = 4 << 10

// lineEnds end a line of output. A carriage return does where progress is painted over.
const lineEnds = "\r\n"

// Write takes output of the task; the last line of it is shown. It never fails.
func (t *Task) Write(p []byte) (int, error) {
	if t == nil {
		return len(p), nil
	}
	t.status.mu.Lock()
	defer t.status.mu.Unlock()
	text := t.part + string(p)
	if i := strings.LastIndexAny(text, lineEnds); i >= 0 {
		whole := strings.TrimRight(text[:i], lineEnds+" \t")
		if l := whole[strings.LastIndexAny(whole, lineEnds)+1:]; l != "" {
			t.last = strings.TrimSpace(l[:min(len(l), maxStatusLine)])
		}
		text = text[i+1:]
	}
	t.part = text[max(len(text)-maxStatusLine, 0):]
	return len(p), nil
}

// Done ends the task and takes its line away. It may be called more than once.
func (t *Task) Done() {
	if t == nil {
		return
	}
	s := t.status
	s.mu.Lock()
	select {
	case <-t.stop:
	default:
		close(t.stop)
	}
	if s.task == t {
		s.task = nil
		s.clear()
	}
	s.mu.Unlock()
	<-t.ended
}

// pause takes the line away until the function that it returns is called.
func (s *Status) pause() (resume func()) {
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused++
	s.clear()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.paused--; s.paused == 0 {
			for _, f := range s.asides {
				f()
			}
			s.asides = nil
		}
	}
}

// Aside has f print something, with the line taken away: now, or when a question that is on the
// screen is gone.
func (s *Status) Aside(f func()) {
	if s == nil {
		f()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paused > 0 {
		s.asides = append(s.asides, f)
		return
	}
	s.clear()
	f()
}

// clear takes the line off the screen. The lock is held.
func (s *Status) clear() {
	if s.drawn {
		io.WriteString(s.out, "\r\x1b[K")
		s.drawn = false
	}
}

func (s *Status) draw(t *Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := s.clock().Sub(t.began)
	if s.task != t || s.paused > 0 || took < statusAfter {
		return
	}
	s.turn++
	var b strings.Builder
	s.styles.paint(&b, statusLine(s.turn, t.label, took, t.last, s.width()-1))
	io.WriteString(s.out, "\r\x1b[K"+b.String())
	s.drawn = true
}

const spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

// statusLine returns the line in at most n cells. The time is always there, and a long label
// leaves half of the line to the output.
func statusLine(turn int, label string, took time.Duration, last string, n int) line {
	frames := []rune(spinner)
	label, since := present.SafeLine(label), fmt.Sprintf(" · %s", took.Truncate(time.Second))
	room := n - 2 - width(since)
	if last != "" {
		last = " · " + present.SafeLine(last)
		room = max(room-width(last), room/2)
	}
	l := line{{string(frames[turn%len(frames)]), keycap}, {shorten(" "+shorten(label, room)+since, n-1), plain}}
	if room := n - l.width(); room > 3 && last != "" {
		l = append(l, seg{shorten(last, room), faint})
	}
	return l
}
