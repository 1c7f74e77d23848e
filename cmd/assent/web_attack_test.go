//go:build webe2e

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// A webAsker is a gate of the test's own on the project's store: its tools say what the test wants them to.
type webAsker struct {
	t     *testing.T
	store *store.Store
	tools *approvaltest.Tools
	gate  *approval.Gate
	done  *sync.WaitGroup
}

func (p *project) asker(change ...func(*approval.Config)) *webAsker {
	p.t.Helper()
	s, err := store.Open(p.t.Context(), filepath.Join(p.home, "state", "assent"), store.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	a := &webAsker{t: p.t, store: s, tools: approvaltest.NewTools("send"), done: new(sync.WaitGroup)}
	cfg := approval.Config{Preparer: a.tools, Clock: time.Now, NewID: rand.Text, Session: "s", Approver: approval.Queue(s), Requests: s,
		Rules: s, Grants: s, Recorder: s, Proofs: proof.Verifier(proof.NewBook(s).Key),
		Origin: func(context.Context) approval.Origin { return approval.Origin{Agent: "tester"} }}
	for _, c := range change {
		c(&cfg)
	}
	if a.gate, err = approval.New(cfg); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { a.gate.Close(); a.done.Wait(); s.Close() })
	return a
}

// asks begins a call that waits; its outcome comes later.
func (a *webAsker) asks(call policy.Call) <-chan approval.Outcome {
	out := make(chan approval.Outcome, 1)
	call.ID = rand.Text()
	if call.Arguments == nil {
		call.Arguments = []byte(`{"n":"` + call.ID + `"}`)
	}
	a.done.Go(func() { out <- a.gate.Decide(a.t.Context(), call)[0] })
	return out
}

// waits wants the call to be unanswered still.
func waits(t *testing.T, out <-chan approval.Outcome) {
	t.Helper()
	select {
	case o := <-out:
		t.Errorf("it ended: %s %v", o.State, o.Err())
	default:
	}
}

// ran waits for the end of the call, and wants it to be a yes.
func ran(t *testing.T, out <-chan approval.Outcome) {
	t.Helper()
	select {
	case o := <-out:
		if !o.Runs() {
			t.Errorf("it ended: %s %v", o.State, o.Err())
		}
	case <-time.After(patience):
		t.Fatal("it was never answered")
	}
}

// listen hears events of a tab.
func listen[E any](b *page, event cdp.Event[E], do func(E)) {
	events := chromedp.Events(b.ctx, event)
	go func() {
		for e, err := range events {
			if err != nil {
				return
			}
			do(e)
		}
	}()
}

// A guard hears what a tab does that it never should: calls of other hosts, violations of its policy, errors
// and dialogs.
type guard struct {
	mu  sync.Mutex
	bad []string
}

func (g *guard) says(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bad = append(g.bad, fmt.Sprintf(format, args...))
}

// spotless is what the page's own script may never call; a payload that runs does.
const spotless = `window.bad = []; window.pwn = (where) => bad.push("ran: " + where);
addEventListener("securitypolicyviolation", (e) => bad.push("policy: " + e.violatedDirective + " " + e.blockedURI));`

// watched has a tab report what it never should do, from its next page on.
func (b *page) watched() *guard {
	b.t.Helper()
	g := &guard{}
	listen(b, network.RequestWillBeSent, func(e network.EventRequestWillBeSent) {
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "data" && u.Scheme != "blob" && !strings.HasPrefix(e.Request.URL, b.url+"/") {
			g.says("a call of %s", e.Request.URL)
		}
	})
	listen(b, cdppage.JavascriptDialogOpening, func(e cdppage.EventJavascriptDialogOpening) { g.says("a dialog: %s", e.Message) })
	listen(b, cdppage.WindowOpen, func(e cdppage.EventWindowOpen) { g.says("a window of %s", e.URL) })
	b.do(called(network.Enable, network.EnableParams{}),
		called(cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: spotless}))
	return g
}

