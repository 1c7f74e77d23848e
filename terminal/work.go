package terminal

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
)

// work carries out the effects of one prompt. It is shared by both shells.
type work struct {
	*Approver
	ctx   context.Context
	desk  Questions
	inbox Inbox // the desk, if it is one
	gate  Coverer

	look  sync.Mutex // held while the desk is looked at
	looks int
}

func (a *Approver) newWork(ctx context.Context, d Questions) *work {
	a.mu.Lock()
	defer a.mu.Unlock()
	w := &work{Approver: a, ctx: ctx, desk: d, gate: a.covers}
	w.inbox, _ = d.(Inbox)
	return w
}

// options are those of the core.
func (w *work) options() options {
	return options{
		theme: w.cfg.theme(), limit: w.cfg.Limit, quiet: w.cfg.Quiet, maxQuiet: w.cfg.MaxQuiet,
		who: w.cfg.Who, footer: w.cfg.Footer, wide: w.cfg.Wide, covers: w.gate != nil, inbox: w.inbox != nil,
		grants: w.cfg.Grants != nil, lines: !w.cfg.drawn(),
	}
}

// do carries out an effect that needs no terminal, and returns what came of it; nil for an
// effect that is not one of these. A panic on the way ends the prompt without an answer.
func (w *work) do(e effect) (came event) {
	defer func() {
		if p := recover(); p != nil {
			came = interruptEvent{fmt.Sprintf("it panicked: %v", p)}
		}
	}()
	switch e := e.(type) {
	case loadEffect:
		return w.load(e.request)
	case resolveEffect:
		err := w.desk.Resolve(w.ctx, e.decisions...)
		return w.settled(e.decisions, err)
	case refreshEffect:
		return w.settled(nil, nil)
	case coversEffect:
		return coversEvent{e.turn, requestNames(w.gate.Covers(w.ctx, e.request, e.decision))}
	case grantsEffect:
		return w.listGrants(e.session)
	case revokeEffect:
		for _, id := range e.ids {
			if err := w.cfg.Grants.RevokeGrant(e.session, id); err != nil {
				return grantsEvent{err: err}
			}
		}
		return w.listGrants(e.session)
	case historyEffect:
		return w.listHistory(e.session)
	}
	return nil
}

func (w *work) load(r *approval.Request) loadedEvent {
	e := loadedEvent{id: r.ID}
	if w.inbox != nil {
		e.about = w.inbox.About(w.ctx, r)
	}
	e.view, e.err = viewOf(w.ctx, r)
	e.at = w.cfg.Clock()
	return e
}

// viewOf builds the view. A panic in a tool is a view that cannot be shown.
func viewOf(ctx context.Context, r *approval.Request) (view present.View, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("building the view panicked: %v", p)
		}
	}()
	return r.View(ctx)
}

// settled looks at the desk. Looks are counted: what they found may be told in another
// order.
func (w *work) settled(answered []approval.Decision, err error) settledEvent {
	w.look.Lock()
	defer w.look.Unlock()
	w.looks++
	return settledEvent{
		look: w.looks, answered: answered, err: err, at: w.cfg.Clock(),
		pending: w.desk.Pending(), outcomes: w.desk.Outcomes(),
	}
}

func (w *work) listGrants(session string) grantsEvent {
	set, err := w.cfg.Grants.Grants(w.ctx, session)
	return grantsEvent{set.Grants(), err}
}

func (w *work) listHistory(session string) historyEvent {
	if w.cfg.History == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		return historyEvent{lines: append([]string(nil), w.history...)}
	}
	events, err := w.cfg.History(w.ctx, session)
	var lines []string
	for _, e := range events {
		lines = append(lines, eventText(e))
	}
	return historyEvent{lines, err}
}

func eventText(e approval.Event) string {
	out := fmt.Sprintf("%s %s: %s", e.At.Format("15:04:05"), e.State, strings.Join(e.Acts, ", "))
	if e.Basis != "" {
		out += " by " + e.Basis
	}
	if e.Note != "" {
		out += " — " + e.Note
	}
	return out
}

func requestNames(requests []*approval.Request) []string {
	var out []string
	for _, r := range requests {
		out = append(out, r.Call.Name()+" · "+r.Summary)
	}
	return out
}

// say prints a line that stays on the screen.
func (w *work) say(l line, columns int) {
	w.remember(l)
	if columns <= 0 {
		columns = 80
	}
	rows := wrap(l, columns, text("  "))
	fmt.Fprintln(w.cfg.Out, w.cfg.theme().painted(rows))
}

// watch calls changed whenever a request that was pending at the start needs no answer any
// more, until ctx is done; for an inbox, whenever something may have changed, and at first.
func (w *work) watch(ctx context.Context, changed func()) {
	if w.inbox != nil {
		go w.watchInbox(ctx, changed)
		return
	}
	for _, r := range w.desk.Pending() {
		go func() {
			select {
			case <-r.Done():
				changed()
			case <-ctx.Done():
			}
		}()
	}
}

func (w *work) watchInbox(ctx context.Context, changed func()) {
	changes, stop := w.inbox.Watch()
	defer stop()
	for {
		changed()
		select {
		case <-changes:
		case <-ctx.Done():
			return
		}
	}
}
