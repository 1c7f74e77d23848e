package web

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

//go:embed static
var static embed.FS

// Files are the style, the icon and the scripts.
func Files() fs.FS {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // it is embedded
	}
	return files
}

// base is where the API is.
const base = "/api/v1"

// handler joins pages, files and the API. GET changes nothing anywhere.
func (s *Server) handler() http.Handler {
	calls := http.NewServeMux()
	api := humago.New(calls, apiConfig())
	s.describe(api)
	calls.HandleFunc("GET "+base+"/events", needs(proof.RightRead, s.stream))
	if s.cfg.Records != nil {
		calls.HandleFunc("GET "+base+"/audit/export", needs(proof.RightRead, s.export))
	}
	calls.HandleFunc("GET /page/{name...}", s.page)

	files := Files()
	all := http.NewServeMux()
	all.Handle("/static/", http.StripPrefix("/static/", Packed(http.FileServerFS(files))))
	all.HandleFunc("POST "+base+"/keys", s.letIn)
	all.Handle(base+"/", s.identify(calls))
	all.Handle("/page/", s.identify(calls))
	all.HandleFunc("/", shell(files))
	return s.guard(all)
}

// Packed compresses what a file server answers, if the browser takes it.
func Packed(files http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept-Encoding")
		if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") || r.Header.Get("Range") != "" {
			files.ServeHTTP(w, r)
			return
		}
		packed := &packedWriter{ResponseWriter: w}
		files.ServeHTTP(packed, r)
		if packed.zip != nil {
			_ = packed.zip.Close()
		}
	})
}

// A packedWriter compresses the body of an answer that has one.
type packedWriter struct {
	http.ResponseWriter
	zip *gzip.Writer
}

func (p *packedWriter) WriteHeader(status int) {
	if status == http.StatusOK {
		p.Header().Del("Content-Length")
		p.Header().Set("Content-Encoding", "gzip")
		p.zip = gzip.NewWriter(p.ResponseWriter)
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *packedWriter) Write(data []byte) (int, error) {
	if p.zip == nil {
		return p.ResponseWriter.Write(data)
	}
	return p.zip.Write(data)
}

// shell answers every other address with the page, which knows from it what to show.
func shell(files fs.FS) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			Refuse(w, http.StatusMethodNotAllowed, "pages are only read")
			return
		}
		if strings.Contains(r.URL.Path, "//") || strings.HasPrefix(r.URL.Path, "/api") {
			Refuse(w, http.StatusNotFound, "nothing is at this address")
			return
		}
		http.ServeFileFS(w, r, files, "page.html")
	}
}

// needs lets in who has a right.
func needs(right proof.Right, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !callerOf(r.Context()).may(right) {
			Refuse(w, http.StatusForbidden, fmt.Sprintf("this token has no right to %s", right))
			return
		}
		next(w, r)
	}
}

func apiConfig() huma.Config {
	c := huma.DefaultConfig("assent", "1")
	c.Info.Description = "Questions that wait for a person, their answers, and the record of both. On loopback; a browser " +
		"signs each call with its key, programs send a token that can read and deny. No token can approve."
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = base+"/openapi", "", ""
	c.CreateHooks = nil // no $schema links in answers
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "made with 'assent api token'; it can read, or deny"},
	}
	c.Security = []map[string][]string{{"token": {}}}
	return c
}

// describe adds the operations.
func (s *Server) describe(api huma.API) {
	read := func(id, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: http.MethodGet, Path: base + path, Summary: summary, Tags: []string{"read"}}
	}
	person := func(id, method, path, summary string) huma.Operation {
		return huma.Operation{OperationID: id, Method: method, Path: base + path, Summary: summary, Tags: []string{"person"},
			Description: "Only for a person's browser, which signs the call."}
	}
	huma.Register(api, read("list-requests", "/requests", "List what waits for an answer"), s.listRequests)
	huma.Register(api, read("get-request", "/requests/{id}", "Get a request with its view"), s.getRequest)
	huma.Register(api, huma.Operation{
		OperationID: "answer-request", Method: http.MethodPost, Path: base + "/requests/{id}/answer", Summary: "Answer a request",
		Description: "A person's browser sends a proof: its signature over the statement of all that the answer does. A token with " +
			"the right to deny can deny, once. A repeated call with the same Idempotency-Key has no further effect.",
		Tags: []string{"answer"}, Errors: []int{401, 403, 404, 409, 412, 422}, SkipValidateBody: false,
	}, s.answer)
	huma.Register(api, person("take-back", http.MethodPost, "/requests/{id}/take-back", "Take back an answer that nobody has used"), s.takeBack)
	huma.Register(api, person("covers", http.MethodPost, "/requests/{id}/covers", "List what else a remembered answer would settle"), s.covers)
	huma.Register(api, person("list-keys", http.MethodGet, "/keys", "List the browsers that can answer"), s.listKeys)
	huma.Register(api, person("revoke-key", http.MethodDelete, "/keys/{id}", "Stop a browser from answering"), s.revokeKey)
	s.describeRules(api, read, person)
	s.describeRecords(api, read)
	s.describeStatus(api, read)
}

