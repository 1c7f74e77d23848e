//go:build webe2e

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// answered waits until a request has an answer, and returns it.
func (a *poster) answered(r *approval.Request) approval.Decision {
	a.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		p, err := a.store.Posted(a.t.Context(), r.ID)
		if err != nil {
			a.t.Fatal(err)
		}
		if p.Settled != nil && p.Settled.Decision != nil {
			return *p.Settled.Decision
		}
	}
	a.t.Fatalf("%s has no answer", r.Summary)
	return approval.Decision{}
}

// open reports whether a request waits.
func (a *poster) open(r *approval.Request) bool {
	a.t.Helper()
	p, err := a.store.Posted(a.t.Context(), r.ID)
	if err != nil {
		a.t.Fatal(err)
	}
	return p.Settled == nil
}

// The keys are those of the terminal.
func TestWebManners_Keys(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	note := edits("notes/a.md", "a\n", "b\n")
	dialog := func(id, words string) func(*approval.Request) {
		return func(r *approval.Request) {
			b.until("document.querySelector('dialog[open]')?.id === " + quoted(id))
			b.sees(words)
			if typed := js[string](b, "document.querySelector('dialog[open] textarea')?.value ?? ''"); typed != "" && strings.Contains("eNrq", typed[:1]) {
				t.Errorf("%s: the key was typed", id)
			}
			b.press(kb.Escape)
			b.until("!document.querySelector('dialog[open]')")
			if !agent.open(r) {
				t.Errorf("%s: Escape answered", id)
			}
		}
	}
	for _, c := range []struct {
		key  string
		call posting
		then func(*approval.Request)
	}{
		{"y", note, func(r *approval.Request) {
			if d := agent.answered(r); d.Answer != approval.AnswerApprove || d.Remember.Keep != "" {
				t.Errorf("y: %+v", d)
			}
			b.until("document.querySelector('#list')")
		}},
		{"n", note, func(r *approval.Request) {
			if d := agent.answered(r); d.Answer != approval.AnswerDeny {
				t.Errorf("n: %+v", d)
			}
			b.until("document.querySelector('#list')")
		}},
		{"N", note, dialog("note", "Deny with a note")},
		{"s", note, dialog("session", "Approve for this session")},
		{"a", note, dialog("always", "Always approve")},
		{"e", note, dialog("edit", "Edit content")},
		{"r", note, dialog("respond", "Nothing runs")},
		{"?", note, dialog("why", "It would not ask if one of these rules were saved")},
		{"q", note, func(r *approval.Request) {
			b.until("document.querySelector('#note[open] [value=stop]:checked')")
			dialog("note", "stop the run")(r)
		}},
		{"v", kinds()["long"].posting, func(*approval.Request) {
			b.until("!document.querySelector('[data-do=whole]') && document.querySelectorAll('.code tr').length === 600")
		}},
		{"c", kinds()["chain"].posting, func(*approval.Request) { b.until("document.activeElement.dataset.choice === 'once'") }},
		{"m", note, func(*approval.Request) { b.sees("Marked") }},
		{"g", note, func(*approval.Request) { b.sees("Granted for a session") }},
		{"h", note, func(*approval.Request) { b.sees("Audit", "Session") }},
		{kb.Escape, note, func(*approval.Request) { b.until("document.querySelector('#list')") }},
		{"xXzZpP147", note, func(r *approval.Request) {
			if !agent.open(r) {
				t.Error("another key answered")
			}
		}},
	} {
		r := agent.posts(c.call)[0]
		b.visit("/r/" + r.ID)
		b.armed()
		b.press(c.key)
		c.then(r)
	}
}

