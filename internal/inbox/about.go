package inbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store/sessions"
	"github.com/assent-dev/assent/terminal"
)

// About implements [terminal.Inbox]. What cannot be found out is left out: the request says
// all that an answer needs.
func (in *Inbox) About(ctx context.Context, r *approval.Request) terminal.About {
	about := terminal.About{From: in.from(ctx, r) + ", since " + r.Created.Local().Format(time.TimeOnly)}
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, e := range in.waiting {
		if e.request == r {
			about.Problem = e.problem
		}
	}
	return about
}

// from says who asks.
func (in *Inbox) from(ctx context.Context, r *approval.Request) string {
	session := r.Call.Session
	all, err := in.store.Sessions(ctx)
	i := slices.IndexFunc(all, func(s sessions.Session) bool { return s.ID == session })
	if err != nil || i < 0 {
		return "session " + short(session)
	}
	switch s := all[i]; {
	case s.Kept:
		return in.putAside(ctx, session)
	case s.Kind == sessions.KindRun || s.Kind == sessions.KindChat:
		return fmt.Sprintf("a %s, process %d", s.Kind, s.Owner.ID)
	case s.Kind == sessions.KindHook:
		if s.Folder != "" {
			return "the hook of an agent in " + present.SafeLine(s.Folder) + ", session " + short(session)
		}
		return "the hook of an agent, session " + short(session)
	case s.Kind == sessions.KindGateway:
		return "the client of a gateway, session " + short(session)
	default:
		return fmt.Sprintf("a %s, session %s", s.Kind, short(session))
	}
}

// putAside names a run that takes its answers when it is resumed.
func (in *Inbox) putAside(ctx context.Context, session string) string {
	runs, err := in.store.Runs(ctx)
	i := slices.IndexFunc(runs, func(r sessions.SavedRun) bool { return r.Session == session })
	if err != nil || i < 0 {
		return "a run that defers its questions"
	}
	return fmt.Sprintf("run %s, put aside: 'assent resume %s' goes on with it", runs[i].ID, runs[i].ID)
}

// short is the beginning of an id, enough to tell it from others.
func short(id string) string {
	const enough = 8
	if runes := []rune(id); len(runes) > enough {
		return string(runes[:enough]) + "…"
	}
	return id
}