// fail turns an error into the status that fits it.
func fail(err error) error {
	var settled *approval.SettledError
	switch {
	case errors.As(err, &settled):
		return huma.Error409Conflict(present.SafeLine(fmt.Sprintf("it was %s by %s before", settled.State, settled.By)))
	case errors.Is(err, approval.ErrUnknownRequest):
		return huma.Error404NotFound("no such request; it may have been asked again under another id")
	case errors.Is(err, approval.ErrWrongCall):
		return huma.Error412PreconditionFailed("the request is no longer what was shown; look at it again")
	case errors.Is(err, approval.ErrUnproven), errors.Is(err, proof.ErrBadSignature), errors.Is(err, proof.ErrUnknownKey):
		return huma.Error403Forbidden(err.Error())
	case errors.Is(err, approval.ErrNotOffered), errors.Is(err, approval.ErrPersonOnly),
		errors.Is(err, approval.ErrTeamDecides), errors.Is(err, approval.ErrInvalidDecision):
		return huma.Error422UnprocessableEntity(present.SafeLine(err.Error()))
	case err != nil:
		return huma.Error500InternalServerError("it failed, and whether it had an effect is not known", err)
	}
	return nil
}

// allowed reports why the caller may not do what a right is for.
func allowed(ctx context.Context, right proof.Right) error {
	if !callerOf(ctx).may(right) {
		return huma.Error403Forbidden(fmt.Sprintf("this token has no right to %s", right))
	}
	return nil
}

// byPerson reports why a caller is refused where only a person's browser may call.
func byPerson(ctx context.Context) error {
	if !callerOf(ctx).person() {
		return huma.Error403Forbidden("only a person can do this, in a browser that was let in; no token can")
	}
	return nil
}

