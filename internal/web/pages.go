package web

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

//go:embed pages/*.html
var pageFiles embed.FS

// templates are the parts that the server renders. html/template escapes by context, and no value of a
// type that turns that off is handed to it but the data of images. Every start of the program would pay for parsing them.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"when": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"safe": present.SafeLine,
		"part": url.PathEscape,
		"join": func(lines []string) string { return strings.Join(lines, "\n") },
	}).ParseFS(pageFiles, "pages/*.html"))
})

// Templates returns the templates with those of other pages, which can use "view", "offers" and "buttons". They are parsed
// when they are first needed.
func Templates(more fs.FS, patterns ...string) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		return template.Must(template.Must(templates().Clone()).ParseFS(more, patterns...))
	})
}

// page renders the part of the page that its address names.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	if !callerOf(r.Context()).person() { // a token has the API
		Refuse(w, http.StatusForbidden, "pages are for browsers")
		return
	}
	name, rest, _ := strings.Cut(r.PathValue("name"), "/")
	make, ok := map[string]func(context.Context, *http.Request, string) (any, error){
		"request": s.requestPage, "audit": s.auditPage, "record": s.recordPage, "rules": s.rulesPage,
		"status": s.statusPage, "explain": s.explainPage,
	}[name]
	if !ok {
		Refuse(w, http.StatusNotFound, "there is no such page")
		return
	}
	data, err := make(r.Context(), r, rest)
	if err != nil {
		refuseWith(w, err)
		return
	}
	var out bytes.Buffer
	if err := templates().ExecuteTemplate(&out, name+".html", data); err != nil {
		Refuse(w, http.StatusInternalServerError, "the page cannot be made: "+err.Error())
		return
	}
	if p, ok := data.(*requestPage); ok {
		w.Header().Set("ETag", p.ETag)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes())
}

// refuseWith answers with an error of the API, or any other.
func refuseWith(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	var known huma.StatusError
	if errors.As(err, &known) {
		status = known.GetStatus()
	}
	Refuse(w, status, err.Error())
}

// A requestPage is a request with what can be answered.
type requestPage struct {
	*Detail
	ETag string
	Page ViewPage
	// Allow and Deny are the ways to remember a yes and a no.
	Allow, Deny []OfferPage
	Chain       []string // the workers that asked, the first caller first
	Held        []string // what the sandbox holds the call to
	Trace       []string
	// EditText is what is edited as text: the argument that the request names, or all of them as JSON.
	EditText string
	Near     []Item // the requests of the same turn that wait, this one too
	Where    string // the project that a rule would be for
}

// An OfferPage is a way to remember an answer.
type OfferPage struct {
	Words, Reach string
	Rules, Warn  []string
}

func (s *Server) requestPage(ctx context.Context, r *http.Request, id string) (any, error) {
	d, tag, err := s.detail(ctx, id)
	if err != nil {
		return nil, err
	}
	request, err := s.find(id)
	if err != nil {
		return nil, err
	}
	view, err := request.View(ctx)
	if err != nil {
		return nil, err
	}
	p := &requestPage{Detail: d, ETag: tag, Page: LayOut(view, r.URL.Query().Has("whole")), Chain: request.Call.Workers, Held: request.Held(),
		EditText: editText(request), Where: present.SafeLine(request.Call.Project)}
	p.Allow, p.Deny = Offered(request)
	p.Trace = Trace(request)
	items, _ := s.feed.list()
	for _, i := range items {
		if i.Batch == request.Batch {
			p.Near = append(p.Near, i)
		}
	}
	return p, nil
}

// Offered are the ways to remember a yes and a no.
func Offered(r *approval.Request) (allow, deny []OfferPage) {
	for _, o := range r.Offers {
		words := reachWords(r, o)
		if len(o.Allow) > 0 {
			allow = append(allow, OfferPage{words, string(o.Reach), o.Allow, o.Warn})
		}
		if len(o.Deny) > 0 {
			deny = append(deny, OfferPage{words, string(o.Reach), o.Deny, nil})
		}
	}
	return allow, deny
}

// Trace is why a request asks, in lines.
func Trace(r *approval.Request) (lines []string) {
	for _, step := range strings.Split(strings.TrimSpace(r.Trace.String()), "\n") {
		lines = append(lines, present.SafeLine(step))
	}
	return lines
}

// editText is what the person edits.
func editText(r *approval.Request) string {
	if text, ok := argumentText(r); ok {
		return text
	}
	return indented(r.Call.Arguments)
}

