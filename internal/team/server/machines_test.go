//go:build all && linux

package server_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/server"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
)

// records makes n records of a log that go on after one with this number and hash.
func records(stream string, after int64, prev []byte, n int) wire.Records {
	out := wire.Records{Stream: stream}
	var chain audit.Chain
	for i := range n {
		row := wire.Record{Seq: after + int64(i) + 1, Prev: prev, Numbers: []int64{1, 2}, Texts: []string{"ended", "s1"},
			Body: fmt.Appendf(nil, `{"kind":"ended","n":%d}`, i)}
		sum := chain.Hash(row.Prev, row.Numbers, row.Texts, row.Body)
		row.Hash = sum[:]
		prev = row.Hash
		out.Rows = append(out.Rows, row)
	}
	return out
}

// A machine joins, gets the bundle, asks, hears the answer, ships its log and leaves.
func TestAMachine(t *testing.T) {
	f := newTeam(t)
	r := f.serve()
	g := r.join()
	if status := r.do("GET", "/gate/v1/bundle", g, nil, nil); status != 404 {
		t.Errorf("a bundle before there is one: %d", status)
	}
	note := f.bundle(1, g)
	if status, said := r.publish(note); status != 200 {
		t.Fatalf("publish: %d %s", status, said)
	}
	status, header, body := r.call("GET", "/gate/v1/bundle", g, nil)
	if status != 200 || !bytes.Equal(body, note) || header.Get("ETag") != `"1"` {
		t.Errorf("bundle: %d %v", status, header)
	}
	if status, _, _ := r.call("GET", "/gate/v1/bundle", g, nil, func(q *http.Request) { q.Header.Set("If-None-Match", `"1"`) }); status != 304 {
		t.Errorf("an unchanged bundle: %d", status)
	}

	id, refused := r.ask(g, f.question(g))
	if refused != "" {
		t.Fatal(refused)
	}
	ends := f.question(g, func(q *approval.Request) { q.Routing.Need.Expires = 50 * time.Millisecond })
	r.ask(g, ends)
	var news wire.News
	if status := r.do("GET", "/gate/v1/wait?after=0&serial=1", g, nil, &news); status != 200 || len(news.Answers) != 1 || news.Answers[0].State != policy.StateExpired ||
		news.Serial != 1 || news.Cursor == 0 {
		t.Errorf("news: %d %+v", status, news)
	}
	if status := r.do("POST", "/gate/v1/ended", g, []wire.Ended{{Request: id, State: policy.StateDenied, By: policy.Who{User: "ann"}}}, nil); status != 200 {
		t.Errorf("ended: %d", status)
	}
	if q, err := f.db.Request(t.Context(), id); err != nil || q.State != policy.StateDenied {
		t.Errorf("%v %v", q.State, err)
	}

	batch := records("g", 0, make([]byte, sha256.Size), 20)
	var kept wire.Kept
	if status := r.do("POST", "/gate/v1/audit", g, batch, &kept); status != 200 || kept.Seq != 20 || !bytes.Equal(kept.Hash, batch.Rows[19].Hash) {
		t.Errorf("audit: %d %+v", status, kept)
	}
	if status := r.do("POST", "/gate/v1/audit", g, batch, &kept); status != 200 || kept.Seq != 20 {
		t.Errorf("the same again: %d %+v", status, kept)
	}
	kept = wire.Kept{}
	if status := r.do("POST", "/gate/v1/audit", g, wire.Records{Stream: "g"}, &kept); status != 200 || kept.Seq != 20 {
		t.Errorf("how much is there: %d %+v", status, kept)
	}
	gap := records("g", 30, batch.Rows[19].Hash, 1)
	if status := r.do("POST", "/gate/v1/audit", g, gap, nil); status != 409 {
		t.Errorf("a gap: %d", status)
	}
	fork := records("g", 20, make([]byte, sha256.Size), 1)
	if status := r.do("POST", "/gate/v1/audit", g, fork, nil); status != 409 {
		t.Errorf("a fork: %d", status)
	}

	if status := r.do("POST", "/gate/v1/leave", g, struct{}{}, nil); status != 200 {
		t.Errorf("leave: %d", status)
	}
	r.refused(403, "has left the team", "GET", "/gate/v1/bundle", g, nil)
}

