//go:build webe2e

package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
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
	"github.com/assent-dev/assent/present"
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
	if js[bool](b, "Boolean(document.querySelector('.items .over'))") {
		t.Error("the list says that it has ended")
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

// payload is what somebody may write where only a text belongs. It says where it is, so that the test can
// see it there, and calls pwn if anything of it runs.
func payload(where string) string {
	return where + `"'` + "`" + `><img src=x onerror=pwn("` + where + `")><svg onload=pwn(1)><script>pwn(2)</script><iframe src="javascript:pwn(3)"></iframe>` +
		`</textarea></title></script></style></template><style>.answers,main{display:none!important}</style><base href=//127.0.0.1:9><a href="javascript:pwn(4)" style="position:fixed;inset:0">x</a>` +
		"<form action=//127.0.0.1:9><button data-answer=approve>y</button></form><dialog open>z</dialog>{{.}}${pwn(5)}" +
		"\x1b[31m\x1b]8;;http://127.0.0.1:9\x07\u202e\u2066\u200b\u200d\ufeff\u2028\r\x00\x07\u0085" + `<meta http-equiv=refresh content="0;url=http://127.0.0.1:9">`
}

// foreignElements are what our own pages never have, or only so many of: what a payload would have made.
const foreignElements = `[...document.querySelectorAll("iframe, object, embed, base, style, body meta, body link, img:not([src^='data:image/']), body script:not(#arguments), form[action], form button[data-answer], main a[style], [onload], [onerror], a[href^='javascript']")]
	.map((e) => e.outerHTML.slice(0, 100))`

// hiddenText are the characters that a text can hide or turn something with; on the page they are only in
// fields that are edited.
const hiddenText = `(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/.exec(document.body.innerText)?.[0].codePointAt(0).toString(16) ?? "")`

// reachable reports whether both answers are where they belong, and on top of everything else.
const reachable = `[...document.querySelectorAll(".answers button")].every((b) => { const r = b.getBoundingClientRect();
	return r.width > 40 && r.bottom <= innerHeight && r.right <= innerWidth && b.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)); })`

// looks wants the tab to be spotless, with the marks of the payloads to be seen in it.
func (g *guard) looks(b *page, where string, marks ...string) {
	b.t.Helper()
	b.sees(marks...)
	g.clean(b, where)
	if found := js[[]string](b, foreignElements); len(found) > 0 {
		b.t.Errorf("%s: elements from a text: %q", where, found)
	}
	if found := js[string](b, hiddenText); found != "" {
		b.t.Errorf("%s: the character U+%s is shown as it is", where, found)
	}
}

// What a model, a repository or a server wrote is text on every page, in every field.
func TestWeb_AttackByMarkup(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	g := b.watched()
	evil := func(where string) string { return payload("«" + where + "»") }
	a := p.asker(func(c *approval.Config) {
		c.Origin = func(context.Context) approval.Origin {
			return approval.Origin{Agent: evil("agent"), Folder: "/" + evil("folder"), Branch: evil("branch")}
		}
		c.Session = evil("session")
	})
	clean := strings.NewReplacer("\x00", "").Replace // no name has this
	arguments, err := json.Marshal(map[string]any{evil("key"): evil("value"), "text": evil("edited"), "n": json.Number("12345678901234567890")})
	if err != nil {
		t.Fatal(err)
	}
	facts := present.Facts{}
	for name, value := range map[string]string{present.FactCwd: evil("cwd"), present.FactURL: evil("url"), "extra": evil("fact")} {
		facts = append(facts, present.TextFact(name, value))
	}
	call := policy.Call{Connector: clean(evil("connector")), Tool: clean(evil("tool")), Arguments: arguments, Workers: []string{evil("first"), evil("second")}}
	acts := []policy.Act{
		{Name: "write_file", Known: true, Verdict: policy.VerdictAsk, Target: policy.PathTarget(evil("path")), Why: evil("why")},
		{Name: "shell", Known: true, Verdict: policy.VerdictAsk, Target: policy.CommandTarget("echo", evil("word")), Dir: evil("dir")},
		{Name: "read_file", Known: true, Verdict: policy.VerdictFree, Target: policy.PathTarget("notes/a.md")},
	}
	png := "\x89PNG\r\n\x1a\n" + evil("polyglot")
	views := []present.View{
		{Kind: present.KindDiff, Facts: facts, Content: "--- a\n+++ b\n@@ -1,2 +1,2 @@ " + strings.ReplaceAll(evil("section"), "\r", "") + "\n-old " + evil("removed") + "\n+new " + evil("added") + "\n same\n"},
		{Kind: present.KindCommand, Facts: facts, Content: "echo " + evil("command"), Original: evil("original")},
		{Kind: present.KindFile, Facts: facts, Content: evil("file"), Language: "html"},
		{Kind: present.KindFile, Facts: facts, Content: png},
		{Kind: present.KindFile, Facts: facts, Content: `<svg xmlns="http://www.w3.org/2000/svg" onload="pwn(6)"><script>pwn(7)</script></svg>` + evil("svg")},
		{Kind: present.KindFile, Facts: facts, Content: "GIF89a" + evil("gif")},
		{Kind: present.KindText, Facts: facts, Content: evil("text")},
		{Kind: present.KindStructured, Facts: facts, Content: string(arguments)},
	}
	marks := [][]string{{"«removed»", "«added»", "«section»"}, {"«command»", "«original»"}, {"«file»"}, {}, {"«svg»"}, {}, {"«text»"}, {"«key»", "«value»"}}
	listed := func(i int) string {
		return fmt.Sprintf("document.querySelector('.items').textContent.includes('number %d ')", i)
	}
	var out []<-chan approval.Outcome
	for i, view := range views {
		c := call
		c.Tool = fmt.Sprint(c.Tool, i)
		a.tools.Set(c.Name(), approval.Proposal{
			Acts: acts, Summary: fmt.Sprint("number ", i, " ", evil("summary")), Edit: approval.Editable{Argument: "text"},
			View: func(context.Context) (present.View, error) { return view, nil }, Dir: evil("dir"),
			Choices: []approval.Choice{{ID: "always", Label: evil("choice")}},
		})
		out = append(out, a.asks(c))
		b.until(listed(i)) // what is not on screen has no innerText
	}
	b.open("/")
	g.looks(b, "list", "«agent»", "«branch»", "«summary»", "«connector»")
	if tall := js[float64](b, "Math.max(...[...document.querySelectorAll('.items li')].map((li) => li.getBoundingClientRect().height))"); tall > 400 {
		t.Errorf("an item of the list is %v pixels high: a text pushes the others away", tall)
	}
	ids := js[[]string](b, "[...document.querySelectorAll('.items li')].map((li) => li.dataset.id)")
	for i := range views {
		where := fmt.Sprint("view ", i, " (", views[i].Kind, ")")
		b.open("/r/" + ids[i])
		b.armed()
		g.looks(b, where, append(marks[i], "«agent»", "«branch»", "«summary»", "«tool»", "«path»", "«why»", "«word»", "«first»", "«second»", "«choice»", "«cwd»", "«fact»")...)
		if !js[bool](b, reachable) {
			b.shot("hidden")
			t.Errorf("%s: the answers are hidden or moved", where)
		}
		for _, key := range []string{"?", "N", "e", "r"} {
			if i > 0 {
				break // the dialogs are the same
			}
			b.armed()
			b.press(key)
			b.do(chromedp.WaitVisible("dialog[open]"))
			g.looks(b, where+" "+key)
			if n := js[int](b, "document.querySelectorAll('dialog[open]').length"); n != 1 {
				t.Errorf("%s %s: %d dialogs", where, key, n)
			}
			b.do(chromedp.Click("dialog[open] [data-close]"))
		}
		waits(t, out[i])
	}
	// What is edited is the text itself, and comes back as it is.
	if text := js[string](b, "document.querySelector('#edit textarea').value"); !strings.Contains(text, "\u202e") {
		t.Errorf("what is edited is %q", text)
	}

	// Answers with notes, so that the log, the rules and the grants have payloads too.
	note := evil("note")
	open, err := a.store.Open(t.Context(), "")
	if err != nil || len(open) != len(views) {
		t.Fatalf("%d wait: %v", len(open), err)
	}
	for i, r := range open {
		d := r.Request.Deny(note)
		if i == 1 {
			d.By = policy.Who{User: evil("user"), Host: evil("host"), Via: policy.ViaCommand}
		}
		if err := a.store.Answer(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range out {
		<-o
	}
	rule, err := policy.ParseRule("allow write_file(notes/<img src=x onerror=pwn(8)>)")
	if err != nil {
		t.Fatal(err)
	}
	rule.ID, rule.Note, rule.Created, rule.Enabled, rule.Project = rand.Text(), evil("rule note"), time.Now(), true, "/«project»<img src=x onerror=pwn(9)>"
	if err := a.store.AddRules(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	book := proof.NewBook(a.store)
	if _, _, err := book.MakeToken(t.Context(), proof.Token{Name: evil("token"), Rights: []proof.Right{proof.RightRead}}); err != nil {
		t.Fatal(err)
	}
	b.open("/audit")
	g.looks(b, "audit", "«note»", "«user»")
	b.open("/audit?text=" + url.QueryEscape("«note»"))
	g.looks(b, "search", "«note»")
	b.open("/audit?before=" + url.QueryEscape(evil("before")) + "&text=" + url.QueryEscape(evil("search")))
	g.looks(b, "search for a payload")
	for _, seq := range []string{"1", "2"} {
		b.open("/audit/" + seq)
		g.looks(b, "record "+seq)
	}
	b.open("/rules")
	g.looks(b, "rules", "«rule note»", "«project»", "onerror=pwn(8)")
	js[bool](b, `(document.forms.add.rule.value = "allow write_file(" + `+quoted(clean(evil("tried")))+` + ")", true)`)
	b.do(chromedp.Click("[data-do=try]"))
	b.until("document.querySelector('#trial').innerText + document.querySelector('#said').innerText")
	g.looks(b, "trial")
	b.open("/status")
	g.looks(b, "status", "«token»")
	b.open("/explain")
	js[bool](b, `(document.querySelector("#what textarea").value = `+quoted("echo "+evil("explained"))+`, true)`)
	b.do(chromedp.Click("#what button"))
	b.until("document.querySelector('#answer').innerText")
	g.looks(b, "explain")
	for _, path := range []string{"/r/" + url.PathEscape(evil("id")), "/" + url.PathEscape(evil("path")), "/audit/" + url.PathEscape(evil("number")), "/audit?outcome=" + url.QueryEscape(evil("outcome"))} {
		b.do(chromedp.Navigate(b.url + path))
		b.until("document.querySelector('main > *, pre')") // a page or a problem
		g.looks(b, path[:10])
	}
}

// Thirty tabs share one stream, all of them live; when the one that listens is closed, another takes its place.
func TestWeb_AttackByTabs(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	a := p.asker()
	tabs := []*page{b}
	for range 29 {
		tabs = append(tabs, b.another("/"))
	}
	a.tools.Set("send", approval.Proposal{Summary: "the first"})
	first := a.asks(policy.Call{Tool: "send"})
	for _, tab := range tabs {
		tab.until("document.querySelector('.items')?.textContent.includes('the first')")
	}
	const streams = `performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/events")).length`
	const locks = `navigator.locks.query().then((all) => all.held.length + " " + all.pending.length)`
	if got := js[string](b, locks); got != "1 29" {
		t.Errorf("locks that are held and wanted: %s, want 1 29", got)
	}
	for i, tab := range tabs[1:] {
		if n := js[int](tab, streams); n != 0 {
			t.Errorf("tab %d has %d streams of its own", i+1, n)
		}
	}
	// Any of them answers.
	tabs[17].do(chromedp.Click(".items a"), chromedp.WaitEnabled("[data-answer=approve]"), chromedp.KeyEvent("y"))
	ran(t, first)
	for _, tab := range tabs {
		tab.until("!document.title.startsWith('(')")
	}
	// The listener goes.
	b.do(chromedp.Navigate("about:blank"))
	tabs[3].until(`navigator.locks.query().then((all) => all.held.length === 1 && all.pending.length === 28)`)
	a.tools.Set("send", approval.Proposal{Summary: "the second"})
	second := a.asks(policy.Call{Tool: "send"})
	for _, tab := range tabs[1:] {
		tab.until("document.title.startsWith('(1)')")
	}
	tabs[29].open("/")
	tabs[29].do(chromedp.Click(".items a"), chromedp.WaitEnabled("[data-answer=approve]"), chromedp.KeyEvent("n"))
	if o := <-second; o.Runs() {
		t.Error("it ran after a no")
	}
}

// A browser whose key is revoked hears and answers nothing any more, also on pages that are open, and after
// going back to them; all its tabs say so.
func TestWeb_AttackWithARevokedKey(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	a := p.asker()
	a.tools.Set("send", approval.Proposal{Summary: "the first"})
	out := a.asks(policy.Call{Tool: "send"})
	b.sees("the first")
	other := b.another("/")
	b.do(chromedp.Click(".items a"), chromedp.WaitEnabled("[data-answer=approve]"))
	if err := proof.NewBook(a.store).EndKeys(t.Context(), js[string](b, keyID), "", time.Now()); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.KeyEvent("y"))
	b.sees("This page cannot answer")
	other.sees("This page cannot answer") // within seconds, without doing anything
	waits(t, out)
	a.tools.Set("send", approval.Proposal{Summary: "the secret second"})
	a.asks(policy.Call{Tool: "send"})
	b.do(chromedp.Navigate("about:blank"), chromedp.NavigateBack())
	b.sees("This page cannot answer")
	b.do(chromedp.KeyEvent("y"))
	for _, tab := range []*page{b, other} {
		if text := js[string](tab, "document.body.textContent"); strings.Contains(text, "the secret second") {
			t.Errorf("it was told: %s", text)
		}
	}
	waits(t, out)
}

// Who comes back to a page with the browser's own back sees what is so now, and answers that.
func TestWeb_AttackByGoingBack(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	a := p.asker()
	a.tools.Set("send", approval.Proposal{Summary: "the first"})
	first := a.asks(policy.Call{Tool: "send"})
	b.sees("the first")
	b.do(chromedp.Click(".items a"), chromedp.WaitEnabled("[data-answer=approve]"))
	localhost, _ := anotherOrigin(t)
	b.do(chromedp.Navigate(localhost + "/"))
	open, err := a.store.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.store.Answer(t.Context(), open[0].Request.Deny("elsewhere")); err != nil {
		t.Fatal(err)
	}
	if o := <-first; o.Runs() {
		t.Fatal("it ran after a no")
	}
	a.tools.Set("send", approval.Proposal{Summary: "the second"})
	second := a.asks(policy.Call{Tool: "send"})
	b.do(chromedp.NavigateBack())
	b.until("document.body.innerText.includes('denied')") // who was faster, instead of an old question
	b.do(chromedp.KeyEvent("y"))
	b.open("/")
	b.sees("the second")
	waits(t, second)
}

// A page that another program served at the same port earlier can leave a service worker, which stands in for
// every page there. Under a name of its own the inbox is beyond its reach.
func TestWeb_AttackByAnEarlierPage(t *testing.T) {
	p := notesProject(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	earlier := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/worker.js" {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `addEventListener("install", () => skipWaiting()); addEventListener("activate", (e) => e.waitUntil(clients.claim()));
				addEventListener("fetch", (e) => e.respondWith(new Response("<h1>not assent</h1>", { headers: { "Content-Type": "text/html" } })));`)
			return
		}
		fmt.Fprint(w, `<script>navigator.serviceWorker.register("/worker.js")</script>`)
	})}
	go func() { _ = earlier.Serve(listener) }()
	b := newTab(t)
	b.do(chromedp.Navigate(fmt.Sprintf("http://localhost:%d/", port)))
	b.until("navigator.serviceWorker.controller")
	earlier.Close()
	_, link := p.serveWeb("--port", fmt.Sprint(port), "--own-name")
	if !strings.Contains(link, fmt.Sprintf(".localhost:%d/", port)) {
		t.Fatal(link)
	}
	b.do(chromedp.Navigate(fmt.Sprintf("http://localhost:%d/", port)))
	b.sees("not assent") // the worker is still there
	b.letIn(link)
	r := p.asksInbox()
	b.until("document.querySelector('.items a')")
	b.do(chromedp.Click(".items a"), chromedp.WaitEnabled("[data-answer=approve]"))
	b.press("y")
	r.ends(0, "It is written down.")
}
