//go:build webe2e

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A page is a tab of a real browser that was let in.
type page struct {
	t   *testing.T
	ctx context.Context
	url string
}

// chromium starts a browser with a profile of its own, which talks to nobody but us. It ends with ctx.
func chromium(ctx context.Context, profile string) (context.Context, func(), error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath("/usr/bin/chromium"), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.NoFirstRun,
		chromedp.Flag("ignore-certificate-errors", true), // of the servers that tests start
		chromedp.WSURLReadTimeout(patience))
	allocator, cancel := chromedp.NewExecAllocator(ctx, options...)
	browser, end := chromedp.NewContext(allocator)
	// The browser lives as long as the context of its first call.
	return browser, func() { end(); cancel() }, chromedp.Do(browser)
}

// sharedBrowser is one browser for all tests: it takes seconds to start. Each test has a context of its own
// in it, with nothing stored.
var sharedBrowser = sync.OnceValues(func() (context.Context, error) {
	profile, err := os.MkdirTemp("", "assent-browser-")
	if err != nil {
		return nil, err
	}
	browser, end, err := chromium(context.Background(), profile)
	endBrowser = func() {
		end()
		os.RemoveAll(profile)
	}
	return browser, err
})

// ownBrowser starts a browser for one test that does something to it, such as killing it.
func ownBrowser(t *testing.T) context.Context {
	t.Helper()
	browser, end, err := chromium(t.Context(), t.TempDir())
	t.Cleanup(end)
	if err != nil {
		t.Fatal(err)
	}
	return browser
}

// newTab opens a tab of the shared browser, with a storage of its own.
func newTab(t *testing.T) *page {
	t.Helper()
	browser, err := sharedBrowser()
	if err != nil {
		t.Fatal(err)
	}
	return tabOf(t, browser, chromedp.WithNewBrowserContext())
}

// tabOf opens a tab of a browser, which believes that it has the focus.
func tabOf(t *testing.T, browser context.Context, options ...chromedp.ContextOption) *page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, options...)
	t.Cleanup(cancel)
	b := &page{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	b.do(called(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}))
	b.size(1280)
	return b
}

// another opens a tab of the same browser at a path: it has the same key.
func (b *page) another(path string) *page {
	b.t.Helper()
	other := tabOf(b.t, b.ctx)
	other.url = b.url
	other.open(path)
	return other
}

// called is a call of the browser's protocol.
func called[P, R any](command cdp.Command[P, R], params P) action {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, command, params)
		return err
	})
}

// size makes the page so wide.
func (b *page) size(width int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, 800))
}

// scheme makes the page light or dark.
func (b *page) scheme(name string) {
	b.t.Helper()
	b.do(called(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}))
}

// open goes to a path of the inbox and waits until it is shown.
func (b *page) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.url + path))
	b.until("document.querySelector('main article')")
}

var webLink = regexp.MustCompile(`http://([a-z0-9]+\.)?localhost:\d+/#code=\S+`)

// serveWeb starts 'assent inbox --web' and returns its terminal and the link that it printed.
func (p *project) serveWeb(args ...string) (*tty, string) {
	p.t.Helper()
	x := start(p.t, 100, 40, p.assent(append([]string{"inbox", "--web"}, args...)...))
	x.sees("Open this link", "Ctrl-C ends") // the link stands between them
	link := webLink.FindString(x.screen.String())
	if link == "" {
		p.t.Fatalf("no link in\n%s", x.screen)
	}
	return x, link
}

// web opens the inbox in a tab of the shared browser.
func (p *project) web(args ...string) *page {
	p.t.Helper()
	_, link := p.serveWeb(args...)
	b := newTab(p.t)
	b.letIn(link)
	return b
}

// letIn opens a link.
func (b *page) letIn(link string) {
	b.t.Helper()
	b.url = strings.SplitN(link, "/#", 2)[0]
	b.do(chromedp.Navigate(link))
	b.until("document.querySelector('#list')")
}

type action = chromedp.Action[chromedp.Void]

func (b *page) do(actions ...action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.shot("failed")
		b.t.Fatal(err)
	}
}

// js evaluates an expression, and waits for it if it is a promise.
func js[T any](b *page, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

// until waits until an expression is true.
func (b *page) until(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	poll := chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(0))
	_, err := chromedp.Run(ctx, poll)
	for err != nil && ctx.Err() == nil && (strings.Contains(err.Error(), "context") || strings.Contains(err.Error(), "navigated")) { // the page changed under the question
		_, err = chromedp.Run(ctx, poll)
	}
	if err != nil {
		b.shot("missing")
		b.t.Fatalf("never true: %s (%v)\n%s", expression, err, js[string](b, "location.href + '\\n' + document.body.innerText"))
	}
}

// sees waits until the page shows the words.
func (b *page) sees(words ...string) {
	b.t.Helper()
	for _, w := range words {
		b.until("document.body?.innerText.includes(" + quoted(w) + ")")
	}
}

// quoted is a text as JavaScript writes it.
func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// press sends keys as a keyboard does: what a page keeps from its default types nothing.
func (b *page) press(keys string, options ...chromedp.KeyOption) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for _, r := range keys {
			all := kb.Encode(r)
			down, up := all[0], all[len(all)-1]
			if len(all) == 3 {
				down.Text, down.UnmodifiedText = all[1].Text, all[1].UnmodifiedText
			}
			for _, k := range []*input.DispatchKeyEventParams{down, up} {
				for _, o := range options {
					o(k)
				}
				if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, *k); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// request opens a request and waits until it takes answers.
func (b *page) request(id string) {
	b.t.Helper()
	b.open("/r/" + id)
	b.armed()
}

// armed waits until the request takes answers.
func (b *page) armed() {
	b.t.Helper()
	// For a while: a layout that still changes takes them away again.
	b.until(`((works) => (window.since = works ? window.since || performance.now() : 0, works && performance.now() - window.since > 300))
		(document.querySelector("[data-answer=deny]:enabled"))`)
	js[bool](b, "(window.since = 0, true)")
}

// text is what an element says.
func (b *page) text(selector string) string {
	b.t.Helper()
	return js[string](b, "document.querySelector("+quoted(selector)+")?.innerText ?? ''")
}

// shot keeps a picture where ASSENT_SHOTS says.
func (b *page) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("ASSENT_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Log(err)
		return
	}
	if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(b.t.Name(), "/", "-")+"-"+name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// A run asks, the person reads and says yes in the browser, and the call runs.
func TestWeb_AnswersForARun(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	b.sees("Nothing waits")
	r := p.asksInbox()
	b.sees("write_file · Create notes/a.md (4 bytes, 1 line)")
	b.do(chromedp.Click(".items a"))
	b.armed()
	b.sees("What it would do", "write_file(notes/a.md)", "one")
	p.hasNot("notes/a.md")
	b.press("y")
	r.ends(0, "It is written down.")
	p.has("notes/a.md", "one\n")
}
