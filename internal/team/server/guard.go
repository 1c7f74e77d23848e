package server

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"
)

// answerTime is how long an answer may take to be written. A stream sets its own deadline with
// [http.ResponseController] as it goes on.
const answerTime = time.Minute

// headTime is how long a caller may take for the head of a call, and for a body that no handler reads.
const headTime = 10 * time.Second

// guard is what every call passes: odd paths end here, panics stay here, and all is counted.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(plain http.ResponseWriter, r *http.Request) {
		w := &watched{ResponseWriter: plain}
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		if s.secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		deadline := http.NewResponseController(plain)
		_ = deadline.SetWriteDeadline(time.Now().Add(answerTime))
		if r.ContentLength != 0 { // a handler that reads the body sets its own; the body of a refused call is not read
			_ = deadline.SetReadDeadline(time.Now().Add(headTime))
		}
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler { //nolint // how a handler ends a connection
					panic(p)
				}
				s.metrics.panics.Add(1)
				s.log.Error("panic", "path", r.URL.Path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				if w.status == 0 {
					Problem(w, http.StatusInternalServerError, "the server failed; it is in its log")
				}
			}
			s.metrics.called(label(r.Pattern), w.status)
		}()
		if odd(r.URL.Path) {
			Problem(w, http.StatusNotFound, "there is no such page")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// odd reports whether a path has parts that could lead somewhere else than it says.
func odd(path string) bool {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "\\\x00") || !utf8.ValidString(path) {
		return true
	}
	parts := strings.Split(path[1:], "/")
	for i, part := range parts {
		if part == "." || part == ".." || part == "" && i < len(parts)-1 {
			return true
		}
	}
	return false
}

// label is what a call is counted under: the pattern that it met, never what the caller wrote.
func label(pattern string) string {
	if _, path, ok := strings.Cut(pattern, " "); ok {
		return path
	}
	return pattern
}

// watched remembers the status of an answer.
type watched struct {
	http.ResponseWriter
	status int
}

func (w *watched) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(data)
}

// Flush is for streams.
func (w *watched) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

// Unwrap is for [http.ResponseController].
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }
