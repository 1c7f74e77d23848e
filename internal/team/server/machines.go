package server

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/wire"
)

// machines adds what machines call. Each call but join is signed with the machine's key over method, address,
// time and body. A signed call that somebody recorded can be sent again for [wire.MaxSkew]; none does
// anything that it had not done already, and it reads what its sender could have read.
func (s *Server) machines(mux *http.ServeMux) {
	l := s.cfg.Limits
	mux.HandleFunc("POST /gate/v1/join", s.join)
	mux.HandleFunc("POST /gate/v1/requests", s.signed(l.RequestBytes, s.ask))
	mux.HandleFunc("POST /gate/v1/ended", s.signed(l.RequestBytes, s.end))
	mux.HandleFunc("GET /gate/v1/wait", s.signed(0, s.wait))
	mux.HandleFunc("GET /gate/v1/bundle", s.signed(0, s.giveBundle))
	mux.HandleFunc("POST /gate/v1/audit", s.signed(l.AuditBytes, s.audit))
	mux.HandleFunc("POST /gate/v1/leave", s.signed(smallCall, s.leave))
}

// smallCall is the size of a call that brings next to nothing, joinCall that of one to join, which anybody can make.
const (
	smallCall = 16 << 10
	joinCall  = 4 << 10
)

// signed lets a call of a machine through to what answers it.
func (s *Server) signed(most int, answer func(w http.ResponseWriter, r *http.Request, gate *db.Gate, body []byte) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		gate, body, done, err := s.verify(w, r, most)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		defer done()
		if err := answer(w, r, gate, body); err != nil {
			s.fail(w, r, err)
		}
	}
}

// verify finds out which machine calls.
func (s *Server) verify(w http.ResponseWriter, r *http.Request, most int) (*db.Gate, []byte, func(), error) {
	id, ok := wire.Caller(r)
	if !ok {
		return nil, nil, nil, refuse(http.StatusUnauthorized, "the call is not signed by a machine")
	}
	gate, err := s.gates.get(r.Context(), s.db, id)
	if errors.Is(err, db.ErrNotFound) || db.Invalid(err) { // a name that is not UTF-8 belongs to nobody
		return nil, nil, nil, refuse(http.StatusUnauthorized, "the server does not know this machine; let it join again")
	}
	if err != nil {
		return nil, nil, nil, err
	}
	check, err := wire.VerifyCallHead(r, gate.Public, time.Now())
	if err != nil {
		return nil, nil, nil, refuse(http.StatusUnauthorized, "%v", err)
	}
	if !gate.Revoked.IsZero() {
		return nil, nil, nil, refuse(http.StatusForbidden, "this machine has left the team, or its key was revoked; let it join again")
	}
	body, done, err := s.bodies.read(w, r, id, most)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := check(body); err != nil {
		done()
		return nil, nil, nil, refuse(http.StatusUnauthorized, "%v", err)
	}
	return gate, body, done, nil
}

