package people

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/signin"
	"github.com/assent-dev/assent/internal/web"
)

// A Config says what the pages stand on.
type Config struct {
	DB *db.DB
	// Team is what people call the team, URL where its server is.
	Team, URL string
	// Trust is the public half of the team's key: only what it signed says who people are.
	Trust string
	// Door is where people sign in.
	Door *signin.Door
	// Clock tells who is in which group, and which keys count; nil is [time.Now].
	Clock func() time.Time
	// Log gets what went wrong; nil drops it.
	Log *slog.Logger
	// Stopping is closed when the server is to end; streams end then.
	Stopping <-chan struct{}
}

// A Server is the pages and the API of people.
type Server struct {
	cfg    Config
	origin string
	host   string
	court  court

	listeners listeners
	lists     chan struct{} // holds those that are read
}

// mostLists is how many lists are read at once: each takes some megabytes, and with a change everybody wants theirs.
const mostLists = 4

// list waits until a list may be read.
func (s *Server) list(ctx context.Context) (done func(), err error) {
	select {
	case s.lists <- struct{}{}:
		return func() { <-s.lists }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

//go:embed static
var static embed.FS

const base = "/api/v1"

// New returns the handler for every address that is not a machine's.
func New(cfg Config) (http.Handler, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a server", cfg.URL)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	s := &Server{cfg: cfg, origin: u.Scheme + "://" + u.Host, host: u.Host,
		court: court{db: cfg.DB, trust: cfg.Trust, clock: cfg.Clock}, lists: make(chan struct{}, mostLists)}
	files, err := fs.Sub(static, "static")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go s.court.watch(ctx)
	go func() {
		<-cfg.Stopping
		cancel()
	}()
	calls := http.NewServeMux()
	s.describe(humago.New(calls, apiConfig(cfg.Team)))
	calls.HandleFunc("GET "+base+"/events", s.stream)
	calls.HandleFunc("GET /page/{name...}", s.page)
	calls.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		web.Refuse(w, http.StatusNotFound, "there is no such page")
	})

	all := http.NewServeMux()
	all.Handle("/static/", http.StripPrefix("/static/", web.Packed(http.FileServerFS(web.Files()))))
	all.Handle("/static/team.js", http.StripPrefix("/static/", web.Packed(http.FileServerFS(files))))
	all.Handle("GET /signin", cfg.Door.Load(http.HandlerFunc(cfg.Door.Begin)))
	all.Handle("GET /signin/callback", cfg.Door.Load(http.HandlerFunc(cfg.Door.End)))
	all.Handle(base+"/", cfg.Door.Load(s.identify(calls)))
	all.Handle("/page/", cfg.Door.Load(s.identify(calls)))
	all.HandleFunc("/", shell(files))
	return s.guard(all), nil
}

// shell answers every other address with the page, which knows from it what to show.
func shell(files fs.FS) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			web.Refuse(w, http.StatusMethodNotAllowed, "this address accepts only GET")
			return
		}
		if strings.HasPrefix(r.URL.Path, "/api") {
			web.Refuse(w, http.StatusNotFound, "there is no such page")
			return
		}
		http.ServeFileFS(w, r, files, "team.html")
	}
}

// guard is what every request passes, files too. A browser says where a call comes from; what changes something must
// say so, because the cookie comes along by itself.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		web.Harden(w.Header())
		if r.Host != s.host { // another name that leads here would be another origin
			web.Refuse(w, http.StatusMisdirectedRequest, "this server is "+s.host)
			return
		}
		if err := web.FromElsewhere(r, s.origin); err != "" {
			web.Refuse(w, http.StatusForbidden, err)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" {
				web.Refuse(w, http.StatusForbidden, "a call that changes something must say from which page it comes")
				return
			}
			if r.Method != http.MethodDelete && !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
				web.Refuse(w, http.StatusUnsupportedMediaType, "send JSON")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Bounds of a call.
const (
	maxBody  = 4 << 20
	bodyTime = 20 * time.Second
)

type personKey struct{}

// identify finds out who is signed in, and hands the call on with that.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := s.cfg.Door.Person(r.Context())
		switch {
		case errors.Is(err, signin.ErrSignedOut), errors.Is(err, signin.ErrDisabled):
			web.Refuse(w, http.StatusUnauthorized, err.Error())
			return
		case r.Context().Err() != nil:
			return // nobody listens any more
		case err != nil:
			s.cfg.Log.Error("session", "error", err)
			web.Refuse(w, http.StatusServiceUnavailable, "the database does not answer; try again")
			return
		}
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime))
		r.Body = struct {
			io.Reader
			io.Closer
		}{http.MaxBytesReader(w, r.Body, maxBody), r.Body}
		s.logged(next, w, r.WithContext(context.WithValue(r.Context(), personKey{}, p)))
	})
}

// logged makes the call, and logs one that changes something: the pattern that it met, and nothing that the caller wrote.
func (s *Server) logged(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		next.ServeHTTP(w, r)
		return
	}
	began, answer := time.Now(), &answered{ResponseWriter: w, status: http.StatusOK}
	next.ServeHTTP(answer, r)
	s.cfg.Log.Info("call", "pattern", r.Pattern, "status", answer.status, "ms", time.Since(began).Milliseconds())
}

// answered remembers the status of an answer.
type answered struct {
	http.ResponseWriter
	status int
}

func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// personOf returns who calls.
func personOf(ctx context.Context) db.Person {
	p, _ := ctx.Value(personKey{}).(db.Person)
	return p
}

func apiConfig(team string) huma.Config {
	c := huma.DefaultConfig("assent · "+team, "1")
	c.Info.Description = "Questions that wait for people of the team, their votes, and who may decide. A session can read and deny. " +
		"A yes is a statement of all that the answer does, signed with a passkey; the gate that asked verifies it."
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = base+"/openapi", "", ""
	c.CreateHooks = nil // no $schema links in answers
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"session": {Type: "apiKey", In: "cookie", Name: "__Host-assent", Description: "made by signing in; it can read and deny"},
	}
	c.Security = []map[string][]string{{"session": {}}}
	return c
}