// Enter answers nothing, wherever the focus is.
func TestWebManners_NothingOnEnter(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	r := agent.posts(edits("notes/a.md", "a\n", "b\n"))[0]
	b.visit("/r/" + r.ID)
	b.armed()
	for _, selector := range []string{"[data-answer=approve]", "[data-answer=deny]"} {
		b.do(chromedp.Focus(selector))
		b.press(kb.Enter)
		b.sees("Enter alone answers nothing. Press y to approve, n to deny.")
	}
	for _, key := range []string{"s", "a", "r"} {
		b.armed()
		b.press(key)
		b.until("document.querySelector('dialog[open] [data-give]:enabled')")
		js[bool](b, "document.querySelector('dialog[open] [data-give]').focus(), true")
		b.press(kb.Enter)
		b.until("document.querySelector('dialog[open] .said').innerText.includes('Enter alone answers nothing')")
		b.press(kb.Escape)
		b.until("!document.querySelector('dialog[open]')")
	}
	if !agent.open(r) {
		t.Error("Enter answered")
	}
	b.armed()
	b.do(chromedp.Focus("[data-answer=approve]"))
	b.press(" ")
	if d := agent.answered(r); d.Answer != approval.AnswerApprove {
		t.Error(d.Answer)
	}
}

const placesJS = `JSON.stringify([...document.querySelectorAll(".items li, .answers button, .further button, h1, .view")].map((e) => [e.dataset.id, e.getBoundingClientRect().top, e.getBoundingClientRect().left]))`

// Nothing under the pointer moves when requests come and end, or the connection is lost.
func TestWebManners_NothingMoves(t *testing.T) {
	for _, width := range []int64{1280, 320} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			p := notesProject(t)
			x, link := p.serveWeb()
			b := newTab(t)
			b.letIn(link)
			b.size(width)
			agent := p.poster("Claude Code")
			all := agent.posts(edits("notes/a.md", "a\n", "b\n"), edits("notes/b.md", "a\n", "b\n"), edits("notes/c.md", "a\n", "b\n"))
			b.sees("notes/c.md")
			before := js[string](b, placesJS)
			agent.posts(edits("notes/d.md", "a\n", "b\n"))
			b.sees("notes/d.md")
			p.runs("deny", all[1].ID)
			b.sees("denied by ")
			b.do(chromedp.Click(fmt.Sprintf(`[data-id="%s"] input`, all[0].ID)))
			b.sees("Deny 1 marked")
			b.until("document.querySelector('time').innerText >= '1 s'")
			if after := js[string](b, placesJS); !strings.HasPrefix(after, strings.TrimSuffix(before, "]")) {
				t.Errorf("in the list\n%s\nbecame\n%s", before, after)
			}
			b.visit("/r/" + all[0].ID)
			b.armed()
			before = js[string](b, placesJS)
			agent.posts(edits("notes/e.md", "a\n", "b\n"))
			b.until("document.querySelector('#count').innerText === '(4)'")
			if after := js[string](b, placesJS); after != before {
				t.Errorf("new requests: \n%s\nbecame\n%s", before, after)
			}
			p.runs("approve", all[0].ID)
			b.sees("This needs no answer any more: approved by ")
			if after := js[string](b, placesJS); after != before {
				t.Errorf("at a request\n%s\nbecame\n%s", before, after)
			}
			x.types("\x03")
			b.sees("Not connected")
			if after := js[string](b, placesJS); after != before {
				t.Errorf("without a connection\n%s\nbecame\n%s", before, after)
			}
		})
	}
}

