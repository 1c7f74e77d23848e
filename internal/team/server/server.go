package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/net/netutil"

	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/webhook"
)

// Options say what a server is made of.
type Options struct {
	Config *Config
	// Log gets structured records; nil drops them.
	Log *slog.Logger
	// People makes the pages and the API of people, which get every path that is not a machine's; nil has none.
	People func(Base) (http.Handler, error)
}

// A Base is what the pages of people stand on.
type Base struct {
	Config *Config
	DB     *db.DB
	Log    *slog.Logger
	// Bundle returns the newest bundle that the team's key signed; nil if there is none. It is not to be changed.
	Bundle func() *bundle.Bundle
	// Court is what that bundle says about who is who.
	Court func() db.Court
	// Stopping is closed when the server is to end: streams must end then. An answer must be written within a
	// minute; a stream moves its deadline with [http.ResponseController].
	Stopping <-chan struct{}
}

// A Server is one replica. Make one with [Start], and stop it.
type Server struct {
	cfg      *Config
	log      *slog.Logger
	db       *db.DB
	logKey   note.Signer
	hooks    []webhook.Target
	secure   bool
	listener net.Listener
	scraped  net.Listener // nil without metrics
	http     *http.Server
	scrapes  *http.Server

	metrics metrics
	bodies  *budget
	// policies is for calls with the team's key, joins for those that anybody can make: they take nothing from machines.
	policies, joins *budget
	gates           gateCache
	waiting         waiting
	bundle          bundleCache

	stopping chan struct{}
	stop     sync.Once
	work     context.CancelFunc
	done     sync.WaitGroup
	failed   chan error
	ready    atomic.Bool
}

// Start opens the database, listens and begins to work.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	l := o.Config.Limits
	all := max(l.AuditInFlight/4, bundle.MaxBytes) // the largest bundle must fit
	s := &Server{cfg: o.Config, log: o.Log,
		bodies:   newBudget(l.AuditInFlight, max(l.AuditInFlight/4, l.AuditBytes, l.RequestBytes)),
		policies: newBudget(all, all),
		// There is enough for each connection: nobody keeps others from joining by calls that never end.
		joins:    newBudget(l.Connections*joinCall, l.Connections*joinCall),
		stopping: make(chan struct{}), failed: make(chan error, 2)}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.logKey, err = ReadLogKey(s.cfg.LogKey); err != nil {
		return nil, err
	}
	if s.hooks, err = s.cfg.hooks(); err != nil {
		return nil, err
	}
	if err := s.listen(); err != nil {
		return nil, err
	}
	dsn, err := s.cfg.DSN()
	if err != nil {
		return nil, err
	}
	if s.db, err = db.Open(ctx, dsn, s.cfg.Tenant); err != nil {
		return nil, err
	}
	if err := s.serve(o.People); err != nil {
		return nil, err
	}
	return s, nil
}

// listen opens the sockets, with TLS if there is a certificate. A file without one was refused unless the
// address is on loopback.
func (s *Server) listen() (err error) {
	if s.listener, err = net.Listen("tcp", s.cfg.Listen); err != nil {
		return fmt.Errorf("listen: %w; write another address in the server's file, or free this one", err)
	}
	s.listener = netutil.LimitListener(s.listener, s.cfg.Limits.Connections)
	if s.cfg.Metrics != "off" {
		if s.scraped, err = net.Listen("tcp", s.cfg.Metrics); err != nil {
			return fmt.Errorf("metrics: %w; write another address, or off, in the server's file", err)
		}
	}
	return nil
}

// serve begins to answer and to work in the background.
func (s *Server) serve(people func(Base) (http.Handler, error)) error {
	handler, err := s.handler(people)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.work = cancel
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // each waiting machine is a connection, and one of HTTP/2 takes three times the memory
	quiet := slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)
	s.http = &http.Server{
		Handler: handler, Protocols: protocols, ErrorLog: quiet,
		ReadHeaderTimeout: headTime, IdleTimeout: 90 * time.Second, MaxHeaderBytes: 32 << 10,
		DisableGeneralOptionsHandler: true,
	}
	if s.cfg.TLS.Certificate != "" {
		cert := &certificate{cert: s.cfg.TLS.Certificate, key: s.cfg.TLS.Key, log: s.log}
		if _, err := cert.get(time.Now()); err != nil {
			return fmt.Errorf("tls: %w", err)
		}
		s.http.TLSConfig, s.secure = cert.tls(), true
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	s.done.Go(func() {
		if s.secure {
			s.ended(s.http.ServeTLS(s.listener, "", ""))
			return
		}
		s.ended(s.http.Serve(s.listener))
	})
	if s.scraped != nil {
		s.scrapes = &http.Server{Handler: http.HandlerFunc(s.scrape), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second,
			IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: quiet}
		s.done.Go(func() { s.ended(s.scrapes.Serve(s.scraped)) })
	}
	s.ready.Store(true)
	return nil
}

