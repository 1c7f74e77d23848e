//go:build webe2e

package main

import (
	"context"
	mathrand "math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/rounds"
	"github.com/assent-dev/assent/policy"
)

// counted wants as many noes in the log as calls that did not run: an answer that took effect is there once.
func (a *webAsker) counted(calls, ran int) {
	a.t.Helper()
	no := 0
	for r, err := range a.store.Records(context.Background(), approval.RecordFilter{}) {
		if err != nil {
			a.t.Fatal(err)
		}
		if r.State == policy.StateDenied {
			no++
		}
	}
	if no != calls-ran {
		a.t.Errorf("the log has %d noes to %d calls of which %d ran", no, calls, ran)
	}
}

// pressing presses y on the request that waits, and kills at a random moment around that.
func (b *page) pressing(random *mathrand.Rand, kill func()) {
	b.t.Helper()
	b.do(chromedp.WaitEnabled("[data-answer=approve]"))
	var done sync.WaitGroup
	killed := time.AfterFunc(time.Duration(random.IntN(12_000))*time.Microsecond, func() { done.Done() })
	done.Add(1)
	defer killed.Stop()
	pressed := make(chan struct{})
	go func() {
		defer close(pressed)
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		defer cancel()
		_ = chromedp.Do(ctx, chromedp.KeyEvent("y")) // a browser that is killed says nothing
	}()
	done.Wait()
	kill()
	<-pressed
}

// deniesFirst denies the first request of the list, unless an answer that was given before ends it first.
func (b *page) deniesFirst() {
	b.t.Helper()
	js[bool](b, "(document.querySelector('.items a')?.click(), true)")
	b.until("document.querySelector('[data-answer=deny]:enabled') || !document.title.startsWith('(')")
	b.press("n")
}

// The server is killed around an answer. The page says that the answer is not confirmed, or it is and counts;
// another server then shows what is so, and a second answer never counts beside the first.
func TestWeb_KilledServer(t *testing.T) {
	p := notesProject(t)
	a := p.asker()
	b := newTab(t)
	seed := rounds.Seed()
	random := mathrand.New(mathrand.NewPCG(seed, 2))
	calls, yes, unconfirmed := 0, 0, 0
	for range rounds.N(4, 60) {
		x, link := p.serveWeb()
		b.do(chromedp.Navigate("about:blank"))
		b.letIn(link)
		out := a.asks(policy.Call{Tool: "send"})
		calls++
		b.until("document.querySelector('.items a')")
		b.do(chromedp.Click(".items a"))
		b.pressing(random, func() { _ = x.cmd.Process.Kill() })
		// The page says what it knows, in one of these ways; a key that came too late did nothing.
		b.until(`document.body.innerText.includes("Not confirmed") || document.body.innerText.includes("Not connected")`)
		said := js[bool](b, `document.body.innerText.includes("Not confirmed")`)
		confirmed := js[bool](b, `!document.querySelector("#last").hidden`)
		if said && confirmed {
			t.Errorf("seed %d: the page says both", seed)
		}
		if said {
			unconfirmed++
			b.do(chromedp.KeyEvent("y")) // it is not sent again
		}
		// With another server a person says no, if it still waits.
		if posted, err := a.store.Open(t.Context(), ""); err != nil {
			t.Fatal(err)
		} else if len(posted) > 0 && !confirmed {
			_, link := p.serveWeb()
			b.letIn(link)
			b.until("document.querySelector('.items a') || !document.title.startsWith('(')")
			b.deniesFirst()
		}
		o := <-out
		if o.Runs() {
			yes++
		}
		if confirmed && !o.Runs() {
			t.Errorf("seed %d: it was confirmed and ended as %s: %v", seed, o.State, o.Err())
		}
	}
	a.counted(calls, yes)
	t.Logf("seed %d: %d calls, %d ran, %d said to be not confirmed", seed, calls, yes, unconfirmed)
}

// The browser is killed around an answer: the answer counts, once, or the request waits for another.
func TestWeb_KilledBrowser(t *testing.T) {
	p := notesProject(t)
	a := p.asker()
	seed := rounds.Seed()
	random := mathrand.New(mathrand.NewPCG(seed, 3))
	calls, yes := 0, 0
	for range rounds.N(2, 30) {
		browser := ownBrowser(t)
		b := tabOf(t, browser)
		_, link := p.serveWeb()
		b.letIn(link)
		out := a.asks(policy.Call{Tool: "send"})
		calls++
		b.until("document.querySelector('.items a')")
		b.do(chromedp.Click(".items a"))
		b.pressing(random, func() { _ = chromedp.FromContext(browser).Browser.Process().Kill() })
		_, link = p.serveWeb()
		after := newTab(t)
		after.letIn(link)
		after.until("document.querySelector('.items a') || !document.title.startsWith('(')")
		after.deniesFirst()
		if o := <-out; o.Runs() {
			yes++
		}
	}
	a.counted(calls, yes)
	t.Logf("seed %d: %d calls, %d ran", seed, calls, yes)
}

// Who asked is killed around the answer: the page says that nobody takes it, or the call had begun; it does not
// stay on the list, and nothing runs later.
func TestWeb_KilledAsker(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	seed := rounds.Seed()
	random := mathrand.New(mathrand.NewPCG(seed, 4))
	for range rounds.N(3, 60) {
		r := p.asksInbox()
		b.until("document.querySelector('.items li:not(.over) a')")
		b.do(chromedp.Click(".items li:not(.over) a"))
		b.pressing(random, r.kill)
		b.until("!document.title.startsWith('(')")
		js[bool](b, `(history.pushState(null, "", "/"), dispatchEvent(new PopStateEvent("popstate")), true)`)
	}
	if out, err := p.assent("audit", "verify").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