// Answers work half a second after the layout last changed, and not before.
func TestWebManners_Armed(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	r := agent.posts(edits("notes/a.md", "a\n", "b\n"))[0]
	b.visit("/r/" + r.ID)
	b.armed()
	// Clicks and keys from the change on, at each frame, until it is armed again. An answer is not for them:
	// they stop when the button works.
	waited := js[float64](b, `new Promise((done) => {
		const yes = document.querySelector("[data-answer=approve]"), header = document.querySelector("#request header");
		let changed;
		new ResizeObserver(() => { changed ??= performance.now(); }).observe(document.querySelector("#request"));
		header.style.paddingTop = "60px";
		const tick = () => {
			if (changed && !yes.disabled && performance.now() - changed > 20) return done(performance.now() - changed);
			if (yes.disabled) {
				yes.click();
				document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "y", bubbles: true }));
			}
			setTimeout(tick, 5);
		};
		requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => { changed = performance.now(); header.style.paddingTop = "90px"; requestAnimationFrame(() => requestAnimationFrame(tick)); })));
	})`)
	if waited < 495 {
		t.Errorf("armed after %v ms", waited)
	}
	if !agent.open(r) {
		t.Error("it was answered before")
	}
	// A dialog is armed anew, and when what it says changes.
	b.press("a")
	b.until("document.querySelector('#always[open]')")
	b.press("yyyy")
	if !agent.open(r) || !js[bool](b, "Boolean(document.querySelector('#always[open]'))") {
		t.Error("a key answered at once in the dialog")
	}
	b.until("document.querySelector('#always [data-give]:enabled')")
	b.press("2")
	if !js[bool](b, "document.querySelector('#always [data-give]').disabled") {
		t.Error("the dialog changed and answers at once")
	}
}

// Who has not seen all of a request can say yes to it once, if all that asks was on the screen, and no more.
func TestWebManners_SeenFirst(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	long := agent.posts(kinds()["long"].posting)[0]
	b.visit("/r/" + long.ID)
	b.armed()
	b.sees("For session or always, press v to see all of it first.")
	b.press("as")
	if js[bool](b, "Boolean(document.querySelector('dialog[open]'))") {
		t.Error("always is offered before all was shown")
	}
	b.press("v")
	b.until("document.querySelectorAll('.code tr').length === 600")
	b.armed()
	b.sees("For session or always, scroll to the end first.")
	b.press("a")
	if js[bool](b, "Boolean(document.querySelector('dialog[open]'))") {
		t.Error("always is offered before the end was on the screen")
	}
	js[bool](b, "scrollTo(0, document.body.scrollHeight), true")
	b.until("document.querySelector('[data-do=always]:enabled')")
	b.press("a")
	b.sees("Always approve")
	b.press(kb.Escape)

	// Marked requests: only what was on the screen in full is approved together.
	other := agent.posts(edits("notes/z.md", "a\n", "b\n"))[0]
	person := agent.posts(kinds()["command"].posting)[0]
	b.visit("/")
	b.sees("notes/z.md", "! shell")
	js[bool](b, "document.querySelectorAll('.items input').forEach((i) => i.click()), true")
	b.sees("Approve 1 of 3 marked")
	b.press("A")
	b.sees("Approve 1, this once", "Edit notes/z.md (was not on screen in full)", "npm test && git push (only a person may answer it, each time)")
	b.until("document.querySelector('#several [data-give]:enabled')")
	b.press("y")
	if d := agent.answered(long); d.Answer != approval.AnswerApprove {
		t.Error(d.Answer)
	}
	b.until("!document.querySelector('dialog[open]')")
	if !agent.open(other) || !agent.open(person) {
		t.Error("what nobody saw was approved")
	}
	b.press("D")
	b.sees("Deny 2, this once")
	b.do(chromedp.SendKeys("#several textarea", "not today"))
	b.until("document.querySelector('#several [data-give]:enabled')")
	b.do(chromedp.Click("#several [data-give]"))
	for _, r := range []*approval.Request{other, person} {
		if d := agent.answered(r); d.Answer != approval.AnswerDeny || d.Note != "not today" {
			t.Errorf("%+v", d)
		}
	}

	// Acts that ask beyond the screen.
	var acts []policy.Act
	for i := range 60 {
		acts = append(acts, writeAct(fmt.Sprintf("notes/%d.md", i)))
	}
	many := agent.posts(posting{tool: "write_many", Proposal: approval.Proposal{Summary: "Write 60 files", Acts: acts, View: shown(present.View{Kind: present.KindText, Content: "60 files"})}})[0]
	b.visit("/r/" + many.ID)
	b.armed()
	b.sees("To approve, first scroll through")
	b.press("y")
	if !js[bool](b, "document.querySelector('[data-answer=approve]').disabled") || !agent.open(many) {
		t.Error("it is approved before all acts were on the screen")
	}
	for !js[bool](b, "scrollBy(0, 400), document.documentElement.scrollTop + innerHeight >= document.documentElement.scrollHeight - 1") {
		js[bool](b, "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(true))))")
	}
	b.until("document.querySelector('[data-answer=approve]:enabled')")
	b.press("y")
	agent.answered(many)
}

// Somebody else answers first: the page says who.
func TestWebManners_WhoWon(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	run := p.asksInbox()
	b.sees("notes/a.md")
	list := b.another("/")
	b.do(chromedp.Click(".items a"))
	b.armed()
	b.press("s")
	b.sees("Approve for this session")
	p.runs("approve", js[string](b, "document.querySelector('#request').dataset.id"))
	run.ends(0, "It is written down.")
	b.sees("This needs no answer any more: approved by ")
	if !js[bool](b, "[...document.querySelectorAll('.answers button, .further button')].every((b) => b.disabled) && !document.querySelector('dialog[open]')") {
		t.Error("it can still be answered")
	}
	list.sees("approved by ") // the other tab too
	list.do(chromedp.Click(".items a"))
	list.sees("This request has ended", "approved by", "Back to the list")
	list.do(chromedp.Click(".target"))
	list.sees("Nothing waits")
}

// The last answer is taken back while the call has not started.
func TestWebManners_Undo(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	r := agent.posts(edits("notes/a.md", "a\n", "b\n"))[0]
	b.visit("/r/" + r.ID)
	b.armed()
	b.press("y")
	b.sees("Approved: Edit notes/a.md", "Take it back")
	agent.answered(r)
	b.press("u")
	b.sees("Asked again: an answer was taken back")
	if !agent.open(r) {
		t.Error("it is still answered")
	}
	b.armed()
	b.press("n")
	b.sees("Denied: Edit notes/a.md")
	b.do(chromedp.Click("#last button"))
	b.sees("Asked again")
	b.armed()
	b.press("y")
	agent.answered(r)
	b.visit("/")
	// Too late: who asks has taken it.
	run := p.asksInbox()
	b.sees("Create notes/a.md")
	js[bool](b, "([...document.querySelectorAll('.items a')].find((a) => a.innerText.includes('Create notes/a.md')).click(), true)")
	b.armed()
	b.press("y")
	run.ends(0)
	b.press("u")
	b.sees("it is too late: the call has started, or the answer was used")
}

