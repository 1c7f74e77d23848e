package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/inbox"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/web"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// A house is a server on a real store, with a gate that asks.
type house struct {
	t      *testing.T
	store  *store.Store
	server *web.Server
	book   *proof.Book
	gate   *approval.Gate
	tools  *approvaltest.Tools
	in     *inbox.Inbox
}

type desk struct{ *inbox.Inbox }

func (d desk) About(ctx context.Context, r *approval.Request) web.About {
	about := d.Inbox.About(ctx, r)
	return web.About{Agent: about.From, Session: r.Call.Session, Problem: about.Problem}
}

func newHouse(t *testing.T, change ...func(*web.Config)) *house {
	t.Helper()
	s, err := store.Open(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	in, err := inbox.Open(t.Context(), s, inbox.Options{Owner: store.ThisProcess()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	h := &house{t: t, store: s, book: proof.NewBook(s), in: in}
	cfg := web.Config{Desk: desk{in}, Book: h.book, Session: in.Session(), Who: policy.Who{User: "ann", Host: "desk"}}
	for _, c := range change {
		c(&cfg)
	}
	if h.server, err = web.Listen(t.Context(), 0, cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.server.Close() })
	h.newGate()
	return h
}

// newGate makes the gate that asks.
func (h *house) newGate() {
	h.t.Helper()
	h.tools = approvaltest.NewTools("send", "mail")
	var err error
	h.gate, err = approval.New(approval.Config{Preparer: h.tools, Clock: time.Now, NewID: rand.Text, Session: "s",
		Approver: approval.Queue(h.store), Requests: h.store, Rules: h.store, Recorder: h.store, Proofs: proof.Verifier(h.book.Key)})
	if err != nil {
		h.t.Fatal(err)
	}
}

// asks begins a call that waits, and returns its request and where its outcome comes.
func (h *house) asks(what string) (*approval.Request, <-chan approval.Outcome) {
	h.t.Helper()
	out := make(chan approval.Outcome, 1)
	before := map[string]bool{}
	for _, r := range h.in.Pending() {
		before[r.ID] = true
	}
	changed, stop := h.in.Watch()
	defer stop()
	var done sync.WaitGroup
	h.t.Cleanup(done.Wait)
	done.Go(func() {
		text, _ := json.Marshal(what)
		out <- h.gate.Decide(h.t.Context(), policy.Call{ID: rand.Text(), Tool: "send", Arguments: []byte(`{"what":` + string(text) + `}`)})[0]
	})
	for {
		for _, r := range h.in.Pending() {
			if !before[r.ID] {
				return r, out
			}
		}
		<-changed
	}
}

// A browser is a key that was let in, and calls.
type browser struct {
	*house
	id      string
	private *ecdsa.PrivateKey
}

func newKey(t *testing.T) (*ecdsa.PrivateKey, []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return private, public
}

func (h *house) browser() *browser {
	h.t.Helper()
	private, public := newKey(h.t)
	_, code, _ := strings.Cut(h.server.Link(), "#code=")
	body, _ := json.Marshal(map[string]any{"code": code, "public": public, "name": "test"})
	response := h.send(http.MethodPost, "/api/v1/keys", body, http.Header{"Content-Type": {"application/json"}, "Origin": {h.server.URL()}})
	if response.status != http.StatusOK {
		h.t.Fatalf("letting in: %s", response)
	}
	return &browser{h, proof.ID(public), private}
}

type response struct {
	status int
	header http.Header
	body   string
}

func (r response) String() string { return fmt.Sprintf("%d %s", r.status, r.body) }

// send makes one request and reads all of the answer.
func (h *house) send(method, path string, body []byte, header http.Header) response {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.server.URL()+path, bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	for k, v := range header {
		r.Header[k] = v
	}
	if host := header.Get("Host"); host != "" {
		r.Host = host
		r.Header.Del("Host")
	}
	got, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return response{status: -1, body: err.Error()}
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return response{got.StatusCode, got.Header, string(text)}
}

func (b *browser) sign(message string) []byte {
	sum := sha256.Sum256([]byte(message))
	r, s, err := ecdsa.Sign(rand.Reader, b.private, sum[:])
	if err != nil {
		b.t.Fatal(err)
	}
	out := make([]byte, 64)
	r.FillBytes(out[:32])
	s.FillBytes(out[32:])
	return out
}

// authorize signs a call.
func (b *browser) authorize(method, path string, body []byte, at time.Time, nonce string) string {
	sum := sha256.Sum256(body)
	ms := fmt.Sprint(at.UnixMilli())
	text := "assent-call-v1\x00" + strings.Join([]string{method, path, ms, nonce, hex.EncodeToString(sum[:])}, "\n")
	return "Assent " + strings.Join([]string{b.id, ms, nonce, base64.RawURLEncoding.EncodeToString(b.sign(text))}, ".")
}

func (b *browser) call(method, path string, body any, header http.Header) response {
	b.t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			b.t.Fatal(err)
		}
	}
	all := http.Header{"Authorization": {b.authorize(method, path, text, time.Now(), rand.Text())}, "Content-Type": {"application/json"}}
	for k, v := range header {
		all[k] = v
	}
	return b.send(method, path, text, all)
}

