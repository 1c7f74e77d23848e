package web_test

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/web"
	"github.com/assent-dev/assent/policy"
)

// An answer that is sent again, because nobody heard that it was taken, counts once and says the same.
func TestAnswerIsRepeated(t *testing.T) {
	h := newHouse(t)
	b := h.browser()
	r, outcome := h.asks("hello")
	body, key := b.signed(r, r.Approve("")), http.Header{"Idempotency-Key": {rand.Text()}}
	path := "/api/v1/requests/" + r.ID + "/answer"
	first := b.call("POST", path, body, key)
	if first.status != 200 {
		t.Fatal(first)
	}
	<-outcome
	if again := b.call("POST", path, body, key); again.status != 200 || again.body != first.body {
		t.Errorf("again: %s, want %s", again, first)
	}
	// A server that was restarted has forgotten the key, and finds the answer.
	if again := b.answer(r, body); again.status != 200 {
		t.Errorf("under another key: %s", again)
	}
	if other := b.answer(r, b.signed(r, r.Deny(""))); other.status != http.StatusConflict || !strings.Contains(other.body, "approved by ann on desk (browser)") {
		t.Errorf("another answer: %s, want who won", other)
	}
}

// Who was faster is told to who was not.
func TestSomebodyElseAnswers(t *testing.T) {
	h := newHouse(t)
	b := h.browser()
	r, outcome := h.asks("hello")
	d := r.Deny("no")
	d.By = policy.Who{User: "bob", Via: policy.ViaTerminal}
	if err := h.store.Answer(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	<-outcome
	if got := b.answer(r, b.signed(r, r.Approve(""))); got.status != http.StatusConflict || !strings.Contains(got.body, "denied by bob (terminal)") {
		t.Error(got)
	}
}

// A token that may deny denies, and the record says that it was a program.
func TestATokenDenies(t *testing.T) {
	h := newHouse(t)
	_, secret, err := h.book.MakeToken(t.Context(), proof.Token{Name: "watchdog", Rights: []proof.Right{proof.RightDeny}})
	if err != nil {
		t.Fatal(err)
	}
	r, outcome := h.asks("hello")
	got := h.send("POST", "/api/v1/requests/"+r.ID+"/answer", []byte(`{"answer":"deny","note":"too late in the day","fingerprint":"`+r.Fingerprint.String()+`"}`),
		http.Header{"Authorization": {"Bearer " + secret}, "Content-Type": {"application/json"}, "Idempotency-Key": {rand.Text()}})
	if got.status != 200 {
		t.Fatal(got)
	}
	if o := <-outcome; o.State != policy.StateDenied || o.Decision.By.Via != policy.ViaAPI || o.Note() != "too late in the day" {
		t.Errorf("%+v", o)
	}
}

// An answer can be taken back until whoever asked has it.
func TestTakeBack(t *testing.T) {
	h := newHouse(t)
	b := h.browser()
	// Nobody waits for it: the run was deferred.
	batch := h.gate.Review(t.Context(), policy.Call{ID: "1", Tool: "send"})
	r := batch.Pending()[0]
	if err := h.store.Post(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	got := b.answer(r, b.signed(r, r.Approve("")))
	var said struct{ Answer string }
	if err := json.Unmarshal([]byte(got.body), &said); err != nil || got.status != 200 {
		t.Fatal(got)
	}
	if got := b.call("POST", "/api/v1/requests/"+r.ID+"/take-back", map[string]any{"answer": said.Answer}, nil); got.status != http.StatusNoContent {
		t.Fatal(got)
	}
	if p, err := h.store.Posted(t.Context(), r.ID); err != nil || p.Settled != nil {
		t.Errorf("%+v, %v; want it open again", p, err)
	}
	live, outcome := h.asks("hello")
	got = b.answer(live, b.signed(live, live.Approve("")))
	<-outcome
	_ = json.Unmarshal([]byte(got.body), &said)
	if got := b.call("POST", "/api/v1/requests/"+live.ID+"/take-back", map[string]any{"answer": said.Answer}, nil); got.status != http.StatusConflict {
		t.Errorf("after it was taken: %s", got)
	}
}

// A list comes in pages, and its ETag changes with it.
func TestPages(t *testing.T) {
	h := newHouse(t)
	b := h.browser()
	batchOf(t, h, 45)
	var ids []string
	after := ""
	for {
		got := b.call("GET", "/api/v1/requests?limit=20"+after, nil, nil)
		var page struct {
			Requests []struct{ ID string }
			Total    int
			Next     string
		}
		if err := json.Unmarshal([]byte(got.body), &page); err != nil || page.Total != 45 {
			t.Fatalf("%v: %s", err, got)
		}
		for _, r := range page.Requests {
			ids = append(ids, r.ID)
		}
		if after = "&after=" + page.Next; page.Next == "" {
			break
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 45 {
		t.Errorf("%d requests", len(ids))
	}
}

// batchOf posts requests that wait and waits until the server knows them.
func batchOf(t *testing.T, h *house, n int) {
	t.Helper()
	var calls []policy.Call
	for range n {
		calls = append(calls, policy.Call{ID: rand.Text(), Tool: "send", Arguments: []byte(`{"what":"x"}`)})
	}
	changed, stop := h.in.Watch()
	defer stop()
	if err := h.store.Post(t.Context(), h.gate.Review(t.Context(), calls...).Pending()...); err != nil {
		t.Fatal(err)
	}
	b := h.browser()
	for !strings.Contains(b.call("GET", "/api/v1/requests?limit=1", nil, nil).body, `"total":`+itoa(n)) {
		select {
		case <-changed:
		case <-time.After(10 * time.Millisecond): // the server looks by itself
		}
	}
}

func itoa(n int) string { text, _ := json.Marshal(n); return string(text) }

// The stream tells what comes, and goes on where a listener left; one that was away too long reads anew.
func TestEvents(t *testing.T) {
	h := newHouse(t)
	b := h.browser()
	first := listen(t, b, "")
	if e := first.next(); e.name != "reset" {
		t.Fatalf("first %+v", e)
	}
	r, outcome := h.asks("one")
	waiting := first.next()
	if waiting.name != "waiting" || !strings.Contains(waiting.data, r.ID) {
		t.Fatalf("%+v", waiting)
	}
	first.close()
	if got := b.answer(r, b.signed(r, r.Approve(""))); got.status != 200 {
		t.Fatal(got)
	}
	<-outcome
	second := listen(t, b, waiting.id)
	if e := second.next(); e.name != "ended" || !strings.Contains(e.data, `"approved"`) || !strings.Contains(e.data, "ann on desk (browser)") {
		t.Errorf("%+v", e)
	}
	if e := listen(t, b, "elsewhere-7").next(); e.name != "reset" {
		t.Errorf("from another server: %+v", e)
	}
}

type event struct{ id, name, data string }

type stream struct {
	t     *testing.T
	scan  *bufio.Scanner
	close func() error
}

func listen(t *testing.T, b *browser, last string) *stream {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", b.server.URL()+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", b.authorize("GET", "/api/v1/events", nil, time.Now(), rand.Text()))
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil || got.StatusCode != 200 {
		t.Fatal(err, got)
	}
	t.Cleanup(func() { got.Body.Close() })
	return &stream{t, bufio.NewScanner(got.Body), got.Body.Close}
}

func (s *stream) next() (e event) {
	s.t.Helper()
	for s.scan.Scan() {
		name, value, _ := strings.Cut(s.scan.Text(), ": ")
		switch name {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "":
			if e.name != "" {
				return e
			}
		}
	}
	s.t.Fatalf("the stream ended: %v", s.scan.Err())
	return e
}

// The description of the API is OpenAPI 3.1 and has every operation; errors are as RFC 9457 writes them.
func TestDescription(t *testing.T) {
	h := newHouse(t)
	b := h.browser()
	got := b.call("GET", "/api/v1/openapi.json", nil, nil)
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(got.body), &doc); err != nil || !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Fatalf("%v: %.300s", err, got)
	}
	for path, method := range map[string]string{"/api/v1/requests": "get", "/api/v1/requests/{id}": "get",
		"/api/v1/requests/{id}/answer": "post", "/api/v1/requests/{id}/take-back": "post", "/api/v1/keys": "get"} {
		if doc.Paths[path][method] == nil {
			t.Errorf("%s %s is not described", method, path)
		}
	}
	bad := b.call("GET", "/api/v1/requests/none", nil, nil)
	var problem struct {
		Title, Detail string
		Status        int
	}
	if err := json.Unmarshal([]byte(bad.body), &problem); err != nil || problem.Status != 404 || problem.Detail == "" ||
		bad.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%v: %s %v", err, bad, bad.header)
	}
}

