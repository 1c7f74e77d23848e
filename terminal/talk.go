package terminal

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/assent-dev/assent/approval"
)

// talk asks with printed lines, and reads lines. Nothing that it prints is an escape.
func (w *work) talk() (end, error) {
	pending := w.desk.Pending()
	if len(pending) == 0 {
		return end{}, nil
	}
	columns := 80
	if n, _, err := term.GetSize(w.cfg.Out.Fd()); err == nil && n > 0 {
		columns = n
	}
	s, effects := newState(w.options(), columns, 0, pending, w.cfg.Clock())
	t := &talker{work: w, state: s, lines: w.typedLines(), events: make(chan event, 1)}
	return t.run(effects)
}

// A talker is the shell around a state for lines.
type talker struct {
	*work
	state  state
	lines  *lineReader
	events chan event

	shown  string            // the request whose box was printed last
	keyed  bool              // so were its keys
	asked  bool              // the sign that waits for a line was printed
	signed *approval.Request // that it was printed for
}

func (t *talker) run(effects []effect) (end, error) {
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	t.watch(ctx, func() { t.send(ctx, refreshEffect{}) })
	t.apply(ctx, effects)
	for !t.state.over && ctx.Err() == nil {
		t.print()
		t.lines.want(t.question())
		select {
		case l := <-t.lines.got:
			t.take(ctx, l)
		case e := <-t.events:
			t.event(ctx, e)
		case s := <-signals:
			if s != syscall.SIGINT || !Lent() {
				t.event(ctx, interruptEvent{s.String()})
			}
		case <-ctx.Done():
		}
	}
	if t.asked {
		fmt.Fprintln(t.cfg.Out)
	}
	if !t.state.over {
		for _, l := range t.lastWords(t.state) {
			t.say(l, t.state.width)
		}
	}
	return t.state.end, nil
}

func (t *talker) send(ctx context.Context, e event) {
	select {
	case t.events <- e:
	case <-ctx.Done():
	}
}

// event updates the state and carries out what it wants.
func (t *talker) event(ctx context.Context, e event) {
	if refresh, ok := e.(refreshEffect); ok {
		e = t.do(refresh)
	}
	var effects []effect
	t.state, effects = t.state.update(e)
	t.apply(ctx, effects)
}

func (t *talker) apply(ctx context.Context, effects []effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case sayEffect:
			t.newLine()
			t.say(e.line, t.state.width)
		case tickEffect:
			time.AfterFunc(e.until.Sub(t.cfg.Clock()), func() { t.send(ctx, tickEvent{t.cfg.Clock()}) })
		case pagerEffect:
			fmt.Fprint(t.cfg.Out, expandTabs(wholeText(e.request, e.view, noStyles)))
			t.event(ctx, pagedEvent{id: e.request.ID, at: t.cfg.Clock()})
		case editEffect:
			t.event(ctx, t.edit(e))
		case bellEffect, quitEffect, clockEffect:
		default:
			t.event(ctx, t.do(e))
		}
	}
}

func (t *talker) edit(e editEffect) event {
	d, err := t.newDraft(e.request)
	if err != nil {
		return editedEvent{id: e.request.ID, err: err, at: t.cfg.Clock()}
	}
	return t.readDraft(d, borrower{d.command}.Run())
}

// question is what a line answers now.
func (t *talker) question() *approval.Request { return t.state.current().request }

// take takes a typed line: text where text is wanted, otherwise the name of a key. A line
// that was begun for another question answers nothing.
func (t *talker) take(ctx context.Context, l typedLine) {
	t.asked = false
	now := t.cfg.Clock()
	switch question := t.lines.taken(); {
	case l.err != nil:
		t.event(ctx, interruptEvent{"end of input"})
		return
	case question != t.question():
		fmt.Fprintln(t.cfg.Out, "That line was typed for another request: nothing was answered.")
		return
	}
	typing, ok := t.state.dialog.(typist)
	_, multi := t.state.dialog.(respondDialog)
	switch {
	case now.Before(t.state.quietUntil):
		t.event(ctx, keyEvent{name: "early", at: now})
	case ok && typing.typing() && l.text == "esc":
		t.event(ctx, keyEvent{name: "esc", at: now})
	case multi && l.text == ".":
		t.event(ctx, keyEvent{name: "ctrl+d", at: now})
	case ok && typing.typing():
		t.event(ctx, pasteEvent{l.text})
		t.event(ctx, keyEvent{name: "enter", at: now})
	default:
		t.event(ctx, keyEvent{name: keyOfWord(l.text), at: now})
	}
}

// keyOfWord returns the key that a typed word stands for.
func keyOfWord(word string) string {
	word = strings.TrimSpace(word)
	switch strings.ToLower(word) {
	case "":
		return "enter"
	case "yes":
		return "y"
	case "no":
		return "n"
	case "back":
		return "esc"
	case "next":
		return "tab"
	case "up", "down", "esc", "tab":
		return strings.ToLower(word)
	}
	return word
}

// print shows the request when it is new, below it what can be answered, and when the time
// has come the sign that waits for a line.
func (t *talker) print() {
	s := t.state
	id := s.current().request.ID
	if s.listing {
		id = s.listed()
		if t.asked && id != t.shown {
			t.newLine() // more has come
		}
	}
	if s.busy || !s.listing && !s.current().loaded || t.asked {
		return
	}
	_, reading := s.dialog.(reader)
	if id != t.shown || reading {
		t.shown = id
		if reading {
			t.shown = ""
		}
		s.ready, t.keyed = true, true
		fmt.Fprintln(t.cfg.Out, noStyles.painted(s.frame()))
	}
	if !t.state.ready {
		return
	}
	if !t.keyed {
		fmt.Fprintln(t.cfg.Out, noStyles.painted(s.foot()))
	}
	if t.signed != t.question() { // what was typed before it could be read is no part of an answer
		t.signed = t.question()
		_ = flushInput(t.cfg.In) // a pipe has none to forget: there the quiet time counts
	}
	fmt.Fprint(t.cfg.Out, "answer> ")
	t.asked, t.keyed = true, false
}

func (t *talker) newLine() {
	if t.asked {
		fmt.Fprintln(t.cfg.Out)
		t.asked = false
	}
}

func expandTabs(s string) string { return strings.ReplaceAll(s, "\t", strings.Repeat(" ", tabWidth)) }