// A machine that waits is told of a new bundle, and the wait ends by itself when the server stops.
func TestWait(t *testing.T) {
	f := newTeam(t)
	r := f.serve()
	g := r.join()
	for serial := int64(1); serial <= 2; serial++ {
		got := make(chan wire.News)
		go func() {
			var news wire.News
			r.do("GET", fmt.Sprintf("/gate/v1/wait?after=0&serial=%d", serial-1), g, nil, &news)
			got <- news
		}()
		eventually(t, "the machine waits", func() bool { return strings.Contains(r.scrape(), "assent_waiting_machines 1\n") })
		f.must(func() error { _, err := f.db.Publish(t.Context(), f.bundle(serial, g), f.opens); return err }())
		if news := <-got; news.Serial != serial {
			t.Errorf("%+v", news)
		}
	}
	// Who has an older bundle hears of it at once.
	var news wire.News
	if r.do("GET", "/gate/v1/wait?after=0&serial=1", g, nil, &news); news.Serial != 2 {
		t.Errorf("%+v", news)
	}
	done := make(chan int)
	go func() { done <- r.do("GET", "/gate/v1/wait?after=0&serial=2", g, nil, nil) }()
	eventually(t, "the machine waits", func() bool { return strings.Contains(r.scrape(), "assent_waiting_machines 1\n") })
	began := time.Now()
	if err := r.server.Stop(t.Context()); err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("stop: %v after %v", err, time.Since(began))
	}
	if status := <-done; status != 200 {
		t.Errorf("who waited was told %d", status)
	}
}

func (f *team) opens(note []byte) (int64, error) {
	b, err := bundle.Open(note, f.trust)
	if err != nil {
		return 0, err
	}
	return b.Serial, nil
}

func TestHealthAndMetrics(t *testing.T) {
	f := newTeam(t)
	f.log = &bytes.Buffer{}
	r := f.serve(func(o *server.Options) {
		o.People = func(b server.Base) (http.Handler, error) {
			return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				if q.URL.Path == "/panic" {
					panic("oh")
				}
				fmt.Fprint(w, "people of ", b.Config.Team)
			}), nil
		}
	})
	for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n", "/": "people of Acme", "/inbox": "people of Acme"} {
		if status, _, body := r.call("GET", path, gate{}, nil); status != 200 || string(body) != want {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	r.refused(500, "in its log", "GET", "/panic", gate{}, nil)
	r.join()
	text := r.scrape()
	for _, want := range []string{"assent_panics_total 1\n", `assent_calls_total{path="/gate/v1/join",status="200"} 1` + "\n", "# TYPE assent_waiting_machines gauge\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	f.must(r.server.Stop(t.Context()))
	for line := range strings.Lines(f.log.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
	if text := f.log.String(); !strings.Contains(text, `"panic":"oh"`) || strings.Contains(text, f.dsn) {
		t.Errorf("the log: %s", text)
	}
}

// A webhook is told what kind of thing waits, signed, until it takes it; and nothing that the question shows.
func TestNotices(t *testing.T) {
	f := newTeam(t)
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	hook, err := standardwebhooks.NewWebhook(secret)
	f.must(err)
	var mu sync.Mutex
	got := map[string]string{} // by kind
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		if err := hook.Verify(body, q.Header); err != nil {
			t.Error(err)
		}
		var m struct{ Type string }
		_ = json.Unmarshal(body, &m)
		mu.Lock()
		defer mu.Unlock()
		got[m.Type] = string(body)
	}))
	defer receiver.Close()
	f.write("hook", secret)
	f.extra = "webhooks: [{url: " + receiver.URL + ", secret_file: hook}]\n"
	r := f.serve()
	g := r.join()
	r.ask(g, f.question(g, func(q *approval.Request) { q.Summary = "SECRET SUMMARY" }))
	eventually(t, "the notice", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return got[string(db.NoticeOpened)] != "" && got[string(db.NoticeJoined)] != ""
	})
	opened := got[string(db.NoticeOpened)]
	for _, want := range []string{`"project":"shop"`, `"asked":["sre"]`, `"urgency":"normal"`, `"id":"r_`, `"tool":"`} {
		if !strings.Contains(opened, want) {
			t.Errorf("%s is not in %s", want, opened)
		}
	}
	if strings.Contains(opened, "SECRET") || strings.Contains(opened, "/home/ann") || strings.Contains(opened, "arguments") {
		t.Errorf("it says too much: %s", opened)
	}
	eventually(t, "the outbox is empty", func() bool {
		all, err := f.db.TakeNotices(context.Background(), 10, time.Millisecond)
		return err == nil && len(all) == 0
	})
}