// A port that is taken is an error that says so, on either address.
func TestPortIsTaken(t *testing.T) {
	h := newHouse(t)
	port := must(strconv.Atoi(h.server.URL()[strings.LastIndex(h.server.URL(), ":")+1:]))
	if _, err := web.Listen(t.Context(), port, web.Config{Desk: desk{h.in}, Book: h.book, Session: h.in.Session()}); err == nil || !strings.Contains(err.Error(), "taken by another program") {
		t.Errorf("%v", err)
	}
}

// What people of a team decide about says so, takes a denial, and no other answer.
func TestATeamDecides(t *testing.T) {
	h := newHouse(t)
	b := h.browser()
	r := h.gate.Review(t.Context(), policy.Call{ID: "c", Tool: "send", Arguments: []byte(`{"what":"hello"}`)}).Pending()[0]
	r.Routing = &approval.Routing{Tenant: "acme", Sponsor: "p_ann",
		Need: approval.Need{From: []approval.Count{{Group: "sre", Count: 2}}, Proof: approval.StrengthPasskey}}
	changed, stop := h.in.Watch()
	defer stop()
	if err := h.store.Post(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for len(h.in.Pending()) == 0 {
		<-changed
	}
	if got := b.call(http.MethodGet, "/api/v1/requests", nil, nil); !strings.Contains(got.body, `"team":"2 of sre, with a passkey"`) {
		t.Errorf("the list: %s", got)
	}
	for name, yes := range map[string]approval.Decision{"yes": r.Approve(""), "an answer in its place": r.Respond("done")} {
		if got := b.answer(r, b.signed(r, yes)); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "can only deny this") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := b.answer(r, b.signed(r, r.Deny("no"))); got.status != http.StatusOK {
		t.Errorf("no: %s", got)
	}
}
