package pgtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Options say how a server of a test's own differs from the shared one.
type Options struct {
	Durable  bool              // fsync, as in production: slower, and what figures are measured with
	Loopback bool              // also listens on a port of 127.0.0.1, with a password
	Dir      string            // where the data lies; a temporary folder if empty
	Settings map[string]string // further settings of postgresql.conf
	Env      []string          // further environment of the server
}

// A Server runs for one test, or for all tests of a program.
type Server struct {
	t       testing.TB
	cluster *cluster
}

// shared is the server that tests without options use: it starts with the first of them.
var shared = sync.OnceValues(func() (*cluster, error) {
	c, err := newCluster(Options{})
	if err != nil {
		return nil, err
	}
	return c, c.start()
})

// Start gives a running server. Without options it is the one that all tests of the program
// share, which may not be killed; with options it is the test's own and ends with it.
func Start(t testing.TB, options ...Options) *Server {
	t.Helper()
	if len(options) == 0 {
		c, err := shared()
		if err != nil {
			t.Fatal(err)
		}
		return &Server{t: t, cluster: c}
	}
	c, err := newCluster(options[0])
	if err != nil {
		t.Fatal(err)
	}
	c.own = true
	t.Cleanup(c.end)
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
	return &Server{t: t, cluster: c}
}

// DSN creates an empty database and says how to connect to it through the unix socket. The
// database is dropped when the test ends.
func (s *Server) DSN() string {
	s.t.Helper()
	return s.cluster.dsn(s.database())
}

// LoopbackDSN is DSN over the port of 127.0.0.1.
func (s *Server) LoopbackDSN() string {
	s.t.Helper()
	if s.cluster.port == 0 {
		s.t.Fatal("pgtest: this server was not started with the option Loopback")
	}
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, s.cluster.password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.cluster.port)), Path: "/" + s.database(),
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Exec changes a database by hand, as whoever owns it can.
func Exec(t testing.TB, dsn, statement string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), dsn)
	if err == nil {
		_, err = conn.Exec(context.Background(), statement, args...)
		_ = conn.Close(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Log is what the server wrote so far, for a test that fails.
func (s *Server) Log() string {
	text, err := os.ReadFile(filepath.Join(s.cluster.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Kill ends all processes of the server at once, as a lost machine would.
func (s *Server) Kill() {
	s.t.Helper()
	s.mustOwn("Kill")
	if err := s.cluster.kill(); err != nil {
		s.t.Fatal(err)
	}
}

// Restart starts the server again, after Kill or from a running state, and returns when it
// answers.
func (s *Server) Restart() {
	s.t.Helper()
	s.mustOwn("Restart")
	if err := s.cluster.kill(); err != nil {
		s.t.Fatal(err)
	}
	if err := s.cluster.start(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) mustOwn(what string) {
	s.t.Helper()
	if !s.cluster.own {
		s.t.Fatalf("pgtest: %s would end the server of other tests; start one with options", what)
	}
}

// database creates an empty database and drops it when the test ends.
func (s *Server) database() string {
	s.t.Helper()
	name := "test_" + rand.Text()
	if err := s.admin(`CREATE DATABASE ` + pgx.Identifier{name}.Sanitize()); err != nil {
		s.t.Fatalf("pgtest: %v", err)
	}
	if !s.cluster.own {
		s.t.Cleanup(func() {
			if err := s.admin(`DROP DATABASE ` + pgx.Identifier{name}.Sanitize() + ` WITH (FORCE)`); err != nil {
				s.t.Errorf("pgtest: %v", err)
			}
		})
	}
	return name
}

// admin runs one statement outside of any test's database.
func (s *Server) admin(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.cluster.dsn("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statement)
	return err
}

// freePort is a port of 127.0.0.1 that nothing listens on.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// until calls f again and again until it reports no error, and gives up with its last one.
func until(limit time.Duration, f func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := f()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(pause)
	}
}

const (
	superuser = "postgres"
	patience  = 60 * time.Second      // for a busy machine
	pause     = 10 * time.Millisecond // between two looks
)

// dsn says how to connect to a database through the unix socket.
func (c *cluster) dsn(database string) string {
	return fmt.Sprintf("host=%s port=%d user=%s dbname=%s sslmode=disable", c.dir, cmp.Or(c.port, anyPort), superuser, database)
}
