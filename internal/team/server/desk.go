package server

import (
	"context"
	"net/http"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/assent-dev/assent/internal/team/admin"
)

// desk answers who has the team's key, and machines that want proofs.
func (s *Server) desk() (http.Handler, error) {
	key, err := note.NewVerifier(s.cfg.Trust)
	if err != nil {
		return nil, err
	}
	log, err := admin.ReadKey(s.cfg.LogKey)
	if err != nil {
		return nil, err
	}
	local := &admin.Local{DB: s.db, Trust: s.cfg.Trust, LogKey: log.Public, URL: s.cfg.URL, Published: s.published, Failed: s.callFailed}
	return admin.Handler(local, key, time.Now, s.policyBody), nil
}

// published puts a bundle in force at this replica before its publisher gets an answer. All replicas also hear of it, so a
// failure only delays it.
func (s *Server) published(ctx context.Context) {
	if err := s.refreshBundle(ctx); err != nil {
		s.log.Error("bundle", "error", err)
	}
}

// policyBody reads a call of who has the team's key.
func (s *Server) policyBody(w http.ResponseWriter, r *http.Request, most int) (body []byte, done func(), ok bool) {
	body, done, err := s.policies.read(w, r, "", most)
	if err != nil {
		s.fail(w, r, err)
	}
	return body, done, err == nil
}