// Each answer says what it says.
func TestWebManners_Answers(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	// gives presses the dialog's button when it works, until the dialog is gone or says why not.
	gives := func(dialog string, or ...string) {
		t.Helper()
		b.until(fmt.Sprintf(`(() => {
			const d = document.querySelector("#%s");
			if (!d?.open || %t && d.querySelector(".said").innerText.includes(%s)) return true;
			d.querySelector("[data-give]:enabled")?.click();
		})()`, dialog, len(or) > 0, quoted(strings.Join(or, ""))))
	}
	for name, c := range map[string]struct {
		call posting
		do   func()
		want func(approval.Decision) bool
	}{
		"edit": {edits("notes/a.md", "a\n", "b\n"), func() {
			b.press("e")
			b.until("document.querySelector('#edit[open]')")
			gives("edit", "Nothing was changed.")
			js[bool](b, "document.querySelector('#edit textarea').value = 'other\\n', true")
			gives("edit")
		}, func(d approval.Decision) bool {
			return d.Answer == approval.AnswerApprove && string(d.Arguments) == `{"content":"other\n","path":"notes/a.md"}`
		}},
		"edit JSON": {posting{tool: "send_mail", args: `{"amount":12345678901234567890,"to":"ann"}`, Proposal: approval.Proposal{Summary: "Send"}}, func() {
			b.press("e")
			b.until("document.querySelector('#edit[open]')")
			js[bool](b, "document.querySelector('#edit textarea').value = '{\"amount\":', true")
			gives("edit", "That is not valid JSON")
			js[bool](b, "document.querySelector('#edit textarea').value = '{\"amount\":12345678901234567891,\"to\":\"ann\"}', true")
			gives("edit")
		}, func(d approval.Decision) bool {
			return string(d.Arguments) == `{"amount":12345678901234567891,"to":"ann"}`
		}},
		"respond": {edits("notes/a.md", "a\n", "b\n"), func() {
			b.press("r")
			b.do(chromedp.SendKeys("#respond textarea", "It was written by hand."))
			gives("respond")
		}, func(d approval.Decision) bool {
			return d.Answer == approval.AnswerRespond && d.Result == "It was written by hand."
		}},
		"note": {edits("notes/a.md", "a\n", "b\n"), func() {
			b.press("N")
			b.do(chromedp.SendKeys("#note textarea", "use the other file"))
			gives("note")
		}, func(d approval.Decision) bool {
			return d.Answer == approval.AnswerDeny && d.Note == "use the other file" && d.Remember.Keep == ""
		}},
		"deny for the session": {edits("notes/a.md", "a\n", "b\n"), func() {
			b.press("N")
			b.do(chromedp.Click("#note [value=session]"))
			gives("note")
		}, func(d approval.Decision) bool {
			return d.Answer == approval.AnswerDeny && d.Remember.Keep == approval.KeepSession && d.Remember.Reach == policy.ReachExact
		}},
		"deny always": {edits("notes/a.md", "a\n", "b\n"), func() {
			b.press("N")
			b.do(chromedp.Click("#note [value=always]"), chromedp.Click("#note [name=reach][value=prefix], #note label:nth-of-type(2) [name=reach]"))
			gives("note")
		}, func(d approval.Decision) bool {
			return d.Answer == approval.AnswerDeny && d.Remember.Keep == approval.KeepAlways && slices.Equal(d.Remember.Rules, []string{"deny write_file(notes/**)"})
		}},
		"session": {edits("notes/a.md", "a\n", "b\n"), func() {
			b.press("s")
			b.do(chromedp.Click("#session [name=for][value='900']"))
			b.press("2w")
			gives("session")
		}, func(d approval.Decision) bool {
			return d.Answer == approval.AnswerApprove && d.Remember.Keep == approval.KeepSession && d.Remember.For == 15*time.Minute && d.Remember.Shared && d.Remember.Reach != policy.ReachExact
		}},
		"always": {edits("notes/a.md", "a\n", "b\n"), func() {
			b.press("a")
			b.sees("It answers nothing else that waits.")
			b.press("2")
			b.until("document.querySelector('#always [name=rules]').value === 'allow write_file(notes/**)'")
			gives("always")
		}, func(d approval.Decision) bool {
			return d.Remember.Keep == approval.KeepAlways && !d.Remember.Everywhere && slices.Equal(d.Remember.Rules, []string{"allow write_file(notes/**)"})
		}},
		"always, edited, wide and everywhere": {edits("notes/a.md", "a\n", "b\n"), func() {
			b.press("a")
			b.sees("It answers nothing else that waits.")
			b.press("we")
			b.until("document.activeElement.name === 'rules'")
			js[bool](b, "const r = document.activeElement; r.value = 'allow nonsense('; r.dispatchEvent(new InputEvent('input', { bubbles: true }))")
			b.until("document.querySelector('#always .covers').innerText && document.querySelector('#always [data-give]').disabled")
			js[bool](b, "const q = document.querySelector('#always [name=rules]'); q.value = 'allow write_file'; q.dispatchEvent(new InputEvent('input', { bubbles: true }))")
			b.sees("Type yes to save it")
			b.do(chromedp.SendKeys("#always [name=sure]", "ye"))
			b.press("\t\t")
			if !js[bool](b, "document.querySelector('#always [data-give]').disabled") {
				t.Error("a wide rule needs no second yes")
			}
			b.do(chromedp.SendKeys("#always [name=sure]", "s"))
			gives("always")
		}, func(d approval.Decision) bool {
			return d.Remember.Everywhere && slices.Equal(d.Remember.Rules, []string{"allow write_file"})
		}},
		"choice": {kinds()["chain"].posting, func() { b.do(chromedp.Click("[data-choice=all]")) },
			func(d approval.Decision) bool { return d.Answer == approval.AnswerApprove && d.Choice == "all" }},
		"stop": {edits("notes/a.md", "a\n", "b\n"), func() {
			b.press("q")
			b.until("document.querySelector('#note[open] [value=stop]:checked')")
			gives("note")
		}, func(d approval.Decision) bool {
			return d.Answer == approval.AnswerDeny && d.Stop && d.Note == "the person stopped the run"
		}},
	} {
		r := agent.posts(c.call)[0]
		b.visit("/r/" + r.ID)
		b.armed()
		c.do()
		if d := agent.answered(r); !c.want(d) || d.Proof == nil || d.By.Via != policy.ViaBrowser {
			t.Errorf("%s: %+v", name, d)
		}
		b.until("document.querySelector('#list')")
	}
}