// clean wants that nothing bad was heard, nor written down by the page.
func (g *guard) clean(b *page, where string) {
	b.t.Helper()
	for _, bad := range js[[]string](b, "bad") {
		b.t.Errorf("%s: %s", where, bad)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, bad := range g.bad {
		b.t.Errorf("%s: %s", where, bad)
	}
	g.bad = nil
}

// anotherOrigin serves a page of another origin that attacks; it is what an agent's own development server could be.
func anotherOrigin(t *testing.T) (localhost, address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/worker.js":
			w.Header().Set("Content-Type", "text/javascript")
		default:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><title>another</title><body>another page`)
		}
	}))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return "http://localhost:" + port, "http://127.0.0.1:" + port
}

// foreignAttacks run in a page of another origin. Each says what it got hold of, or nothing. OWN is the
// inbox and ID a request that waits there.
var foreignAttacks = map[string]string{
	"fetch":                  `(await (await fetch(OWN + "/api/v1/requests")).text())`,
	"fetch with credentials": `(await (await fetch(OWN + "/api/v1/requests", { credentials: "include" })).text())`,
	"fetch without cors":     `(await (await fetch(OWN + "/api/v1/requests", { mode: "no-cors", credentials: "include" })).text())`,
	"fetch of the page":      `(await (await fetch(OWN + "/")).text())`,
	"fetch of the script":    `(await (await fetch(OWN + "/static/app.js")).text())`,
	"an answer":              `(await fetch(OWN + "/api/v1/requests/" + ID + "/answer", { method: "POST", body: '{"answer":"approve"}', headers: { "Content-Type": "application/json", "Idempotency-Key": "12345678" } })).status`,
	"an answer as plain text": `((r) => r.type === "opaque" ? "" : r.status)(await fetch(OWN + "/api/v1/requests/" + ID + "/answer",
		{ method: "POST", mode: "no-cors", credentials: "include", body: '{"answer":"approve"}', headers: { "Content-Type": "text/plain" } }))`,
	"a beacon": `(navigator.sendBeacon(OWN + "/api/v1/requests/" + ID + "/answer", '{"answer":"approve"}'), "")`,
	"a form": `(() => { const f = Object.assign(document.createElement("form"), { method: "POST", action: OWN + "/api/v1/requests/" + ID + "/answer", enctype: "text/plain", target: "sink" });
		document.body.append(Object.assign(document.createElement("iframe"), { name: "sink" }), f); f.append(Object.assign(document.createElement("input"), { name: '{"answer":"approve","x":"', value: '"}' })); f.submit(); return ""; })()`,
	"being let in":                  `(await fetch(OWN + "/api/v1/keys", { method: "POST", mode: "no-cors", body: '{"code":"x","public":"","name":"x"}', headers: { "Content-Type": "text/plain" } })).status || ""`,
	"a script":                      `await load("script", { src: OWN + "/api/v1/requests" })`,
	"our own script":                `await load("script", { src: OWN + "/static/app.js", type: "module" })`,
	"a style":                       `await load("link", { rel: "stylesheet", href: OWN + "/static/style.css" })`,
	"a picture":                     `await load("img", { src: OWN + "/static/icon.svg" })`,
	"an object":                     `await load("object", { data: OWN + "/", type: "text/html" })`,
	"a socket":                      `await new Promise((done) => { const s = new WebSocket(OWN.replace("http", "ws") + "/api/v1/events"); s.onopen = () => done("open"); s.onerror = () => done(""); })`,
	"an event source":               `await new Promise((done) => { const s = new EventSource(OWN + "/api/v1/events"); s.onopen = () => done("open"); s.onerror = () => { s.close(); done(""); }; })`,
	"a service worker":              `await navigator.serviceWorker.register(OWN + "/static/app.js").then(() => "registered")`,
	"a service worker of our scope": `await navigator.serviceWorker.register("/worker.js", { scope: OWN + "/" }).then(() => "registered")`,
	"a shared worker":               `(new SharedWorker(OWN + "/static/app.js"), "made")`,
	"the key's database":            `((await indexedDB.databases()).some((d) => d.name === "assent") ? "found" : "")`,
	"the lock of the stream":        `await navigator.locks.request("assent-stream", { ifAvailable: true }, (lock) => lock ? "" : "shared")`,
	"the storage":                   `(localStorage.length || sessionStorage.length || document.cookie ? "found" : "")`,
	"the caches":                    `((await caches.keys()).length ? "found" : "")`,
	"the channel": `(() => { window.heard = []; const c = new BroadcastChannel("assent"); c.onmessage = (e) => heard.push(e.data);
		c.postMessage({ name: "ended", data: { id: ID, state: "approved", by: "nobody" } }); return ""; })()`,
	"a frame": `await (() => { const f = Object.assign(document.createElement("iframe"), { src: OWN + "/r/" + ID, id: "frame" }); document.body.append(f);
		return new Promise((done) => f.onload = () => { try { done(f.contentWindow.document.body.innerText) } catch { done("") } }); })()`,
	"a frame without our origin": `await (() => { const f = Object.assign(document.createElement("iframe"), { src: OWN + "/", sandbox: "allow-scripts" }); document.body.append(f);
		return new Promise((done) => f.onload = () => done("")); })()`,
	"a window and its place": `(() => { window.opened = open(OWN + "/r/" + ID); try { return opened?.document?.body?.innerText ?? "" } catch { return "" } })()`,
}

// No page of another origin gets hold of anything, whatever port and name it has; and the inbox goes on.
func TestWeb_AttackFromAnotherOrigin(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	a := p.asker()
	a.tools.Set("send", approval.Proposal{Summary: "the secret summary"})
	out := a.asks(policy.Call{Tool: "send"})
	b.sees("the secret summary")
	id := js[string](b, "document.querySelector('.items li').dataset.id")
	localhost, address := anotherOrigin(t)
	tried := 0
	for _, origin := range []string{localhost, address} {
		evil := tabOf(t, b.ctx)
		evil.do(chromedp.Navigate(origin + "/"))
		js[bool](evil, `(window.OWN = `+quoted(b.url)+`, window.ID = `+quoted(id)+`,
			window.load = (tag, with_) => new Promise((done) => { const e = Object.assign(document.createElement(tag), with_); e.onload = () => done("loaded"); e.onerror = () => done(""); document.body.append(e); }), true)`)
		for name, attack := range foreignAttacks {
			tried++
			got := js[string](evil, `(async () => { try { return String(`+attack+`) } catch (e) { return "" } })()`)
			if got != "" {
				t.Errorf("%s, %s: %q", origin, name, got)
			}
		}
		// What was framed is not our page, and what was opened has no way back.
		tree, err := chromedp.Run(evil.ctx, chromedp.Action[cdppage.GetFrameTreeResult](func(ctx context.Context, _ *chromedp.Target) (cdppage.GetFrameTreeResult, error) {
			return chromedp.Call(ctx, cdppage.GetFrameTree, cdp.Empty{})
		}))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range tree.FrameTree.ChildFrames {
			if f.Frame.UnreachableURL == "" && strings.HasPrefix(f.Frame.URL, b.url) && !strings.HasSuffix(f.Frame.URL, "/answer") {
				t.Errorf("%s: %s is framed", origin, f.Frame.URL)
			}
		}
		evil.until("opened?.closed !== false") // the opener policy takes the window away from who opened it
		if heard := js[int](evil, "heard.length"); heard != 0 {
			t.Errorf("%s: it heard %d messages", origin, heard)
		}
	}
	t.Logf("%d attacks from other origins", tried)
	// Other names of the same server are not ours either.
	port := b.url[strings.LastIndex(b.url, ":"):]
	for _, name := range []string{"http://evil.localhost" + port, "http://127.0.0.1" + port, "http://[::1]" + port, "http://localhost." + port} {
		evil := tabOf(t, b.ctx)
		evil.do(chromedp.Navigate(name + "/"))
		if text := js[string](evil, "document.body.innerText"); !strings.Contains(text, "this server is localhost") {
			t.Errorf("%s shows %q", name, text)
		}
	}
	waits(t, out)
	// The page has moved nowhere and still answers.
	if text := js[string](b, "document.querySelector('.items li .ended').textContent"); text != "" {
		t.Errorf("the list says %q", text)
	}
	b.do(chromedp.Click(".items a"), chromedp.WaitEnabled("[data-answer=approve]"), chromedp.KeyEvent("y"))
	ran(t, out)
}

// A link with a code that is none, which another page may open, locks nobody out and lets nobody in.
func TestWeb_AttackWithALink(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	a := p.asker()
	out := a.asks(policy.Call{Tool: "send"})
	before := js[string](b, keyID)
	for _, fragment := range []string{"/#code=AAAAAAAAAAAAAAAAAAAAAAAAAA", "/r/x#code=<img src=x onerror=pwn()>", "/#code=x&code=y"} {
		evil := tabOf(t, b.ctx)
		evil.url = b.url
		g := evil.watched()
		evil.do(chromedp.Navigate(b.url + fragment))
		evil.until("document.querySelector('main > *')")
		g.clean(evil, fragment)
		if hash := js[string](evil, "location.hash"); hash != "" {
			t.Errorf("%s: the code stays in the address: %s", fragment, hash)
		}
	}
	if after := js[string](b, keyID); after != before || before == "" {
		t.Errorf("the key was %q and is %q", before, after)
	}
	b.open("/status#code=AAAAAAAAAAAAAAAAAAAAAAAAAA")
	b.open("/")
	b.do(chromedp.Click(".items a"), chromedp.WaitEnabled("[data-answer=approve]"), chromedp.KeyEvent("y"))
	ran(t, out)
}

// keyID is the id of the key that this browser keeps. The key itself cannot be taken out.
const keyID = `new Promise((done, fail) => { const open = indexedDB.open("assent", 1); open.onerror = () => fail(open.error);
	open.onsuccess = () => { const get = open.result.transaction("keys").objectStore("keys").get("key"); get.onsuccess = () => { open.result.close(); done(get.result?.id ?? ""); }; }; })`
