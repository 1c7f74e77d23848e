package bridgetest

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/team/wire"
)

// A Server is that of a team, in memory. Its fields are for one test and its lock.
type Server struct {
	*httptest.Server
	Team *Team
	// Hold is how long a call that waits for news is held.
	Hold time.Duration

	mu       sync.Mutex
	token    string
	changed  chan struct{} // closed with each change
	away     bool
	lie      func(w http.ResponseWriter, r *http.Request) bool
	gates    map[string]ed25519.PublicKey
	asked    map[string]*approval.Request
	ended    []wire.Ended
	answers  []wire.Answer
	bundle   []byte
	serial   int64
	rows     []wire.Record
	received int // questions, also those that came again
}

// Serve starts a server for the team, with the bundle as it is.
func Serve(t *Team) *Server {
	s := &Server{Team: t, token: "token-1", Hold: wire.LongestWait, changed: make(chan struct{}),
		gates: map[string]ed25519.PublicKey{}, asked: map[string]*approval.Request{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Close ends the server.
func (s *Server) Close() {
	s.change(func() { s.away = true })
	s.CloseClientConnections()
	s.Server.Close()
}

// change changes something and wakes whoever waits.
func (s *Server) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Publish signs the bundle with the next serial.
func (s *Server) Publish() {
	s.change(func() { s.bundle, s.serial = s.Team.Sign(), s.Team.Bundle.Serial })
}

// Offer has the server give out these bytes as the bundle of this serial.
func (s *Server) Offer(data []byte, serial int64) {
	s.change(func() { s.bundle, s.serial = data, serial })
}

// SetAway has the server answer nobody, or answer again.
func (s *Server) SetAway(away bool) {
	s.change(func() { s.away = away })
	if away {
		s.CloseClientConnections()
	}
}

// Lie has calls answered by f, as long as it says that it did; nil has the server be honest again.
func (s *Server) Lie(f func(w http.ResponseWriter, r *http.Request) bool) {
	s.change(func() { s.lie = f })
}

// Answer gives the machine an answer, whatever it says.
func (s *Server) Answer(a wire.Answer) { s.change(func() { s.answers = append(s.answers, a) }) }

// Vote answers a request as a person.
func (s *Server) Vote(person string, r *approval.Request, d approval.Decision) {
	s.Answer(wire.Answer{Request: r.ID, State: stateOf(d), Decision: &d, Votes: []approval.Vote{s.Team.Vote(person, r, d)}})
}

// Wait waits until f finds something under the lock of the server, or ctx of the test ends.
func (s *Server) Wait(done <-chan struct{}, f func(v View) bool) bool {
	for {
		s.mu.Lock()
		ok, changed := f(View{s}), s.changed
		s.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-done:
			return false
		}
	}
}

// A View is the server while nobody changes it.
type View struct{ s *Server }

// Asked returns the questions that the server has or had, by id.
func (v View) Asked() map[string]*approval.Request { return v.s.asked }

// Ended returns what machines said about questions.
func (v View) Ended() []wire.Ended { return v.s.ended }

// Rows returns the records that the server has.
func (v View) Rows() []wire.Record { return v.s.rows }

// NewToken lets one more machine join.
func (s *Server) NewToken(token string) { s.change(func() { s.token = token }) }

// Token is what a machine joins with, once.
func (s *Server) Token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
}

// Answers is how many answers the server has given out.
func (s *Server) Answers() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.answers)
}

// Forget has the server lose the last records.
func (s *Server) Forget(n int) { s.change(func() { s.rows = s.rows[:len(s.rows)-n] }) }

