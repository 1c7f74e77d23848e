package people

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/internal/web"
	"github.com/assent-dev/assent/policy"
)

// beat is how often a silent stream says that it is alive, glance how often it is looked whether who listens is still
// signed in, and calm the least time between two looks at what waits.
const (
	beat   = 15 * time.Second
	glance = 2 * time.Second
	calm   = 20 * time.Millisecond
)

// mostStreams is how many streams one person may have: a browser has one, and each looks at the list whenever it changes.
const mostStreams = 20

// listeners are how many streams each person has at this replica.
type listeners struct {
	mu  sync.Mutex
	has map[string]int
}

// enter counts a stream of a person; ok is false if they have the most already.
func (l *listeners) enter(person string) (leave func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.has[person] >= mostStreams {
		return nil, false
	}
	if l.has == nil {
		l.has = map[string]int{}
	}
	l.has[person]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.has[person]--; l.has[person] == 0 {
			delete(l.has, person)
		}
	}, true
}

// watched is how many requests a stream looks after. The list itself has pages.
const watched = 200

// stream sends what changes for who is signed in, as server-sent events. It begins with a reset: whoever listens reads
// the list anew, and misses nothing.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	leave, ok := s.listeners.enter(personOf(r.Context()).ID)
	if !ok {
		web.Refuse(w, http.StatusTooManyRequests,
			fmt.Sprintf("you have %d pages open, which is the limit; close one", mostStreams))
		return
	}
	defer leave()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	touched := &touchedSet{wake: make(chan struct{}, 1)}
	go s.cfg.DB.Watch(ctx, touched.add)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) bool {
		if control.SetWriteDeadline(time.Now().Add(beat)) != nil {
			return false
		}
		_, err := w.Write([]byte(text))
		return err == nil && control.Flush() == nil
	}
	v := &viewer{server: s, me: personOf(ctx), versions: map[string]int64{}}
	if _, err := v.look(ctx); err != nil || !send("event: reset\ndata: {}\n\n") {
		return
	}
	beats, glances := time.NewTicker(beat), time.NewTicker(glance)
	defer beats.Stop()
	defer glances.Stop()
	for {
		select {
		case <-touched.wake:
			ids := touched.take()
			told, err := v.look(ctx)
			if err != nil {
				return // who listens comes again
			}
			// Somebody may look at a request that does not wait for them.
			if len(ids) > 0 {
				told = append(told, event("touched", map[string][]string{"ids": ids}))
			}
			for _, text := range told {
				if !send(text) {
					return
				}
			}
			select { // what comes close together is looked at once
			case <-time.After(calm):
			case <-ctx.Done():
				return
			}
		case <-glances.C:
			if !s.cfg.Door.Still(ctx) {
				return
			}
		case <-beats.C:
			if !send(": alive\n\n") {
				return
			}
		case <-s.cfg.Stopping:
			return
		case <-ctx.Done():
			return
		}
	}
}

// A touchedSet has the requests that have changed since somebody took them.
type touchedSet struct {
	wake chan struct{}

	mu  sync.Mutex
	ids []string
}

func (t *touchedSet) add(c db.Changes) {
	if len(c.Requests) == 0 && !c.AnyRequest && !c.Bundle && !c.Outbox { // a new key comes with a notice
		return
	}
	t.mu.Lock()
	t.ids = append(t.ids, c.Requests...)
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *touchedSet) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	ids := t.ids
	t.ids = nil
	return ids
}

// A viewer is one who listens, with what they were told.
type viewer struct {
	server   *Server
	me       db.Person
	versions map[string]int64
	newKeys  string // their ids
}

// look returns what has changed, as events.
func (v *viewer) look(ctx context.Context) (told []string, err error) {
	items, _, err := v.server.open(ctx, v.me, db.Page{Limit: watched})
	if err != nil {
		return nil, err
	}
	open := map[string]bool{}
	for _, i := range items {
		open[i.ID] = true
		if v.versions[i.ID] != i.Version {
			v.versions[i.ID] = i.Version
			told = append(told, event("waiting", i))
		}
	}
	for id := range v.versions {
		if open[id] {
			continue
		}
		words, over, err := v.server.ended(ctx, id)
		if err != nil {
			return nil, err
		}
		if over {
			delete(v.versions, id)
			told = append(told, event("ended", map[string]string{"id": id, "words": words}))
		}
	}
	keys, err := v.server.newKeys(ctx, nil)
	if err != nil {
		return nil, err
	}
	ids := ""
	for _, k := range keys.Body.Keys {
		ids += k.ID + " "
	}
	if ids != v.newKeys {
		v.newKeys = ids
		told = append(told, event("keys", struct{}{}))
	}
	return told, nil
}

// ended says how a request ended; over is false if it waits on, for others.
func (s *Server) ended(ctx context.Context, id string) (words string, over bool, err error) {
	b, err := s.court.sits(ctx)
	if err != nil {
		return "", false, err
	}
	r, err := s.cfg.DB.Request(ctx, id)
	if errors.Is(err, db.ErrNotFound) {
		return "removed", true, nil
	}
	if err != nil || r.State == policy.StatePending {
		return "", false, err
	}
	votes, err := s.cfg.DB.Votes(ctx, id)
	return b.ending(&r, votes), true, err
}

func event(name string, data any) string {
	text, err := wire.Encode(data)
	if err != nil {
		panic(err) // only values that cannot fail
	}
	return "event: " + name + "\ndata: " + string(text) + "\n\n"
}