// read reads JSON that has no unknown keys and nothing after its end.
func read(body []byte, value any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(value); err != nil {
		return refuse(http.StatusBadRequest, "the JSON of the call: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return refuse(http.StatusBadRequest, "there is more than one JSON value in the call")
	}
	return nil
}

// maxName is how long the names of machines and users may be.
const maxName = 255

// join makes a machine a member, with a token that works once. It is the only call without a signature.
func (s *Server) join(w http.ResponseWriter, r *http.Request) {
	body, done, err := s.joins.read(w, r, "", joinCall)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer done()
	var j wire.Join
	if err := read(body, &j); err != nil {
		s.fail(w, r, err)
		return
	}
	if len(j.Public) != ed25519.PublicKeySize {
		s.fail(w, r, refuse(http.StatusBadRequest, "the machine's key must be an Ed25519 key"))
		return
	}
	if j.Token == "" || len(j.Host) > maxName || len(j.User) > maxName ||
		!utf8.ValidString(j.Host+j.User) || hasNUL(j.Host, j.User) {
		s.fail(w, r, refuse(http.StatusBadRequest, "a token is needed, and names of at most %d bytes without NUL", maxName))
		return
	}
	gate, err := s.db.Join(r.Context(), j)
	if errors.Is(err, db.ErrSpent) {
		s.log.Warn("join refused", "host", j.Host, "from", r.RemoteAddr)
		err = refuse(http.StatusForbidden, "the token is unknown, used or expired; ask an administrator for a new one")
	}
	if err == nil {
		s.log.Info("joined", "gate", gate.ID, "host", gate.Host, "sponsor", gate.Sponsor)
		err = send(w, wire.Joined{Tenant: s.cfg.Tenant, Gate: gate.ID, Sponsor: gate.Sponsor, Team: s.cfg.Team})
	}
	if err != nil {
		s.fail(w, r, err)
	}
}

// leave ends the machine's key.
func (s *Server) leave(w http.ResponseWriter, r *http.Request, gate *db.Gate, _ []byte) error {
	if err := s.db.RevokeGate(r.Context(), gate.ID); err != nil {
		return err
	}
	s.gates.forget(gate.ID)
	s.log.Info("left", "gate", gate.ID)
	return send(w, struct{}{})
}

// wait holds the call until there is news for the machine.
func (s *Server) wait(w http.ResponseWriter, r *http.Request, gate *db.Gate, _ []byte) error {
	query := r.URL.Query()
	after, err := number(query.Get("after"))
	if err != nil {
		return err
	}
	// Who does not say which bundle they have are told of the next one.
	has := s.bundle.serial()
	if text := query.Get("serial"); text != "" {
		if has, err = number(text); err != nil {
			return err
		}
	}
	wake, ok := s.waiting.enter(gate.ID, has, s.cfg.Limits.Waiting)
	if !ok {
		return busy("as many machines wait here as can")
	}
	defer s.waiting.leave(gate.ID, wake)
	over := time.NewTimer(wire.LongestWait)
	defer over.Stop()
	for last := false; ; {
		news := wire.News{Cursor: after, Serial: s.bundle.serial()}
		if news.Serial == has { // else the machine comes again for the answers: thousands are told of a bundle at once
			if news, err = s.db.NewsFor(r.Context(), gate.ID, after); err != nil {
				return err
			}
			news.Serial = s.bundle.serial()
		}
		if last || news.Serial != has || len(news.Answers) > 0 {
			return s.answerWait(w, news)
		}
		select {
		case _, stays := <-wake:
			last = !stays
			// One who was revoked while waiting is sent away.
			if g, err := s.gates.get(r.Context(), s.db, gate.ID); err != nil || !g.Revoked.IsZero() {
				return refuse(http.StatusForbidden, "this machine has left the team, or its key was revoked; let it join again")
			}
		case <-over.C:
			last = true
		case <-s.stopping:
			w.Header().Set("Connection", "close") // the next call goes to another replica
			return s.answerWait(w, news)
		case <-r.Context().Done():
			return r.Context().Err()
		}
	}
}

// answerWait answers, for which a waiting call has time anew.
func (s *Server) answerWait(w http.ResponseWriter, news wire.News) error {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
	return send(w, news)
}

func number(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if text == "" {
		return 0, nil
	}
	if err != nil || n < 0 {
		return 0, refuse(http.StatusBadRequest, "%.40q is not a number", text)
	}
	return n, nil
}

// gateLife is how long a machine's row is believed: as long a revoked key may still work at another replica.
const gateLife = 2 * time.Second

// gateCache has machines that called lately, so that a busy one costs no query for each call.
type gateCache struct {
	mu    sync.Mutex
	known map[string]knownGate
}

type knownGate struct {
	gate *db.Gate
	at   time.Time
}

func (c *gateCache) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, id)
}

// maxKnown bounds the cache; it is emptied then.
const maxKnown = 20_000

func (c *gateCache) get(ctx context.Context, d *db.DB, id string) (*db.Gate, error) {
	c.mu.Lock()
	known, ok := c.known[id]
	c.mu.Unlock()
	if ok && time.Since(known.at) < gateLife {
		return known.gate, nil
	}
	gate, err := d.Gate(ctx, id)
	if err != nil {
		return nil, err // one that is not there is not kept: anybody can make up names
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxKnown {
		c.known = map[string]knownGate{}
	}
	c.known[id] = knownGate{&gate, time.Now()}
	return &gate, nil
}
