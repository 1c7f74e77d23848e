package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
)

// An Item is a request in the list of what waits. Its texts are safe to show.
type Item struct {
	ID      string    `json:"id"`
	Tool    string    `json:"tool" doc:"the tool, with its connector before it if it has one"`
	Summary string    `json:"summary"`
	Why     string    `json:"why" doc:"why it asks"`
	Created time.Time `json:"created"`
	About
	Batch      string `json:"batch" doc:"requests of one turn of a model share it"`
	PersonOnly bool   `json:"person_only" doc:"nothing remembered and no mode may answer it"`
	Team       string `json:"team,omitempty" doc:"whom of a team it waits for: here it can only be denied"`
}

func itemOf(r *approval.Request, about About) Item {
	about.Agent, about.Project = present.SafeLine(about.Agent), present.SafeLine(about.Project)
	about.Branch, about.Session = present.SafeLine(about.Branch), present.SafeLine(about.Session)
	about.Problem = present.SafeLine(about.Problem)
	i := Item{
		ID: r.ID, Tool: present.SafeLine(r.Call.Name()), Summary: present.SafeLine(r.Summary), Why: present.SafeLine(r.Why),
		Created: r.Created, About: about, Batch: r.Batch, PersonOnly: r.PersonOnly,
	}
	if r.TeamDecides() {
		i.Team = present.SafeLine(r.Routing.Need.String())
	}
	return i
}

// An Ending says how a request ended.
type Ending struct {
	ID    string `json:"id"`
	State string `json:"state" doc:"approved, denied, dismissed, …"`
	By    string `json:"by" doc:"by whom or what"`
}

// A notice is an event of the stream.
type notice struct {
	seq  uint64
	name string // waiting or ended
	data []byte
}

// keptNotices is how many can be told again to who was away for a moment.
const keptNotices = 1000

// A feed knows what waits and tells who listens what has changed. It looks when the desk says so.
type feed struct {
	desk Desk
	name string // of this feed; the ids of another mean nothing here

	looking sync.Mutex // one look at a time: a later one knows more

	mu       sync.Mutex
	requests map[string]*approval.Request
	items    []Item
	seq      uint64
	notices  []notice
	changed  chan struct{} // closed with the next change
}

func newFeed(desk Desk) *feed {
	return &feed{desk: desk, name: rand.Text()[:8], requests: map[string]*approval.Request{}, changed: make(chan struct{})}
}

func (f *feed) run(ctx context.Context) {
	changed, stop := f.desk.Watch()
	defer stop()
	// Sessions of processes that were killed end without a change of the store.
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		f.look(ctx)
		select {
		case <-changed:
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// look finds out what has changed and tells it.
func (f *feed) look(ctx context.Context) {
	f.looking.Lock()
	defer f.looking.Unlock()
	pending := f.desk.Pending()
	f.mu.Lock()
	known := f.requests
	f.mu.Unlock()
	now := make(map[string]*approval.Request, len(pending))
	var fresh []Item
	for _, r := range pending {
		now[r.ID] = r
		if known[r.ID] != r {
			fresh = append(fresh, itemOf(r, f.desk.About(ctx, r)))
		}
	}
	var gone []string
	for id := range known {
		if now[id] == nil {
			gone = append(gone, id)
		}
	}
	if len(fresh) == 0 && len(gone) == 0 {
		return
	}
	endings := f.endings(gone)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = now
	f.items = slices.DeleteFunc(f.items, func(i Item) bool { return now[i.ID] == nil })
	for _, i := range fresh {
		if at := slices.IndexFunc(f.items, func(old Item) bool { return old.ID == i.ID }); at >= 0 {
			f.items[at] = i
		} else {
			f.items = append(f.items, i)
		}
		f.tell("waiting", i)
	}
	for _, e := range endings {
		f.tell("ended", e)
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// endings says how requests ended, as far as the desk knows.
func (f *feed) endings(ids []string) []Ending {
	outcomes := f.desk.Outcomes()
	var out []Ending
	for _, id := range ids {
		e := Ending{ID: id, State: "ended"}
		for _, o := range outcomes {
			if o.Request == id {
				e.State, e.By = string(o.State), endedBy(o)
			}
		}
		out = append(out, e)
	}
	return out
}

func endedBy(o approval.Outcome) string {
	switch {
	case o.Decision != nil:
		return present.SafeLine(o.Decision.By.String())
	case o.Basis != "":
		return present.SafeLine(o.Basis)
	}
	return present.SafeLine(o.Why)
}

// tell adds a notice. The lock is held.
func (f *feed) tell(name string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		return // only values that cannot fail
	}
	f.seq++
	f.notices = append(f.notices, notice{f.seq, name, text})
	f.notices = f.notices[max(len(f.notices)-keptNotices, 0):]
}

// list returns what waits, the oldest first, and the number of the last change.
func (f *feed) list() ([]Item, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.items), f.id(f.seq)
}

// request returns one that waits.
func (f *feed) request(id string) (*approval.Request, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.requests[id]
	return r, ok
}

func (f *feed) id(seq uint64) string { return fmt.Sprintf("%s-%d", f.name, seq) }

// after returns what was told after an id, and what is closed when there is more. An id that says nothing
// here, or too long ago, is not ok: then the list must be read anew.
func (f *feed) after(id string) (out []notice, more <-chan struct{}, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name, number, _ := strings.Cut(id, "-")
	seq, err := strconv.ParseUint(number, 10, 64)
	first := f.seq - uint64(len(f.notices)) // the last that is no longer kept
	if err != nil || name != f.name || seq < first || seq > f.seq {
		return nil, f.changed, false
	}
	return slices.Clone(f.notices[seq-first:]), f.changed, true
}

// beat is how often a silent stream says that it is alive, and glance how often it is looked whether its
// caller still may hear.
const (
	beat   = 15 * time.Second
	glance = 2 * time.Second
)

// stream sends what changes as server-sent events, from the id that the caller saw last.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	last := r.Header.Get("Last-Event-ID")
	send := func(text string) bool {
		if control.SetWriteDeadline(time.Now().Add(beat)) != nil {
			return false
		}
		_, err := w.Write([]byte(text))
		return err == nil && control.Flush() == nil
	}
	if !send(": assent\n\n") {
		return
	}
	ticker, looks := time.NewTicker(beat), time.NewTicker(glance)
	defer ticker.Stop()
	defer looks.Stop()
	for {
		if !s.still(r.Context()) {
			return
		}
		notices, more, ok := s.feed.after(last)
		if !ok {
			_, now := s.feed.list()
			last = now
			if !send("event: reset\nid: " + now + "\ndata: {}\n\n") {
				return
			}
			continue
		}
		for _, n := range notices {
			last = s.feed.id(n.seq)
			if !send("event: " + n.name + "\nid: " + last + "\ndata: " + string(n.data) + "\n\n") {
				return
			}
		}
		select {
		case <-more:
		case <-looks.C:
		case <-ticker.C:
			if !send(": alive\n\n") {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}
