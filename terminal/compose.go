package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/assent-dev/assent/present"
)

// ErrLeft says that the person wants to leave, at the line of a [Composer].
var ErrLeft = errors.New("the person left")

// A Composer reads messages at a terminal, one at a time, with the keys of a line editor. What was
// sent before comes back with the up and down keys; it is kept in this process only, because a
// message may hold what should not lie on a disk. It is for one goroutine.
type Composer struct {
	in      *os.File
	out     io.Writer
	prompt  string
	theme   theme
	history []string
}

// NewComposer returns a composer that shows a prompt before each message; nil if the files are no
// terminals that can be drawn on.
func NewComposer(in, out *os.File, prompt string, getenv func(string) string) *Composer {
	if !IsTerminal(in) || !canDraw(out, getenv) {
		return nil
	}
	cfg := Config{In: in, Out: out, Getenv: getenv}
	return &Composer{in: in, out: out, prompt: prompt, theme: cfg.theme()}
}

// Read returns the next message. At the end of input the error is [io.EOF]; after a Ctrl-C at an
// empty line and a second one, [ErrLeft].
func (c *Composer) Read(ctx context.Context) (string, error) {
	input := &watchedFile{File: c.in}
	m := &composing{Composer: c, at: len(c.history)}
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(input), tea.WithOutput(c.out), tea.WithoutSignalHandler())
	input.closed = func() { p.Send(interruptEvent{}) }
	_, err := p.Run()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
	case m.err != nil:
		return "", m.err
	}
	text := m.field.String()
	if text != "" && (len(c.history) == 0 || c.history[len(c.history)-1] != text) {
		c.history = append(c.history, text)
	}
	return text, nil
}

// composing is one message that is being typed.
type composing struct {
	*Composer
	field   field
	draft   field // the message that was being typed before the history was looked at
	at      int   // where in the history; its length is the draft
	width   int
	leaving bool // a Ctrl-C was pressed at an empty line
	done    bool
	err     error
}

// Init implements [tea.Model].
func (m *composing) Init() tea.Cmd { return nil }

// Update implements [tea.Model].
func (m *composing) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width = msg.Width
	case tea.PasteMsg:
		m.leaving, m.field = false, m.field.insert(strings.ReplaceAll(msg.Content, "\r", "\n"))
	case interruptEvent:
		return m.end(io.EOF)
	case tea.KeyPressMsg:
		return m.key(keyEvent{name: msg.String(), text: msg.Text})
	}
	return m, nil
}

func (m *composing) key(k keyEvent) (tea.Model, tea.Cmd) {
	leaving := m.leaving
	m.leaving = false
	switch empty := len(m.field.runes) == 0; {
	case leaving && (k.name == "ctrl+c" || k.name == "y" || k.name == "Y"):
		return m.end(ErrLeft)
	case k.name == "ctrl+c" && empty:
		m.leaving = true
	case k.name == "ctrl+c":
		m.field, m.at = field{}, len(m.history)
	case k.name == "ctrl+d" && empty:
		return m.end(io.EOF)
	case k.name == "ctrl+d":
		m.field = m.field.key(keyEvent{name: "delete"})
	case k.name == "enter" || k.name == "ctrl+j":
		return m.end(nil)
	case k.name == "alt+enter" || k.name == "shift+enter":
		m.field = m.field.insert("\n")
	case k.name == "up" || k.name == "ctrl+p":
		m.recall(m.at - 1)
	case k.name == "down" || k.name == "ctrl+n":
		m.recall(m.at + 1)
	default:
		m.field = m.field.key(k)
	}
	return m, nil
}

// recall shows a message of the history, or what was being typed.
func (m *composing) recall(i int) {
	if i < 0 || i > len(m.history) {
		return
	}
	if m.at == len(m.history) {
		m.draft = m.field
	}
	m.at, m.field = i, m.draft
	if i < len(m.history) {
		m.field = field{}.insert(m.history[i])
	}
}

func (m *composing) end(err error) (tea.Model, tea.Cmd) {
	m.err, m.done = err, true
	return m, tea.Quit
}

// View implements [tea.Model]. What was sent stays on the screen as it was typed.
func (m *composing) View() tea.View {
	n := m.width - 1
	if n <= 0 {
		n = 79
	}
	var rows []line
	for i, part := range strings.Split(m.field.String(), "\n") {
		before := strings.Repeat(" ", width(m.prompt))
		if i == 0 {
			before = m.prompt
		}
		rows = append(rows, line{{before, strong}, {present.SafeLine(part), plain}})
	}
	if !m.done {
		rows = m.withCursor(rows)
	}
	rows = wrapAll(rows, n, text(strings.Repeat(" ", width(m.prompt))))
	if m.leaving && !m.done {
		rows = append(rows, styled(warn, shorten("Leave the chat? Press Ctrl-C again or y; any other key stays.", n)))
	}
	if m.done {
		rows = append(rows, nil) // the next output begins on a line of its own
	}
	return tea.NewView(m.theme.painted(rows))
}

// withCursor marks where the next character goes.
func (m *composing) withCursor(rows []line) []line {
	before := string(m.field.runes[:m.field.at])
	i := strings.Count(before, "\n")
	in := []rune(before[strings.LastIndexByte(before, '\n')+1:])
	all := []rune(strings.Split(m.field.String(), "\n")[i])
	under, after := " ", ""
	if len(in) < len(all) {
		under, after = string(all[len(in)]), string(all[len(in)+1:])
	}
	cursor := seg{present.SafeLine(under), caret}
	if m.theme == noStyles {
		cursor.text = "_"
	}
	rows = slices.Clone(rows)
	rows[i] = line{rows[i][0], {present.SafeLine(string(in)), plain}, cursor, {present.SafeLine(after), plain}}
	return rows
}
