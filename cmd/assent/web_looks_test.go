//go:build webe2e

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool"
)

// axe is the program that looks for barriers.
var axe = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile(filepath.Join(os.Getenv("ASSENT_WEB_E2E"), "node_modules", "axe-core", "axe.min.js"))
	return string(text), err
})

// looks are how the pages are looked at.
var looks = []struct {
	width  int64
	scheme string
}{{1280, "light"}, {768, "light"}, {320, "light"}, {320, "dark"}, {768, "dark"}, {1280, "dark"}}

// problemsJS finds what does not fit: what is wider than the window, and what a finger would miss.
const problemsJS = `(() => {
	const d = document.querySelector("dialog[open]"), root = d ?? document, out = [];
	if (document.documentElement.scrollWidth > innerWidth) out.push("the page is " + document.documentElement.scrollWidth + " wide");
	if (d && d.scrollWidth > d.clientWidth) out.push("the dialog is " + d.scrollWidth + " wide in " + d.clientWidth);
	for (const e of root.querySelectorAll("*")) {
		const r = e.getBoundingClientRect();
		if (r.width > 1 && r.height > 1 && e.checkVisibility() && !e.closest(".skip, .sr, thead") && (r.right > innerWidth + 1 || r.left < -1)) out.push("beyond the edge: " + e.outerHTML.slice(0, 120));
		if (e.scrollWidth > e.clientWidth + 1 && r.width > 1 && getComputedStyle(e).overflowX === "auto") out.push("scrolls sideways: " + e.outerHTML.slice(0, 120));
	}
	for (const e of root.querySelectorAll("a[href], button, input, select, textarea, summary")) {
		const r = (e.matches("[type=radio], [type=checkbox]") ? e.closest("label") : e).getBoundingClientRect();
		if (e.checkVisibility() && !e.closest(".skip") && r.width > 0 && (r.width < 43.5 || r.height < 43.5)) out.push("a target of " + r.width + " × " + r.height + ": " + e.outerHTML.slice(0, 120));
	}
	return out;
})()`

const axeJS = `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.id + ": " + v.help + ": " + v.nodes.map((n) => n.html.slice(0, 160) + " " + n.failureSummary).join(" | ")))`

// looksGood wants no barrier and nothing that does not fit, at each width, light and dark.
func (b *page) looksGood(name string) {
	b.t.Helper()
	source, err := axe()
	if err != nil {
		b.t.Fatal(err)
	}
	if !js[bool](b, "Boolean(window.axe)") {
		b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](source+";true"))
			return err
		}))
	}
	for _, l := range looks {
		b.size(l.width)
		b.scheme(l.scheme)
		at := fmt.Sprintf("%s at %d, %s", name, l.width, l.scheme)
		js[bool](b, "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(true))))")
		for _, problem := range js[[]string](b, problemsJS) {
			b.t.Errorf("%s: %s", at, problem)
		}
		for _, barrier := range js[[]string](b, axeJS) {
			b.t.Errorf("%s: %s", at, barrier)
		}
		b.shot(fmt.Sprintf("%s-%d-%s", name, l.width, l.scheme))
	}
	b.size(640) // 1280 at 200 %
	for _, problem := range js[[]string](b, problemsJS) {
		b.t.Errorf("%s at 200 %%: %s", name, problem)
	}
	b.size(1280)
}

// visit goes to a path without loading the page anew.
func (b *page) visit(path string) {
	b.t.Helper()
	js[bool](b, "document.querySelector('main').replaceChildren(), history.pushState(null, '', "+quoted(path)+"), dispatchEvent(new PopStateEvent('popstate'))")
	b.until("document.querySelector('main article')")
}

// history is what an agent did before: run_tests again and again with a yes, and send_mail with a no.
func (p *project) history(s *store.Store) {
	p.t.Helper()
	const days = 12
	for i := range days {
		clock := func() time.Time { return time.Now().AddDate(0, 0, i-days) }
		answer := approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
			d := r.Approve("")
			if r.Call.Tool == "send_mail" {
				d = r.Deny("not to customers")
			}
			d.By = policy.Who{User: "ann", Via: policy.ViaTerminal}
			return d, nil
		})
		do := func(context.Context, struct{}) (string, error) { return "done", nil }
		gate, err := tool.Guard(approval.Config{Clock: clock, NewID: rand.Text, Session: fmt.Sprint("earlier", i), Recorder: s, Approver: answer},
			tool.NeedsApproval(true, tool.Func("run_tests", "Runs the tests.", do), tool.Func("send_mail", "Sends a mail.", do))...)
		if err != nil {
			p.t.Fatal(err)
		}
		var calls []policy.Call
		for n := range 1 + i%4*2 {
			calls = append(calls, policy.Call{ID: fmt.Sprint(n), Tool: "run_tests", Arguments: []byte(`{}`)})
		}
		if i%3 == 0 {
			calls = append(calls, policy.Call{ID: "mail", Tool: "send_mail", Arguments: []byte(`{}`)})
		}
		tool.Calls(p.t.Context(), gate, calls...)
		gate.Close()
	}
}

