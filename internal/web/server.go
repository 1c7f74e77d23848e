package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/policy"
)

// A Desk has the questions that wait, of any process. It is safe for concurrent use.
type Desk interface {
	Pending() []*approval.Request
	Outcomes() []approval.Outcome
	Resolve(ctx context.Context, decisions ...approval.Decision) error
	// TakeBack opens a request again whose answer nobody has taken yet.
	TakeBack(ctx context.Context, id string, answer policy.Digest) error
	// Posted returns one request, open or not.
	Posted(ctx context.Context, id string) (approval.Posted, error)
	Watch() (changed <-chan struct{}, stop func())
	Covers(ctx context.Context, r *approval.Request, d approval.Decision) []*approval.Request
	About(ctx context.Context, r *approval.Request) About
	Err() error
}

// About is what is known of who asks.
type About struct {
	Agent   string `json:"agent" doc:"who asks, such as Claude Code or a run"`
	Project string `json:"project,omitempty" doc:"the folder that it works in"`
	Branch  string `json:"branch,omitempty" doc:"the branch of the repository there"`
	Session string `json:"session" doc:"the agent's session"`
	// Until is when who asks stops waiting; zero for as long as it takes.
	Until   time.Time `json:"until,omitzero" doc:"when who asks stops waiting"`
	Problem string    `json:"problem,omitempty" doc:"why an earlier answer had no effect"`
}

// Config says what a server works with. All but Rules, Records, Status and Explain is needed; a page
// without its part is not offered.
type Config struct {
	Desk Desk
	// Book has the keys and tokens; keys belong to Session.
	Book    *proof.Book
	Session string
	// Who answers here; Via is set by the server.
	Who     policy.Who
	Rules   Rules
	Records Records
	Status  func(ctx context.Context) (string, error)
	Explain func(ctx context.Context, door, text string) (string, error)
	// Doors are what Explain takes.
	Doors []string
	// Wide says why a rule allows so much that it needs a second yes; nil finds none wide.
	Wide func(policy.Rule) string
	// Peer reports why a process that connects is refused; nil lets all in that have a key.
	Peer func(remote, local net.Addr) error
	// OwnName serves the pages as a random name below localhost, so that no page that another program served
	// on this port earlier can have left anything in the browser for it. Not all browsers find such names.
	OwnName bool
	// Clock tells the time; nil means the system's.
	Clock func() time.Time
}

func (c *Config) wide(r policy.Rule) string {
	if c.Wide == nil {
		return ""
	}
	return c.Wide(r)
}

// A Server is the pages and the API. Make one with [Listen], and close it.
type Server struct {
	cfg       Config
	name      string // localhost, or one below it
	port      int
	listeners []net.Listener
	http      *http.Server
	codes     codes
	nonces    nonces
	feed      *feed
	answers   answers
	stop      context.CancelFunc
	done      sync.WaitGroup
}

// Listen opens the server at a port of loopback, 0 for one that is free. The browser may take either
// address for localhost, so both are ours or it fails.
func Listen(ctx context.Context, port int, cfg Config) (*Server, error) {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	s := &Server{cfg: cfg, codes: codes{clock: cfg.Clock}, nonces: nonces{seen: map[string]time.Time{}},
		answers: answers{kept: map[string]*kept{}}}
	s.name = "localhost"
	if cfg.OwnName {
		s.name = strings.ToLower(rand.Text()[:16]) + ".localhost"
	}
	if err := s.bind(port); err != nil {
		return nil, err
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.feed = newFeed(cfg.Desk)
	s.http = &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		DisableGeneralOptionsHandler: true, // nothing is answered before the guard
		ConnContext:                  s.connected, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	s.done.Go(func() { s.feed.run(ctx) })
	for _, l := range s.listeners {
		s.done.Go(func() { _ = s.http.Serve(l) })
	}
	return s, nil
}

// tries is how often a free port is looked for that is free on both addresses.
const tries = 20

func (s *Server) bind(port int) error {
	for try := 0; ; try++ {
		err := s.bindOnce(port)
		if err == nil || port != 0 || try == tries {
			return err
		}
	}
}

func (s *Server) bindOnce(port int) error {
	four, err := net.Listen("tcp4", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return taken(port, err)
	}
	s.port = four.Addr().(*net.TCPAddr).Port
	s.listeners = []net.Listener{four}
	six, err := net.Listen("tcp6", "[::1]:"+strconv.Itoa(s.port))
	switch {
	case err == nil:
		s.listeners = append(s.listeners, six)
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EAFNOSUPPORT): // there is no ::1 here
	default:
		four.Close()
		return taken(s.port, err)
	}
	return nil
}

func taken(port int, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("port %d of localhost is taken by another program; choose another with --port, or leave it out", port)
	}
	return err
}

// Link returns an address that lets the browser in which it is opened answer, once and for a while. The code
// stands in the fragment, which browsers send to nobody.
func (s *Server) Link() string { return s.URL() + "/#code=" + s.codes.fresh() }

// URL is where the server is.
func (s *Server) URL() string { return fmt.Sprintf("http://%s:%d", s.name, s.port) }

// Close ends the server and waits for what runs. It answers nothing.
func (s *Server) Close() error {
	s.stop()
	err := s.http.Close()
	s.done.Wait()
	return errors.Join(err, s.cfg.Book.EndKeys(context.Background(), "", s.cfg.Session, s.cfg.Clock()))
}

// A peerKey finds the check of a connection in its context.
type peerKey struct{}

// connected has a connection checked when its first request comes: then the process that made it is known
// to the kernel.
func (s *Server) connected(ctx context.Context, c net.Conn) context.Context {
	check := func() error { return nil }
	if s.cfg.Peer != nil {
		check = sync.OnceValue(func() error { return s.cfg.Peer(c.RemoteAddr(), c.LocalAddr()) })
	}
	return context.WithValue(ctx, peerKey{}, check)
}

// codeLife is how long a link can be opened.
const codeLife = 10 * time.Minute

// codes are the one-time codes of links.
type codes struct {
	clock func() time.Time
	mu    sync.Mutex
	until map[string]time.Time
	wrong int
}

// maxWrong is how many wrong codes are taken before none is any more; a code cannot be guessed, so that
// somebody is trying.
const maxWrong = 20

func (c *codes) fresh() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil {
		c.until = map[string]time.Time{}
	}
	code := rand.Text()
	c.until[code], c.wrong = c.clock().Add(codeLife), 0
	return code
}

// use reports whether a code holds, and ends it.
func (c *codes) use(code string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ok := c.until[code]
	delete(c.until, code)
	if !ok {
		if c.wrong++; c.wrong >= maxWrong {
			clear(c.until)
		}
	}
	return ok && c.clock().Before(until)
}
