package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
)

// The terminal keeps its titles on a stack; not all terminals do, and those ignore it.
const (
	pushTitle = "\x1b[22;0t"
	popTitle  = "\x1b[23;0t"
)

// draw asks with a prompt that is drawn and stays below what was printed before. Whenever
// something was decided, the prompt is taken away, a line that says so is printed for
// good, and the prompt comes back for what is left.
func (w *work) draw() (end, error) {
	// A pager or editor that is ended leaves the terminal as it had it; so whatever happens
	// it is put back as it was found.
	if found, err := term.GetState(w.cfg.In.Fd()); err == nil {
		defer term.Restore(w.cfg.In.Fd(), found)
	}
	if !w.cfg.NoBell {
		io.WriteString(w.cfg.Out, pushTitle)
		defer io.WriteString(w.cfg.Out, popTitle)
	}
	columns, rows, err := term.GetSize(w.cfg.Out.Fd())
	if err != nil {
		return end{}, fmt.Errorf("reading the size of the terminal: %w", err)
	}
	pending := w.desk.Pending()
	if len(pending) == 0 {
		return end{}, nil
	}
	s, effects := newState(w.options(), columns, rows, pending, w.cfg.Clock())
	for {
		m := &model{work: w, state: s, first: effects}
		if err := m.run(); err != nil {
			return end{}, err
		}
		for _, l := range m.said {
			w.say(l, m.state.width)
		}
		if m.state.over {
			return m.state.end, nil
		}
		if w.ctx.Err() != nil {
			for _, l := range w.lastWords(m.state) {
				w.say(l, m.state.width)
			}
			return m.state.end, nil
		}
		s, effects = m.state.resume()
	}
}

// model is the bubbletea shell around a state.
type model struct {
	*work
	state state
	first []effect
	said  []line
	leave bool // take the prompt off the screen
	ended bool // nobody needs an answer any more

	drawn   string
	tallest int // how many rows were drawn at most
}

type cancelMsg struct{}

// run shows the prompt until it is over or a line is to be said.
func (m *model) run() error {
	ctx, cancel := context.WithCancel(m.ctx)
	defer cancel()
	input := &watchedFile{File: m.cfg.In}
	p := tea.NewProgram(m, tea.WithInput(input), tea.WithOutput(m.cfg.Out), tea.WithoutSignalHandler())
	input.closed = func() { p.Send(interruptEvent{"end of input"}) }
	m.watch(ctx, func() { p.Send(refreshEffect{}) })
	go m.listen(ctx, p)
	_, err := p.Run()
	m.wipe()
	return err
}

// listen tells the program about signals and about the end of the context.
func (m *model) listen(ctx context.Context, p *tea.Program) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	for {
		select {
		case s := <-signals:
			if s != syscall.SIGINT || !Lent() {
				p.Send(interruptEvent{s.String()})
			}
		case <-ctx.Done():
			p.Send(cancelMsg{})
			return
		}
	}
}

// watchedFile is a terminal that tells when it is at its end; bubbletea would wait for
// ever.
type watchedFile struct {
	*os.File
	closed func()
}

func (f *watchedFile) Read(b []byte) (int, error) {
	n, err := f.File.Read(b)
	if n == 0 && err != nil {
		go f.closed()
		return 0, io.EOF
	}
	return n, err
}

// Init starts with what the state wants first.
func (m *model) Init() tea.Cmd { return m.commands(m.first) }

// Update hands what bubbletea saw to the state.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.event(keyEvent{msg.String(), msg.Text, m.cfg.Clock()})
	case tea.PasteMsg:
		return m.event(pasteEvent{msg.Content})
	case tea.WindowSizeMsg:
		return m.event(sizeEvent{msg.Width, msg.Height})
	case refreshEffect:
		return m, m.commands([]effect{msg})
	case tea.MouseClickMsg:
		if msg.Button != tea.MouseLeft {
			return m, nil
		}
		return m.event(clickEvent{msg.Y, m.cfg.Clock()})
	case tea.MouseWheelMsg:
		name := map[tea.MouseButton]string{tea.MouseWheelUp: "up", tea.MouseWheelDown: "down"}[msg.Button]
		if name == "" || m.state.dialog != nil {
			return m, nil
		}
		return m.event(keyEvent{name: name, at: m.cfg.Clock()})
	case cancelMsg:
		if m.state.busy { // what became of the answer is still said
			m.ended = true
			return m, nil
		}
		m.leave = true
		return m, tea.Quit
	case interruptEvent, tickEvent, clockEvent, loadedEvent, settledEvent, coversEvent, editedEvent, pagedEvent,
		grantsEvent, historyEvent:
		return m.event(msg)
	}
	return m, nil
}