// Every page at every width, light and dark: nothing runs over the edge, every target is large enough, and
// axe-core finds no barrier.
func TestWebLooks_Pages(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	b.looksGood("list-empty")
	agent := p.poster("Claude Code")
	p.history(agent.store)
	p.runs("rules", "add", "allow", "shell(git status)", "--note", "It only looks.")
	p.runs("rules", "add", "deny", "write_file(notes/private/**)")
	p.runs("api", "token", "--name", "panel", "--right", "read")
	ids := map[string]string{}
	for name, k := range kinds() {
		ids[name] = agent.posts(k.posting)[0].ID
	}
	b.until("document.querySelectorAll('.items li').length === " + fmt.Sprint(len(ids)))
	js[bool](b, "document.querySelectorAll('.items input').forEach((i, n) => n < 3 && i.click()), true")
	b.looksGood("list")
	b.visit("/audit")
	b.sees("Questions and answers per day", "What asks most, with the rule that would answer it", "allow run_tests", "Try this rule")
	b.looksGood("audit")
	b.visit("/audit/1")
	b.sees("Record 1")
	b.looksGood("record")
	b.visit("/rules?rule=" + "allow%20shell(npm%20test)")
	b.do(chromedp.Click("[data-do=try]"))
	b.sees("past calls")
	b.looksGood("rules")
	b.visit("/status")
	b.sees("Browsers that can answer", "panel")
	b.looksGood("status")
	b.visit("/explain")
	b.do(chromedp.SendKeys("#what textarea", "git status"), chromedp.Click("#what button"))
	b.until("document.querySelector('#answer').innerText")
	b.looksGood("explain")
	b.visit("/r/none")
	b.sees("This cannot be shown")
	b.looksGood("gone")
	stranger := newTab(t)
	stranger.do(chromedp.Navigate(b.url + "/"))
	stranger.sees("This page cannot answer", "this browser was not let in yet")
	stranger.looksGood("stranger")
}

// runs runs a command and wants it to succeed.
func (p *project) runs(args ...string) {
	p.t.Helper()
	if out, err := p.assent(args...).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// Every kind of request.
func TestWebLooks_Requests(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	for name, k := range kinds() {
		r := agent.posts(k.posting)[0]
		b.visit("/r/" + r.ID)
		b.armed()
		b.looksGood(name)
	}
}

// Every dialog.
func TestWebLooks_Dialogs(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	turn := agent.posts(kinds()["diff"].posting, edits("notes/very/long/path/of/a/file/that/is/somewhere/deep/within/the/folders-of-the-project.md", "a\n", "b\n"))
	b.visit("/r/" + turn[0].ID)
	for key, words := range map[string]string{"N": "Deny with a note", "s": "It answers nothing else", "a": "It answers nothing else", "e": "Edit content", "r": "Answer in the tool's place", "?": "It would not ask if"} {
		b.armed()
		b.press(key)
		b.sees(words)
		switch key {
		case "N":
			b.do(chromedp.Click("#note [value=always]"))
			b.sees("deny write_file(notes/today.md)")
		case "a":
			b.press("3") // the widest
			b.sees("Type yes to save it")
		}
		b.looksGood("dialog-" + map[bool]string{true: "why", false: key}[key == "?"])
		b.press("\x1b")
		b.until("!document.querySelector('dialog[open]')")
	}
	b.visit("/")
	b.press("j ")
	b.press("j ")
	b.sees("Deny 2 marked")
	for _, key := range []string{"A", "D"} {
		b.press(key)
		b.until("document.querySelector('dialog[open]')")
		b.looksGood("dialog-marked-" + key)
		b.press("\x1b")
		b.until("!document.querySelector('dialog[open]')")
	}
}

// The pictures of docs/web.md. ASSENT_UPDATE=1 writes them.
func TestWebLooks_Docs(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	p.history(agent.store)
	all := kinds()
	diff := agent.posts(all["diff"].posting)[0]
	agent.posts(all["command"].posting)
	agent.posts(all["structured"].posting)
	b.sees("Send a mail")
	picture := func(name string) {
		t.Helper()
		if os.Getenv("ASSENT_UPDATE") == "" {
			return
		}
		png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join("..", "..", "docs", name+".png"), png, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b.do(chromedp.EmulateViewport(1000, 520))
	picture("web-list")
	b.visit("/r/" + diff.ID)
	b.do(chromedp.EmulateViewport(1000, 720))
	b.armed()
	picture("web-request")
	b.press("a")
	b.until("document.querySelector('#always [data-give]:enabled')")
	b.do(chromedp.EmulateViewport(390, 780))
	b.until("document.querySelector('#always [data-give]:enabled')")
	picture("web-always")
	b.press("\x1b")
	b.visit("/audit")
	b.scheme("dark")
	b.do(chromedp.EmulateViewport(1000, 760))
	b.sees("Questions and answers per day")
	picture("web-audit")
}