type listInput struct {
	After string `query:"after" doc:"the id of the last request of the page before"`
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

type listOutput struct {
	ETag string `header:"ETag"`
	Body struct {
		Requests []Item `json:"requests" nullable:"false"`
		Total    int    `json:"total"`
		Next     string `json:"next,omitempty" doc:"send it as after for the next page"`
		Event    string `json:"event" doc:"send it as Last-Event-ID to hear of what comes after this list"`
	}
}

func (s *Server) listRequests(ctx context.Context, in *listInput) (*listOutput, error) {
	if err := allowed(ctx, proof.RightRead); err != nil {
		return nil, err
	}
	if err := s.cfg.Desk.Err(); err != nil {
		return nil, huma.Error503ServiceUnavailable("the store cannot be read", err)
	}
	s.feed.look(ctx) // a list is never older than what its caller knows
	items, event := s.feed.list()
	out := &listOutput{ETag: `"` + event + `"`}
	out.Body.Total, out.Body.Event, out.Body.Requests = len(items), event, []Item{}
	from := 0
	if in.After != "" {
		from = slices.IndexFunc(items, func(i Item) bool { return i.ID == in.After }) + 1
	}
	page := items[from:min(from+in.Limit, len(items))]
	out.Body.Requests = append(out.Body.Requests, page...)
	if from+len(page) < len(items) && len(page) > 0 {
		out.Body.Next = page[len(page)-1].ID
	}
	return out, nil
}

// A Detail is a request with all that an answer needs.
type Detail struct {
	Item
	Fingerprint string            `json:"fingerprint" doc:"what an answer is bound to"`
	ViewDigest  string            `json:"view_digest"`
	View        any               `json:"view" doc:"what is shown, as the tool made it: make control characters visible before you print it"`
	Acts        []ActDetail       `json:"acts" nullable:"false"`
	Offers      []policy.Offer    `json:"offers,omitempty" doc:"how far an answer can be remembered, with the rules that say so"`
	Choices     []approval.Choice `json:"choices,omitempty"`
	NoSession   bool              `json:"no_session,omitempty"`
	NoAlways    bool              `json:"no_always,omitempty"`
	YesOrNo     bool              `json:"yes_or_no,omitempty" doc:"it can neither be changed nor answered in its place"`
	Arguments   json.RawMessage   `json:"arguments,omitempty"`
	Edit        string            `json:"edit,omitempty" doc:"the argument that is edited as text"`
}

// An ActDetail is one thing that the call would do.
type ActDetail struct {
	Act        string `json:"act"`
	Why        string `json:"why,omitempty"`
	Asks       bool   `json:"asks" doc:"it needs an answer"`
	PersonOnly bool   `json:"person_only,omitempty"`
}

func (s *Server) find(id string) (*approval.Request, error) {
	r, ok := s.feed.request(id)
	if ok {
		return r, nil
	}
	p, err := s.cfg.Desk.Posted(context.Background(), id)
	switch {
	case err != nil:
		return nil, fail(err)
	case p.Settled != nil:
		return nil, fail(&approval.SettledError{Request: id, Settlement: *p.Settled})
	}
	return p.Request, nil
}

func (s *Server) detail(ctx context.Context, id string) (*Detail, string, error) {
	r, err := s.find(id)
	if err != nil {
		return nil, "", err
	}
	view, err := r.View(ctx)
	if err != nil {
		return nil, "", huma.Error422UnprocessableEntity("this request cannot be shown, so it cannot be approved", err)
	}
	digest, err := r.ViewDigest(ctx)
	if err != nil {
		return nil, "", err
	}
	d := &Detail{
		Item: itemOf(r, s.cfg.Desk.About(ctx, r)), Fingerprint: r.Fingerprint.String(), ViewDigest: digest.String(), View: view,
		Offers: r.Offers, Choices: r.Choices, NoSession: r.NoSession, NoAlways: r.NoAlways, YesOrNo: r.YesOrNo,
		Arguments: r.Call.Arguments, Edit: r.Edit.Argument, Acts: []ActDetail{},
	}
	for i, a := range r.Acts {
		d.Acts = append(d.Acts, ActDetail{a.String(), a.Why, slices.Contains(r.Open, i), a.PersonOnly})
	}
	return d, etag(r, d.Problem), nil
}

// etag names what is shown of a request: an answer to something else is not taken.
func etag(r *approval.Request, problem string) string {
	sum := sha256.Sum256([]byte(r.ID + r.Fingerprint.String() + "\x00" + problem))
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

type idInput struct {
	ID string `path:"id" maxLength:"200"`
}

type detailOutput struct {
	ETag string `header:"ETag"`
	Body *Detail
}

func (s *Server) getRequest(ctx context.Context, in *idInput) (*detailOutput, error) {
	if err := allowed(ctx, proof.RightRead); err != nil {
		return nil, err
	}
	d, tag, err := s.detail(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &detailOutput{tag, d}, nil
}

type keysOutput struct {
	Body struct {
		Keys []KeyDetail `json:"keys" nullable:"false"`
	}
}

// A KeyDetail is a browser that can answer.
type KeyDetail struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	This    bool      `json:"this" doc:"it is the one that calls"`
}

func (s *Server) listKeys(ctx context.Context, _ *struct{}) (*keysOutput, error) {
	if err := byPerson(ctx); err != nil {
		return nil, err
	}
	keys, err := s.cfg.Book.Keys(ctx)
	if err != nil {
		return nil, err
	}
	out := &keysOutput{}
	out.Body.Keys = []KeyDetail{}
	for id, k := range keys {
		if k.Session == s.cfg.Session && k.Ended.IsZero() {
			out.Body.Keys = append(out.Body.Keys, KeyDetail{id, k.Name, k.Created, id == callerOf(ctx).key})
		}
	}
	slices.SortFunc(out.Body.Keys, func(a, b KeyDetail) int { return a.Created.Compare(b.Created) })
	return out, nil
}

func (s *Server) revokeKey(ctx context.Context, in *idInput) (*struct{}, error) {
	if err := byPerson(ctx); err != nil {
		return nil, err
	}
	return nil, s.cfg.Book.EndKeys(ctx, in.ID, "", s.cfg.Clock())
}

// letIn lets a browser in that has the code of a link. It is the only call that needs no key.
func (s *Server) letIn(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Code   string `json:"code"`
		Public []byte `json:"public"`
		Name   string `json:"name"`
	}
	const most = 4 << 10
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, most))
	d.DisallowUnknownFields()
	if r.Header.Get("Content-Type") != "application/json" || d.Decode(&in) != nil {
		Refuse(w, http.StatusBadRequest, "send JSON: {\"code\": …, \"public\": …, \"name\": …}")
		return
	}
	if r.Header.Get("Origin") != s.URL() { // only our own page has a reason to
		Refuse(w, http.StatusForbidden, "only a browser can be let in")
		return
	}
	if !s.codes.use(in.Code) {
		Refuse(w, http.StatusForbidden, "this link was used or is too old; 'assent inbox --web' prints a new one, also while it runs, with Enter")
		return
	}
	key := proof.Key{Name: clip(in.Name), Public: in.Public, Created: s.cfg.Clock().UTC(), Session: s.cfg.Session}
	id, err := s.cfg.Book.AddKey(r.Context(), key)
	if err != nil {
		Refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"id": id})
}

// clip bounds a name that a browser gives itself.
func clip(name string) string {
	const most = 80
	if r := []rune(name); len(r) > most {
		name = string(r[:most])
	}
	return strings.TrimSpace(name)
}