// event updates the state. If something is to be said, the program ends for a moment.
func (m *model) event(e event) (tea.Model, tea.Cmd) {
	var effects, rest []effect
	m.state, effects = m.state.update(e)
	for _, e := range effects {
		if say, ok := e.(sayEffect); ok {
			m.said = append(m.said, say.line)
		} else {
			rest = append(rest, e)
		}
	}
	if m.state.over || len(m.said) > 0 && !m.state.inbox || m.ended && !m.state.busy {
		m.leave = true
		return m, tea.Quit
	}
	return m, m.commands(rest)
}

// commands turns effects into bubbletea's commands.
func (m *model) commands(effects []effect) tea.Cmd {
	var cmds []tea.Cmd
	for _, e := range effects {
		cmds = append(cmds, m.command(e))
	}
	return tea.Batch(cmds...)
}

func (m *model) command(e effect) tea.Cmd {
	switch e := e.(type) {
	case quitEffect:
		return tea.Quit
	case bellEffect:
		if m.cfg.NoBell {
			return nil
		}
		return tea.Raw("\a")
	case tickEffect:
		return tea.Tick(e.until.Sub(m.cfg.Clock()), func(time.Time) tea.Msg { return tickEvent{m.cfg.Clock()} })
	case clockEffect:
		return tea.Tick(e.until.Sub(m.cfg.Clock()), func(time.Time) tea.Msg { return clockEvent{m.cfg.Clock()} })
	case pagerEffect:
		return m.openPager(e)
	case editEffect:
		return m.openEditor(e)
	}
	return func() tea.Msg { return m.do(e) }
}

// View draws the state. The prompt never gets lower while it is open, and is wiped away
// afterwards: bubbletea loses its place when what it drew shrinks.
func (m *model) View() tea.View {
	if !m.leave {
		m.drawn = m.state.render()
	}
	rows := strings.Count(m.drawn, "\n") + 1
	m.tallest = max(m.tallest, rows)
	if m.state.inbox { // the whole screen is its own, so that a click tells which row it is in
		v := tea.NewView(m.drawn)
		v.AltScreen, v.MouseMode = true, tea.MouseModeCellMotion
		if !m.cfg.NoBell && !m.state.over {
			v.WindowTitle = inboxTitle(len(m.state.items))
		}
		return v
	}
	v := tea.NewView(m.drawn + strings.Repeat("\n", min(m.tallest, max(m.state.height, rows))-rows))
	if !m.cfg.NoBell && !m.state.over {
		v.WindowTitle = windowTitle(m.state.current().request)
	}
	return v
}

// windowTitle says what is asked, to somebody who looks elsewhere.
func windowTitle(r *approval.Request) string {
	return shorten("● assent asks: "+present.SafeLine(r.Call.Name()), 60)
}

// inboxTitle says how many requests wait, to somebody who looks elsewhere.
func inboxTitle(n int) string { return "● assent inbox: " + count(n, "request") + " waiting" }

// wipe takes the prompt off the screen, after bubbletea left the cursor in its last row. An inbox
// has a screen of its own, which is gone then.
func (m *model) wipe() {
	if m.state.inbox {
		return
	}
	up := ""
	if rows := min(m.tallest, m.state.height); rows > 1 {
		up = fmt.Sprintf("\x1b[%dA", rows-1)
	}
	io.WriteString(m.cfg.Out, up+"\r\x1b[J")
}

func (m *model) openPager(e pagerEffect) tea.Cmd {
	closed := func(err error) tea.Msg { return pagedEvent{e.request.ID, err, m.cfg.Clock()} }
	cmd, err := m.pager(e.request, e.view)
	if err != nil {
		return func() tea.Msg { return closed(err) }
	}
	return tea.Exec(borrower{cmd}, closed)
}

func (m *model) openEditor(e editEffect) tea.Cmd {
	draft, err := m.newDraft(e.request)
	if err != nil {
		return func() tea.Msg { return editedEvent{id: e.request.ID, err: err, at: m.cfg.Clock()} }
	}
	return tea.Exec(borrower{draft.command}, func(err error) tea.Msg { return m.readDraft(draft, err) })
}
