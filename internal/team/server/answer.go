package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/assent-dev/assent/internal/team/wire"
)

// A refusal is an error that the caller is told, with a status. What other errors say stays in the log.
type refusal struct {
	status int
	detail string
	// after is how long the caller is to wait before it comes again; 0 if that is of no use.
	after time.Duration
}

func (r *refusal) Error() string { return r.detail }

func refuse(status int, format string, args ...any) error {
	return &refusal{status: status, detail: fmt.Sprintf(format, args...)}
}

// busy tells the caller to come again.
func busy(detail string) error {
	return &refusal{status: http.StatusServiceUnavailable, detail: detail, after: time.Second}
}

// Problem answers with an error as RFC 9457 writes it.
func Problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(wire.Problem{Title: http.StatusText(status), Status: status, Detail: detail})
}

// fail answers with an error. Only a refusal is told in its own words.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var told *refusal
	if !errors.As(err, &told) {
		if r.Context().Err() == nil { // else nobody listens any more, or the server ends
			s.callFailed(r, err)
		}
		told = &refusal{status: http.StatusServiceUnavailable, detail: "the server cannot answer now; try again", after: time.Second}
	}
	if told.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(told.after.Seconds())))
	}
	Problem(w, told.status, told.detail)
}

// callFailed writes down why a call was not answered.
func (s *Server) callFailed(r *http.Request, err error) {
	s.log.Error("call failed", "method", r.Method, "path", r.URL.Path, "error", err.Error())
}

// send answers with JSON.
func send(w http.ResponseWriter, value any) error {
	data, err := wire.Encode(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(data) // an error means that the caller has gone
	return nil
}
