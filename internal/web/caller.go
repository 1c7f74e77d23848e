package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/assent-dev/assent/internal/proof"
)

// A caller is who calls the API: a person's browser, or a program with a token.
type caller struct {
	key    string      // the id of the browser's key
	public []byte      // its public half
	token  proof.Token // if it has no key
	secret string      // the token's
	holder string      // the name of either
}

// person reports whether a browser calls that a person let in.
func (c caller) person() bool { return c.key != "" }

// may reports whether the caller has a right.
func (c caller) may(r proof.Right) bool { return c.person() || c.token.May(r) }

type callerKey struct{}

// callerOf returns who calls. Without one it may do nothing.
func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// scheme is how a browser's call says whose it is: the key's id, the time in milliseconds, a nonce, and the
// signature over what [callText] returns.
const scheme = "Assent"

// callContext keeps the signature under a call from being taken for one under an answer.
const callContext = "assent-call-v1\x00"

// window is how old or early a call may be, and so how long its nonce is kept.
const window = 2 * time.Minute

// maxBody is how much a call may carry.
const maxBody = 4 << 20

var errCaller = errors.New("open the link that 'assent inbox --web' prints, or send a token that 'assent api token' makes")

// bodyTime is how long the body of a call may take.
const bodyTime = 20 * time.Second

// identify finds out who calls, and hands the request on with that. The body is read for it, once; of a
// caller that says nothing of itself, not even that.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(bodyTime))
		var body []byte
		var err error
		if r.Header.Get("Authorization") != "" {
			if body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
				Refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("a call has at most %d bytes, within %s", maxBody, bodyTime))
				return
			}
			_ = control.SetReadDeadline(time.Time{})
		}
		who, err := s.caller(r, body)
		if err != nil {
			w.Header().Set("WWW-Authenticate", scheme)
			Refuse(w, http.StatusUnauthorized, err.Error())
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), callerKey{}, who))
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func (s *Server) caller(r *http.Request, body []byte) (caller, error) {
	kind, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch kind {
	case scheme:
		return s.browser(r, rest, body)
	case "Bearer":
		t, ok, err := s.cfg.Book.Token(r.Context(), rest, s.cfg.Clock())
		if err != nil || !ok {
			return caller{}, cmpErr(err, errors.New("this token is unknown, has expired or was revoked"))
		}
		return caller{token: t, secret: rest, holder: t.Name}, nil
	}
	return caller{}, errCaller
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// browser checks the signature of a call.
func (s *Server) browser(r *http.Request, text string, body []byte) (caller, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 4 {
		return caller{}, errCaller
	}
	id, at, nonce := parts[0], parts[1], parts[2]
	signature, err := base64.RawURLEncoding.DecodeString(parts[3])
	if err != nil {
		return caller{}, errCaller
	}
	key, ok, err := s.cfg.Book.Live(r.Context(), id, s.cfg.Session, s.cfg.Clock())
	if err != nil || !ok {
		return caller{}, cmpErr(err, errors.New("this browser was not let in, or no longer is: open a new link"))
	}
	if err := proof.VerifySignature(key.Public, callText(r, at, nonce, body), signature); err != nil {
		return caller{}, err
	}
	ms, err := strconv.ParseInt(at, 10, 64)
	now := s.cfg.Clock()
	if age := now.Sub(time.UnixMilli(ms)); err != nil || age > window || age < -window {
		return caller{}, errors.New("the call is too old, or from the future: is the clock right?")
	}
	if !s.nonces.first(id+"."+nonce, now) {
		return caller{}, errors.New("this call was made already")
	}
	return caller{key: id, public: key.Public, holder: key.Name}, nil
}

// callText is what a browser signs for a call.
func callText(r *http.Request, at, nonce string, body []byte) []byte {
	sum := sha256.Sum256(body)
	return []byte(callContext + strings.Join([]string{r.Method, r.URL.RequestURI(), at, nonce, hex.EncodeToString(sum[:])}, "\n"))
}

// nonces are those of the calls of the last minutes.
type nonces struct {
	mu    sync.Mutex
	seen  map[string]time.Time
	swept time.Time
}

// first reports whether a nonce is new.
func (n *nonces) first(nonce string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now.Sub(n.swept) > window {
		for k, at := range n.seen {
			if now.Sub(at) > 2*window {
				delete(n.seen, k)
			}
		}
		n.swept = now
	}
	if _, ok := n.seen[nonce]; ok {
		return false
	}
	n.seen[nonce] = now
	return true
}

// still reports whether a caller may go on with a call that lasts: a key or token may have been revoked.
func (s *Server) still(ctx context.Context) bool {
	c := callerOf(ctx)
	if !c.person() {
		_, ok, err := s.cfg.Book.Token(ctx, c.secret, s.cfg.Clock())
		return ok && err == nil
	}
	_, ok, err := s.cfg.Book.Live(ctx, c.key, s.cfg.Session, s.cfg.Clock())
	return ok && err == nil
}
