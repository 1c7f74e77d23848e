package people

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/web"
	"github.com/assent-dev/assent/present"
)

//go:embed pages/*.html
var pageFiles embed.FS

var templates = web.Templates(pageFiles, "pages/*.html")

// page renders the part of the page that its address names.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	name, rest, _ := strings.Cut(r.PathValue("name"), "/")
	make, ok := map[string]func(context.Context, *http.Request, string) (any, error){
		"request": s.requestPage, "votes": s.requestPage, "history": s.historyPage, "people": s.peoplePage, "keys": s.keysPage,
		"new-keys": s.newKeysPage,
	}[name]
	if !ok {
		web.Refuse(w, http.StatusNotFound, "there is no such page")
		return
	}
	data, err := make(r.Context(), r, rest)
	if err != nil {
		status := http.StatusServiceUnavailable
		var known huma.StatusError
		if errors.As(err, &known) {
			status = known.GetStatus()
		}
		web.Refuse(w, status, err.Error())
		return
	}
	var out bytes.Buffer
	if err := templates().ExecuteTemplate(&out, "team-"+name, data); err != nil {
		s.cfg.Log.Error("page", "name", name, "error", err)
		web.Refuse(w, http.StatusInternalServerError, "the page could not be made; the server's log says why")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes())
}

// A requestPage is a request with what can be answered.
type requestPage struct {
	*Detail
	Page                web.ViewPage
	Allow               []web.OfferPage
	Chain, Held, Trace  []string
	NoSession, NoAlways bool
	NoKey               bool
	Where, Source       string
}

func (s *Server) requestPage(ctx context.Context, r *http.Request, id string) (any, error) {
	d, b, err := s.detail(ctx, id)
	if err != nil {
		return nil, err
	}
	row := d.request
	view, err := row.Request.View(ctx)
	if err != nil {
		return nil, err
	}
	usable, err := s.usable(ctx, b, personOf(ctx).ID)
	if err != nil {
		return nil, s.fail(err)
	}
	p := &requestPage{Detail: d, Page: web.LayOut(view, r.URL.Query().Has("whole")), Chain: row.Call.Workers, Held: row.Held(), Trace: web.Trace(row.Request),
		NoSession: row.NoSession, NoAlways: row.NoAlways, NoKey: len(usable) == 0, Where: present.SafeLine(row.Call.Project),
		Source: present.SafeLine(row.Routing.Need.Source)}
	// What is reserved for those who decide is asked each time: a memory of it would let nothing run.
	if row.Routing.Need.Here {
		p.Allow, _ = web.Offered(row.Request)
	}
	return p, nil
}

func (s *Server) historyPage(ctx context.Context, r *http.Request, _ string) (any, error) {
	const rows = 50
	out, err := s.history(ctx, &listInput{After: r.URL.Query().Get("before"), Limit: rows})
	if err != nil {
		return nil, err
	}
	return out.Body, nil
}

// A peoplePage is what the signed policy says about people and machines.
type peoplePage struct {
	Serial   int64
	Issued   time.Time
	Editors  string
	Deciders []deciderRow
	People   []personRow
	Machines []machineRow
	Policy   string
}

type (
	deciderRow struct {
		Acts        []string
		Need, Proof string
	}
	personRow struct {
		Name, Groups string
		Keys         int
	}
	machineRow struct{ Host, Sponsor string }
)

func (s *Server) peoplePage(ctx context.Context, _ *http.Request, _ string) (any, error) {
	b, err := s.court.sits(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	p := &peoplePage{Serial: b.Serial, Issued: b.Issued, Editors: b.names(b.Editors), Policy: present.Safe(b.Policy)}
	for _, d := range b.Deciders {
		row := deciderRow{Need: decides(d), Proof: string(d.Proof)}
		for _, a := range d.Acts {
			row.Acts = append(row.Acts, present.SafeLine(a))
		}
		p.Deciders = append(p.Deciders, row)
	}
	for _, who := range b.People {
		groups := slices.Clip(who.Groups)
		for _, m := range who.Memberships {
			groups = append(groups, m.String())
		}
		p.People = append(p.People, personRow{present.SafeLine(who.Name),
			present.SafeLine(strings.Join(groups, ", ")), len(b.passkeys(who.ID))})
	}
	for _, m := range b.Machines {
		p.Machines = append(p.Machines, machineRow{b.host(m.ID), b.name(m.Sponsor)})
	}
	return p, nil
}

// decides says who decides, in words.
func decides(d bundle.Decider) string {
	var who []string
	for _, f := range d.Need {
		if f.Count == 1 {
			who = append(who, "one of "+f.From)
		} else {
			who = append(who, strconv.Itoa(f.Count)+" of "+f.From)
		}
	}
	text := strings.Join(who, " and ")
	if len(d.Not) > 0 {
		text += ", not " + strings.Join(d.Not, " or ")
	}
	for _, e := range d.Escalate {
		text += ", after " + e.After.String() + " also " + e.To
	}
	return present.SafeLine(text)
}

// A keysPage shows the keys with which somebody answers.
type keysPage struct {
	Name, Wait, Suggest string
	Keys                []keyRow
	Counts              bool // one of them counts
	Others              []db.Person
}

type keyRow struct {
	ID, Name, State string
	Created         time.Time
	Revoked         bool
}
