// Package modeltest has what tests of providers share: a server that answers as it is
// told, one request after another, and somebody who listens.
package modeltest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/model"
)

// An Answer answers one request.
type Answer func(w http.ResponseWriter, r *http.Request)

// A Server is a provider on the loopback interface.
type Server struct {
	URL string

	mu       sync.Mutex
	answers  []Answer
	requests []Request
}

// A Request is what the server was asked.
type Request struct {
	Path   string
	Header http.Header
	Body   string
}

// NewServer returns a server that gives these answers in turn. A request more than that
// fails the test.
func NewServer(t *testing.T, answers ...Answer) *Server {
	t.Helper()
	s := &Server{answers: answers}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("reading the request: %v", err)
		}
		answer := s.next(Request{r.URL.Path, r.Header, string(body)})
		if answer == nil {
			t.Errorf("a request more than there are answers: %s", body)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func (s *Server) next(r Request) Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if len(s.answers) == 0 {
		return nil
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	return answer
}

// Requests returns what the server was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Stream answers with text as a stream of events.
func Stream(text string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, text)
	}
}

// CutStream answers like [Stream] and then breaks the connection.
func CutStream(text string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Length", fmt.Sprint(len(text)+1))
		io.WriteString(w, text)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// Stall answers like [Stream], tells begun, and then says nothing until it is left alone.
func Stall(text string, begun chan<- struct{}) Answer {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, text)
		w.(http.Flusher).Flush()
		if begun != nil {
			close(begun)
		}
		<-r.Context().Done()
	}
}

// Refuse answers with a status, headers as NAME: VALUE, and a body.
func Refuse(status int, body string, headers ...string) Answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// A Listener writes down what it hears.
type Listener struct {
	Heard strings.Builder // pieces between bars; a new beginning as a hash
	Waits []time.Duration
	Why   []string
}

// Text implements [worker.Listener].
func (l *Listener) Text(piece string) { l.Heard.WriteString(piece + "|") }

// Again implements [worker.Listener].
func (l *Listener) Again(after time.Duration, why error) {
	l.Heard.WriteString("#")
	l.Waits = append(l.Waits, after)
	l.Why = append(l.Why, why.Error())
}

// Hasty is a retry that does not wait.
func Hasty(attempts int) model.Retry {
	return model.Retry{Attempts: attempts,
		Wait: func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }}
}
