package people

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The log has each call that changes something, by its pattern, and nothing that the caller wrote.
func TestCallsThatChangeSomethingAreLogged(t *testing.T) {
	var log bytes.Buffer
	s := &Server{cfg: Config{Log: slog.New(slog.NewJSONHandler(&log, nil))}}
	calls := http.NewServeMux()
	calls.HandleFunc("/api/v1/requests/{id}/deny", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
	})
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		r := httptest.NewRequest(method, "/api/v1/requests/secret/deny?secret", strings.NewReader("secret"))
		s.logged(calls, httptest.NewRecorder(), r)
	}
	text := log.String()
	if strings.Count(text, "\n") != 1 || !strings.Contains(text, `"pattern":"/api/v1/requests/{id}/deny","status":409,"ms":`) ||
		strings.Contains(text, "secret") {
		t.Error(text)
	}
}