// Without a connection the last list stays readable, and nothing can be answered.
func TestWebManners_Offline(t *testing.T) {
	p := notesProject(t)
	x, link := p.serveWeb()
	b := newTab(t)
	b.letIn(link)
	agent := p.poster("Claude Code")
	r := agent.posts(edits("notes/a.md", "a\n", "b\n"))[0]
	b.sees("notes/a.md")
	other := b.another("/")
	b.visit("/r/" + r.ID)
	b.armed()
	x.leaves()
	for _, tab := range []*page{b, other} {
		tab.sees("Not connected: as of", "notes/a.md")
	}
	if !js[bool](b, "document.querySelector('[data-answer=approve]').disabled") {
		t.Error("it can be answered")
	}
	b.do(chromedp.Click("[data-nav=audit]"))
	b.sees("The server did not answer. The list is as it was.")
	b.do(chromedp.Click(".target"))
	b.sees("write_file · Edit notes/a.md")
}

// An answer that the server does not confirm is shown as such, and is not sent again.
func TestWebManners_NotConfirmed(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	r := agent.posts(edits("notes/a.md", "a\n", "b\n"))[0]
	b.visit("/r/" + r.ID)
	b.armed()
	b.do(called(network.Enable, network.EnableParams{}), called(network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: "*://*:*/api/v1/requests/*/answer", Block: true}}}))
	js[bool](b, "window.sent = 0, window.realFetch = fetch, window.fetch = (...a) => { if (String(a[0]).endsWith('/answer')) sent++; return realFetch(...a); }, true")
	b.press("y")
	b.sees("Not confirmed: nobody knows whether your answer counts. It is not sent again.")
	b.press("ynyy")
	b.do(called(network.SetBlockedURLs, network.SetBlockedURLsParams{}))
	b.press("y")
	if n := js[int](b, "sent"); n != 1 || !agent.open(r) {
		t.Errorf("sent %d times", n)
	}
	b.request(r.ID) // loaded anew, it can be answered
	b.press("y")
	agent.answered(r)
}

// focused is what has the focus, as a screen reader would name it.
func (b *page) focused() string {
	b.t.Helper()
	return js[string](b, `(() => { const e = document.activeElement; return e === document.body ? "" : e.tagName + " " + (e.labels?.[0] ?? e).innerText.replace(/\s+/g, " ").trim(); })()`)
}