// A replica that stops while a webhook hangs gives the notice back: another need not wait until its lease ends.
func TestNoticesOfAReplicaThatStops(t *testing.T) {
	f := newTeam(t)
	hangs, end := make(chan struct{}, 1), make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		hangs <- struct{}{}
		<-end
	}))
	defer receiver.Close()
	defer close(end)
	f.write("hook", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	f.extra = "webhooks: [{url: " + receiver.URL + ", secret_file: hook}]\n"
	r := f.serve()
	r.join()
	<-hangs
	f.must(r.server.Stop(t.Context()))
	all, err := f.db.TakeNotices(t.Context(), 10, time.Minute)
	if err != nil || len(all) != 1 || all[0].Kind != db.NoticeJoined || all[0].Tries != 1 {
		t.Errorf("%v %+v", err, all)
	}
}

func TestCheck(t *testing.T) {
	f := newTeam(t)
	cfg, err := server.ReadConfig(f.file())
	f.must(err)
	wrong := func() (out []string) {
		for _, c := range server.Check(t.Context(), cfg) {
			if c.Err != nil {
				out = append(out, c.What+": "+c.Err.Error())
			}
		}
		return out
	}
	if got := wrong(); got != nil {
		t.Fatal(got)
	}
	for _, pair := range [][2]string{{cfg.LogKey, cfg.TLS.Key}, {cfg.TLS.Certificate, cfg.LogKey}, {"/nowhere/tls.pem", cfg.TLS.Key}} {
		broken := *cfg
		broken.TLS.Certificate, broken.TLS.Key = pair[0], pair[1]
		for _, c := range server.Check(t.Context(), &broken) {
			if c.What == "certificate" && (c.Err == nil || !strings.Contains(c.Err.Error(), pair[0])) {
				t.Errorf("certificate %s with key %s: %v", pair[0], pair[1], c.Err)
			}
		}
	}
	cfg.URL = "https://elsewhere.example.org"
	cfg.LogKey += "x"
	cfg.Database.DSNFile += "x"
	cfg.OIDC.Issuer = "http://127.0.0.1:1"
	cfg.Webhooks = []server.Webhook{{URL: "https://example.org", SecretFile: "/nowhere"}}
	if got := wrong(); len(got) != 5 {
		t.Errorf("%q", got)
	}
}

type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// A server whose sign-in service does not answer says so, and works.
func TestASignInServiceThatIsAwayIsLogged(t *testing.T) {
	f := newTeam(t)
	cfg, err := server.ReadConfig(f.file())
	f.must(err)
	cfg.OIDC.Issuer = "http://127.0.0.1:1"
	ctx, cancel := context.WithCancel(t.Context())
	said, ended := make(lines, 100), make(chan error, 1)
	go func() {
		ended <- server.Run(ctx, server.Options{Config: cfg, Log: slog.New(slog.NewJSONHandler(said, nil))})
	}()
	for line := range said {
		if strings.Contains(line, "nobody can sign in now") {
			if !strings.Contains(line, `"level":"WARN"`) || !strings.Contains(line, "127.0.0.1:1") {
				t.Error(line)
			}
			break
		}
	}
	cancel()
	f.must(<-ended)
}