// signed is an answer with its proof.
func (b *browser) signed(r *approval.Request, d approval.Decision, change ...func(*approval.Statement)) map[string]any {
	b.t.Helper()
	view, err := r.ViewDigest(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	s := d.States(view)
	s.Expires, s.Nonce = time.Now().Add(time.Minute).Unix(), rand.Text()
	for _, c := range change {
		c(&s)
	}
	text, err := json.Marshal(s)
	if err != nil {
		b.t.Fatal(err)
	}
	out := map[string]any{"answer": d.Answer, "fingerprint": d.Fingerprint, "proof": approval.Proof{
		Credential: b.id, Statement: string(text), Signature: b.sign(string(proof.Answer(string(text))))}}
	for name, text := range map[string]string{"note": d.Note, "result": d.Result, "choice": d.Choice} {
		if text != "" {
			out[name] = text
		}
	}
	if d.Arguments != nil {
		out["arguments"] = d.Arguments
	}
	if d.Remember.Keep != "" {
		out["remember"] = d.Remember
	}
	return out
}

func (b *browser) answer(r *approval.Request, body map[string]any) response {
	b.t.Helper()
	return b.call(http.MethodPost, "/api/v1/requests/"+r.ID+"/answer", body, http.Header{"Idempotency-Key": {rand.Text()}})
}

// A person reads a request, answers it, and the call that asked goes on; the record has the signature.
func TestAnswer(t *testing.T) {
	h := newHouse(t)
	b := h.browser()
	r, outcome := h.asks("hello")
	if got := b.call(http.MethodGet, "/api/v1/requests", nil, nil); got.status != 200 || !strings.Contains(got.body, r.ID) {
		t.Fatalf("the list: %s", got)
	}
	got := b.call(http.MethodGet, "/api/v1/requests/"+r.ID, nil, nil)
	if got.status != 200 || !strings.Contains(got.body, r.Fingerprint.String()) || got.header.Get("ETag") == "" {
		t.Fatalf("the request: %s", got)
	}
	if got := b.answer(r, b.signed(r, r.Approve("fine"))); got.status != 200 {
		t.Fatalf("the answer: %s", got)
	}
	o := <-outcome
	if !o.Runs() || o.Decision.By.Via != policy.ViaBrowser || o.Decision.By.User != "ann" || o.Decision.Proof == nil {
		t.Errorf("the outcome is %+v", o)
	}
}

// Files come compressed to who takes that, and as they are to others.
func TestFilesAreCompressed(t *testing.T) {
	h := newHouse(t)
	get := func(encoding string) (*http.Response, []byte) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, h.server.URL()+"/static/app.js", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", encoding) // set by hand, nothing is unpacked for us
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		body, err := io.ReadAll(got.Body)
		if err != nil || got.StatusCode != http.StatusOK || !strings.Contains(got.Header.Get("Content-Type"), "javascript") {
			t.Fatal(got.Status, got.Header, err)
		}
		return got, body
	}
	_, plain := get("identity")
	packed, body := get("gzip, br")
	unpack, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	same, err := io.ReadAll(unpack)
	if err != nil || !bytes.Equal(plain, same) || packed.Header.Get("Content-Encoding") != "gzip" || len(body) > len(plain)/2 {
		t.Errorf("%d bytes of %d, %v, %v", len(body), len(plain), packed.Header, err)
	}
}