// tabs presses Tab until something whose name has the words has the focus, which must be visible.
func (b *page) tabs(words string, back ...chromedp.KeyOption) {
	b.t.Helper()
	for range 60 {
		b.press("\t", back...)
		if strings.Contains(b.focused(), words) {
			if !js[bool](b, `(() => { const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect();
				return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 && r.bottom > 0 && r.top < innerHeight; })()`) {
				b.t.Errorf("the focus on %q is not visible", words)
			}
			return
		}
	}
	b.t.Fatalf("Tab does not lead to %q; it is at %q", words, b.focused())
}

// All with the keyboard alone, Tab and letters, from the list to answers, dialogs, marks, audit and rules.
func TestWebManners_KeyboardAlone(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	all := agent.posts(edits("notes/a.md", "a\n", "b\n"), edits("notes/b.md", "a\n", "b\n"), edits("notes/c.md", "a\n", "b\n"), edits("notes/d.md", "a\n", "b\n"))
	b.sees("notes/d.md")
	b.tabs("Skip to the content")
	b.tabs("Waiting (4)")
	b.tabs("Mark: Edit notes/a.md") // the checkbox, named
	b.tabs("write_file · Edit notes/a.md")
	b.press("\r")
	b.armed()
	b.until("document.activeElement.tagName === 'H1'")
	if name := b.focused(); name != "H1 write_file · Edit notes/a.md" {
		t.Errorf("after opening a request the focus is at %q", name)
	}
	// The order is that of the page: other answers, then deny, then approve.
	b.tabs("For this session")
	b.tabs("Deny n")
	b.tabs("Approve y")
	b.tabs("Deny n", chromedp.KeyModifiers(chromedp.ModifierShift))
	b.tabs("Approve y")
	b.press(" ")
	agent.answered(all[0])
	b.sees("Edit notes/b.md")
	b.armed()
	b.until("document.activeElement.tagName === 'H1'")

	// A dialog keeps the focus, and gives it back.
	b.tabs("Always")
	b.press("\r")
	b.until("document.querySelector('#always[open]')")
	if name := b.focused(); !strings.Contains(name, "exactly this") {
		t.Errorf("in the dialog the focus is at %q", name)
	}
	b.tabs("everywhere, not only in")
	b.until("document.querySelector('#always [data-give]:enabled')")
	b.tabs("Save and approve")
	b.tabs("Back", chromedp.KeyModifiers(chromedp.ModifierShift))
	b.press("\r")
	b.until("!document.querySelector('dialog[open]') && document.activeElement.innerText.startsWith('Always')")
	b.armed()
	b.press("s")
	b.until("document.querySelector('#session [data-give]:enabled')")
	b.tabs("Approve y")
	b.press(" ")
	agent.answered(all[1])

	// Marks and answers for several.
	b.armed()
	b.press(kb.Escape)
	b.until("document.querySelector('#list')")
	b.press("j j ")
	b.sees("Deny 2 marked")
	b.press("D")
	b.until("document.activeElement.name === 'note'")
	b.press("later")
	b.until("document.querySelector('#several [data-give]:enabled')")
	b.tabs("Deny n")
	b.press(" ")
	for _, r := range all[2:] {
		if d := agent.answered(r); d.Answer != approval.AnswerDeny || d.Note != "later" {
			t.Errorf("%+v", d)
		}
	}
	b.until("!document.querySelector('dialog[open]')")

	b.visit("/")
	b.tabs("Audit")
	b.press("\r")
	b.until("document.activeElement.innerText === 'Audit' && document.activeElement.tagName === 'H1'")
	b.tabs("Search")
	b.press("nothing\r")
	b.sees("Nothing was found.")
	b.until("document.activeElement.tagName === 'H1'")
	b.tabs("Rules", chromedp.KeyModifiers(chromedp.ModifierShift))
	b.press("\r")
	b.sees("No rules are saved.")
	b.tabs("New rule")
	b.press("allow shell(git status)\r")
	b.sees("past calls")
	b.tabs("Save")
	b.press(" ")
	b.sees("Saved: allow shell(git status)")
}