// Join makes a machine a member without a call.
func (s *Server) Join(id string, public ed25519.PublicKey) {
	s.change(func() { s.gates[id] = public })
	s.Team.Machine(id, public)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	away, lie := s.away, s.lie
	s.mu.Unlock()
	if away {
		panic(http.ErrAbortHandler)
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if lie != nil && lie(w, r) {
		return
	}
	out, err := s.handle(r, body)
	if err != nil {
		status := http.StatusBadRequest
		var p problem
		if errors.As(err, &p) {
			status = p.status
		}
		w.WriteHeader(status)
		out = wire.Problem{Title: http.StatusText(status), Status: status, Detail: err.Error()}
	}
	if data, ok := out.([]byte); ok {
		_, _ = w.Write(data)
		return
	}
	_ = json.NewEncoder(w).Encode(out) // who does not read it comes again
}

type problem struct {
	status int
	error
}

func (s *Server) handle(r *http.Request, body []byte) (any, error) {
	if r.URL.Path == "/gate/v1/join" {
		return s.join(body)
	}
	gate, _ := wire.Caller(r)
	s.mu.Lock()
	key := s.gates[gate]
	s.mu.Unlock()
	if key == nil {
		return nil, problem{http.StatusUnauthorized, errors.New("the server does not know this machine")}
	}
	if err := wire.VerifyCall(r, body, key, time.Now()); err != nil {
		return nil, problem{http.StatusUnauthorized, err}
	}
	switch r.URL.Path {
	case "/gate/v1/requests":
		return s.ask(key, body)
	case "/gate/v1/ended":
		var in []wire.Ended
		err := json.Unmarshal(body, &in)
		s.change(func() { s.ended = append(s.ended, in...) })
		return struct{}{}, err
	case "/gate/v1/wait":
		return s.news(r)
	case "/gate/v1/bundle":
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.bundle, nil
	case "/gate/v1/audit":
		return s.keep(gate, body)
	case "/gate/v1/leave":
		s.change(func() { delete(s.gates, gate) })
		return struct{}{}, nil
	}
	return nil, problem{http.StatusNotFound, errors.New("there is no such call")}
}

func (s *Server) join(body []byte) (any, error) {
	var j wire.Join
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, err
	}
	s.mu.Lock()
	ok := j.Token != "" && j.Token == s.token
	s.token = ""
	id := fmt.Sprintf("g_%d", len(s.gates)+1)
	s.mu.Unlock()
	if !ok {
		return nil, problem{http.StatusForbidden, errors.New("the token is unknown, used or expired; ask an administrator for a new one")}
	}
	s.Join(id, j.Public)
	return wire.Joined{Tenant: s.Team.Name, Gate: id, Sponsor: s.Team.Bundle.People[0].ID, Team: "Acme"}, nil
}

func (s *Server) ask(key ed25519.PublicKey, body []byte) (any, error) {
	var in []wire.Signed
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	var out wire.Taken
	s.change(func() {
		for _, q := range in {
			r := new(approval.Request)
			if err := json.Unmarshal(q.Request, r); err != nil || !wire.VerifyRequest(key, q.Request, q.Signature) {
				continue
			}
			s.received++
			s.asked[r.ID] = r
			out.Requests = append(out.Requests, r.ID)
		}
	})
	return out, nil
}

func (s *Server) news(r *http.Request) (any, error) {
	after, err := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	if err != nil {
		return nil, err
	}
	over := time.NewTimer(s.Hold)
	defer over.Stop()
	for last := false; ; {
		s.mu.Lock()
		news := wire.News{Cursor: int64(len(s.answers)), Serial: s.serial}
		if after < news.Cursor {
			news.Answers = slices.Clone(s.answers[after:])
		}
		changed, away := s.changed, s.away
		s.mu.Unlock()
		if away {
			panic(http.ErrAbortHandler)
		}
		if last || len(news.Answers) > 0 || r.URL.Query().Get("serial") != strconv.FormatInt(news.Serial, 10) {
			return news, nil
		}
		select {
		case <-changed:
		case <-over.C:
			last = true
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// keep takes records that go on where the last ones ended. Those that it has are taken again.
func (s *Server) keep(gate string, body []byte) (any, error) {
	var in wire.Records
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := wire.Kept{Stream: gate}
	if n := len(s.rows); n > 0 {
		kept.Seq, kept.Hash = s.rows[n-1].Seq, s.rows[n-1].Hash
	}
	var chain audit.Chain
	for _, row := range in.Rows {
		if row.Seq <= kept.Seq {
			continue
		}
		sum := chain.Hash(row.Prev, row.Numbers, row.Texts, row.Body)
		if len(s.rows) > 0 && (row.Seq != kept.Seq+1 || !bytes.Equal(row.Prev, kept.Hash)) || !bytes.Equal(sum[:], row.Hash) {
			return nil, problem{http.StatusConflict, fmt.Errorf("record %d does not follow record %d", row.Seq, kept.Seq)}
		}
		s.rows = append(s.rows, row)
		kept.Seq, kept.Hash = row.Seq, row.Hash
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return kept, nil
}