func (s *Server) ended(err error) {
	if !errors.Is(err, http.ErrServerClosed) {
		s.failed <- err
	}
}

// Addr is where the server listens, MetricsAddr where Prometheus reads.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// MetricsAddr is where Prometheus reads; empty without metrics.
func (s *Server) MetricsAddr() string {
	if s.scraped == nil {
		return ""
	}
	return s.scraped.Addr().String()
}

// Stop ends the server: nobody is let in any more, who waits is sent away, and what runs is finished until
// the context ends.
func (s *Server) Stop(ctx context.Context) error {
	s.ready.Store(false)
	s.stop.Do(func() { close(s.stopping) })
	err := s.http.Shutdown(ctx)
	s.close()
	return err
}

// close ends everything at once.
func (s *Server) close() {
	s.ready.Store(false)
	s.stop.Do(func() { close(s.stopping) })
	if s.work != nil {
		s.work()
	}
	for _, h := range []*http.Server{s.http, s.scrapes} {
		if h != nil {
			_ = h.Close()
		}
	}
	for _, l := range []net.Listener{s.listener, s.scraped} {
		if l != nil {
			_ = l.Close()
		}
	}
	s.done.Wait()
	if s.db != nil {
		s.db.Close()
	}
}

// stopTime is how long calls that run may take when the server is to end.
const stopTime = 20 * time.Second

// Run is a server until the context ends, in a process of its own.
func Run(ctx context.Context, o Options) error {
	// Nearly all memory is that of connections which wait: stacks that a handshake made large are cut back when
	// memory is collected, so that it pays to do so more often.
	debug.SetGCPercent(40)
	s, err := Start(ctx, o)
	if err != nil {
		return err
	}
	s.log.Info("serving", "address", s.Addr(), "tls", s.secure, "metrics", s.MetricsAddr(), "tenant", s.cfg.Tenant)
	go func() { // it may come back, and until then machines work on
		if _, err := checkIssuer(ctx, s.cfg); err != nil && ctx.Err() == nil {
			s.log.Warn("nobody can sign in now", "error", err.Error())
		}
	}()
	select {
	case <-ctx.Done():
	case err = <-s.failed:
	}
	s.log.Info("stopping")
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	err = errors.Join(err, s.Stop(within))
	s.log.Info("stopped")
	return err
}

// handler joins what machines and people call.
func (s *Server) handler(people func(Base) (http.Handler, error)) (http.Handler, error) {
	all := http.NewServeMux()
	all.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	all.HandleFunc("GET /readyz", s.readyz)
	s.machines(all)
	nothing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		Problem(w, http.StatusNotFound, "there is no such page, or not with this method")
	})
	all.Handle("/gate/", nothing)
	desk, err := s.desk()
	if err != nil {
		return nil, err
	}
	all.Handle("/policy/", desk)
	all.Handle("/audit/v1/", desk)
	all.Handle("/gate", nothing) // else it would be sent to /gate/
	if people == nil {
		all.Handle("/", nothing)
		return s.guard(all), nil
	}
	pages, err := people(s.base())
	if err != nil {
		return nil, err
	}
	all.Handle("/", pages)
	return s.guard(all), nil
}

func (s *Server) base() Base {
	return Base{Config: s.cfg, DB: s.db, Log: s.log, Stopping: s.stopping,
		Bundle: func() *bundle.Bundle {
			if p := s.bundle.newest.Load(); p != nil {
				return p.Bundle
			}
			return nil
		},
		Court: func() db.Court { return s.court(time.Now()) },
	}
}

func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	switch {
	case !s.ready.Load():
		Problem(w, http.StatusServiceUnavailable, "the server starts or stops")
	case s.db.Ping(ctx) != nil:
		Problem(w, http.StatusServiceUnavailable, "the database does not answer")
	default:
		fmt.Fprintln(w, "ready")
	}
}