// reachWords say how far an offer goes; its rules say it exactly.
func reachWords(r *approval.Request, o policy.Offer) string {
	switch o.Reach {
	case policy.ReachExact:
		return "exactly this"
	case policy.ReachTool:
		return "this tool"
	case policy.ReachDomain:
		return "all hosts of this domain, on this port"
	case policy.ReachProject:
		return "run this project's own code (tests, builds, scripts)"
	}
	words := map[policy.Kind]string{policy.KindPath: "this folder", policy.KindWords: "this command prefix", policy.KindURL: "this host"}
	var out []string
	for _, i := range o.Acts {
		if w := words[r.Acts[i].Target.Kind]; w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return strings.Join(out, " and ")
}

// An auditPage is a part of the log.
type auditPage struct {
	Records                []RecordDetail
	Text, Outcome, Session string
	Outcomes               []string
	Next                   int64
	Days                   *daysPlot
	Asks                   []asksBar
}

const auditRows = 50

func (s *Server) auditPage(ctx context.Context, r *http.Request, _ string) (any, error) {
	if s.cfg.Records == nil {
		return nil, huma.Error404NotFound("there is no log here")
	}
	q := r.URL.Query()
	before, _ := strconv.ParseInt(q.Get("before"), 10, 64) // the newest, if it is no number
	p := &auditPage{Text: q.Get("text"), Outcome: q.Get("outcome"), Session: q.Get("session"),
		Outcomes: []string{"approved", "denied", "auto-approved", "auto-denied", "session-approved", "blocked", "free", "dismissed", "failed"}}
	all, err := s.cfg.Records.Search(ctx, Search{p.Text, p.Outcome, p.Session, before, auditRows})
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	for i := range all {
		p.Records = append(p.Records, recordDetail(&all[i]))
	}
	if len(all) == auditRows {
		p.Next = all[len(all)-1].Seq
	}
	if before == 0 && p.Text == "" && p.Outcome == "" && p.Session == "" {
		days, err := s.cfg.Records.Days(ctx)
		if err != nil {
			return nil, err
		}
		p.Days = plotDays(days)
		if s.cfg.Rules != nil {
			suggested, err := s.cfg.Rules.Suggest(ctx)
			if err != nil {
				return nil, err
			}
			p.Asks = plotAsks(suggested)
		}
	}
	return p, nil
}

func (s *Server) recordPage(ctx context.Context, _ *http.Request, id string) (any, error) {
	seq, err := strconv.ParseInt(id, 10, 64)
	if err != nil || s.cfg.Records == nil {
		return nil, huma.Error404NotFound("there is no such record")
	}
	text, err := s.cfg.Records.Story(ctx, seq)
	if err != nil {
		return nil, huma.Error404NotFound(err.Error())
	}
	return struct {
		Seq  int64
		Text string
	}{seq, present.Safe(text)}, nil
}

// A rulesPage is what is remembered.
type rulesPage struct {
	Rules  []policy.Rule
	Grants []policy.Grant
	New    string // a rule to begin with, such as one that the audit page suggests
}

func (s *Server) rulesPage(ctx context.Context, r *http.Request, _ string) (any, error) {
	if s.cfg.Rules == nil {
		return nil, huma.Error404NotFound("there are no rules here")
	}
	rules, err := s.cfg.Rules.Rules(ctx)
	if err != nil {
		return nil, err
	}
	grants, err := s.cfg.Rules.Grants(ctx)
	return &rulesPage{rules, grants, r.URL.Query().Get("rule")}, err
}

func (s *Server) statusPage(ctx context.Context, _ *http.Request, _ string) (any, error) {
	if s.cfg.Status == nil {
		return nil, huma.Error404NotFound("there is no status here")
	}
	text, err := s.cfg.Status(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := s.listKeys(ctx, nil)
	if err != nil {
		return nil, err
	}
	tokens, err := s.cfg.Book.Tokens(ctx)
	return struct {
		Text   string
		Keys   []KeyDetail
		Tokens map[string]proof.Token
	}{present.Safe(text), keys.Body.Keys, tokens}, err
}

func (s *Server) explainPage(context.Context, *http.Request, string) (any, error) {
	if s.cfg.Explain == nil {
		return nil, huma.Error404NotFound("nothing is explained here")
	}
	return struct{ Doors []string }{s.cfg.Doors}, nil
}
