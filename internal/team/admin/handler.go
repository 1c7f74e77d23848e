package admin

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/wire"
)

// A Body reads a call of at most so many bytes whose head is signed. Call done when the body is not needed any more. If ok
// is false, the call has been answered.
type Body func(w http.ResponseWriter, r *http.Request, most int) (body []byte, done func(), ok bool)

// Handler answers the calls of a [Remote], below /policy/ and /audit/. With the team's key, a caller can read the
// directory and the records, and publish. A machine can get proofs of its own records. The server's file has the public
// half of the team's key.
func Handler(l *Local, key wire.Verifier, clock func() time.Time, read Body) http.Handler {
	mux := http.NewServeMux()
	signed := func(pattern string, most int, do func(w http.ResponseWriter, r *http.Request, body []byte) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if !wire.IsPolicyCall(r) { // before anything of it is read
				problem(w, http.StatusUnauthorized, "this needs the team's key; name its file with --key")
				return
			}
			check, err := wire.VerifyPolicyCallHead(r, key, clock())
			if err != nil {
				problem(w, http.StatusUnauthorized, err.Error())
				return
			}
			body, done, ok := read(w, r, most)
			if !ok {
				return
			}
			defer done()
			if err := check(body); err != nil {
				problem(w, http.StatusUnauthorized, err.Error())
				return
			}
			if err := do(w, r, body); err != nil {
				l.fail(w, r, err)
			}
		})
	}
	signed("GET "+directoryPath, 0, func(w http.ResponseWriter, r *http.Request, _ []byte) error {
		d, err := l.Directory(r.Context())
		return answer(w, d, err)
	})
	signed("GET "+bundlesPath, 0, func(w http.ResponseWriter, r *http.Request, _ []byte) error {
		most, err := strconv.Atoi(r.URL.Query().Get("most"))
		if err != nil {
			most = 0
		}
		all, err := l.Bundles(r.Context(), most)
		return answer(w, all, err)
	})
	signed("POST "+publishPath, bundle.MaxBytes, func(w http.ResponseWriter, r *http.Request, body []byte) error {
		return answer(w, struct{}{}, l.Publish(r.Context(), body))
	})
	signed("GET "+recordsPath, 0, func(w http.ResponseWriter, r *http.Request, _ []byte) error {
		since, err := time.Parse(time.RFC3339Nano, r.URL.Query().Get("since"))
		if err != nil {
			return &refusal{http.StatusBadRequest, "since is not a time"}
		}
		streamRecords(w, r, l, since)
		return nil
	})
	mux.HandleFunc("GET "+provePath, func(w http.ResponseWriter, r *http.Request) {
		if err := l.prove(w, r, key, clock()); err != nil {
			l.fail(w, r, err)
		}
	})
	return mux
}

// streamTime is how long a client may take for the next records.
const streamTime = time.Minute

// streamRecords writes a line for each record, and one at the end.
func streamRecords(w http.ResponseWriter, r *http.Request, l *Local, since time.Time) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	deadline := http.NewResponseController(w)
	enc := json.NewEncoder(w)
	n := 0
	for s, err := range l.Records(r.Context(), since) {
		if err != nil {
			_ = enc.Encode(recordLine{Problem: "the records could not be read"})
			return
		}
		if n%1000 == 0 {
			_ = deadline.SetWriteDeadline(time.Now().Add(streamTime))
		}
		if n++; enc.Encode(recordLine{Shipped: s}) != nil {
			return
		}
	}
	_ = enc.Encode(recordLine{End: true})
}

func answer(w http.ResponseWriter, v any, err error) error {
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	return json.NewEncoder(w).Encode(v)
}

// fail tells the caller, who has the team's key, what is wrong with what they sent, and of anything else only
// that it went wrong.
func (l *Local) fail(w http.ResponseWriter, r *http.Request, err error) {
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		problem(w, refused.status, refused.detail)
	case errors.Is(err, ErrConflict):
		problem(w, http.StatusConflict, err.Error())
	case errors.Is(err, bundle.ErrRefused):
		problem(w, http.StatusUnprocessableEntity, err.Error())
	default:
		if l.Failed != nil && r.Context().Err() == nil { // else nobody listens any more, or the server ends
			l.Failed(r, err)
		}
		problem(w, http.StatusServiceUnavailable, "the server cannot answer now, and its log says why; try again")
	}
}

func problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(wire.Problem{Title: http.StatusText(status), Status: status, Detail: detail})
}
