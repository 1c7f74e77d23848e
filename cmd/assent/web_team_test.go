//go:build webe2e

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/internal/team/teamtest"
	"github.com/assent-dev/assent/policy"
)

// A teamPhone is a phone of a person of a team: 320 px wide, with an authenticator that takes every touch.
type teamPhone struct {
	*page
	x *teamtest.Team // nil if the server is a program of its own
}

// phoneSize is that of a small phone.
func (b *page) phoneSize() {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(320, 568, chromedp.EmulateMobile, chromedp.EmulateTouch))
}

// teamPhoneOf signs somebody in, by the way that a person goes.
func teamPhoneOf(t *testing.T, x *teamtest.Team, name string) teamPhone {
	t.Helper()
	p := phoneAt(t, x.URL, name)
	p.x = x
	return p
}

// phoneAt signs somebody in at a server.
func phoneAt(t *testing.T, url, name string) teamPhone {
	t.Helper()
	p := teamPhone{page: newTab(t)}
	p.url = url
	p.phoneSize()
	p.do(called(webauthn.Enable, webauthn.EnableParams{}),
		called(webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal, HasResidentKey: true,
			HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true}}))
	p.open("/")
	p.sees("Sign in", "You are not signed in")
	p.do(chromedp.Click("main a"))
	p.sees("Who are you?")
	p.do(chromedp.Click("#" + strings.ToLower(name)))
	p.sees("Waiting for you")
	return p
}

// enrols makes a passkey with an invitation.
func (p teamPhone) enrols(who db.Person) teamPhone {
	p.t.Helper()
	code, err := p.x.DB.Invite(p.t.Context(), who.ID, "admin", "", time.Hour)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.enrolsWith(code)
}

// enrolsWith makes a passkey with the code of an invitation, on the page Keys.
func (p teamPhone) enrolsWith(code string) teamPhone {
	p.t.Helper()
	p.open("/keys")
	p.sees("You have none.")
	p.do(chromedp.SendKeys("#make [name=invitation]", code), chromedp.Click("#make button"))
	p.sees("Enrolled: ")
	return p
}

// phonesOf is a team of three in the browser, of whom some must agree; Ann is behind the agent.
func phonesOf(t *testing.T, count int) (x *teamtest.Team, g *teamtest.Gate, ann, bob, cleo teamPhone) {
	t.Helper()
	x = teamtest.New(t, pgtest.Start(t).DSN(), -1)
	a, b, c := x.Person("Ann", "sre"), x.Person("Bob", "sre"), x.Person("Cleo", "sre")
	g = x.Gate("laptop", a)
	x.Decide([]string{"write_file", "shell", "send_mail", "deploy", "open", "fetch"}, []bundle.From{{From: "sre", Count: count}}, "sponsor")
	ann, bob, cleo = teamPhoneOf(t, x, "Ann").enrols(a), teamPhoneOf(t, x, "Bob").enrols(b), teamPhoneOf(t, x, "Cleo").enrols(c)
	x.Publish()
	for _, p := range []teamPhone{ann, bob, cleo} {
		p.open("/keys")
		p.sees("in force")
		p.open("/")
	}
	return x, g, ann, bob, cleo
}

// asks has the agent of a gate call something.
func asks(g *teamtest.Gate, c posting) (<-chan approval.Outcome, *approval.Request) {
	if len(c.Acts) == 0 {
		c.Acts = []policy.Act{{Name: c.tool, Known: true, Verdict: policy.VerdictAsk, Why: "no rule allows it", Target: policy.ArgumentsTarget([]byte(c.args))}}
	}
	out := g.Calls(c.tool, c.args, c.Proposal)
	return out, <-g.Asked
}

// reads scrolls to the end of a request and waits until it takes a yes.
func (p teamPhone) reads() {
	p.t.Helper()
	p.until("document.querySelector('#request')")
	js[bool](p.page, "(document.querySelector('#end').scrollIntoView(), true)")
	p.until(`((works) => (window.since = works ? window.since || performance.now() : 0, works && performance.now() - window.since > 300))(document.querySelector("[data-answer=approve]:enabled"))`)
	js[bool](p.page, "(window.since = 0, true)")
}

// apart wants two answers so far from each other that a thumb does not meet both, and large enough to hit.
func (p teamPhone) apart(no, yes string) {
	p.t.Helper()
	box := func(selector, side string) float64 {
		return js[float64](p.page, fmt.Sprintf("document.querySelector(%q).getBoundingClientRect().%s", selector, side))
	}
	if gap := box(yes, "left") - box(no, "right"); gap < 80 {
		p.t.Errorf("%s and %s are %v px apart", no, yes, gap)
	}
	for _, b := range []string{no, yes} {
		if high := box(b, "height"); high < 44 {
			p.t.Errorf("%s is %v px high", b, high)
		}
	}
}

// S60: on the phone, over TLS and at 320 px, a person reads a diff and approves it with a passkey, and the call runs in under a second.
func TestS60_OnThePhone(t *testing.T) {
	_, g, ann, bob, _ := phonesOf(t, 1)
	out, _ := asks(g, edits("notes/today.md", "# Today\n\n- call plumber\n", "# Today\n\n- call the plumber\n- buy bread\n"))
	ann.sees("Nothing waits for you", "Your agents ask, others decide: you can only deny", "Edit notes/today.md")
	bob.sees("write_file · Edit notes/today.md", "1 of sre, not Ann")
	bob.do(chromedp.Click(".items a"))
	bob.sees("The change", "buy bread", "2 lines added", "Claude Code of Ann on laptop")
	bob.reads()
	for _, problem := range js[[]string](bob.page, problemsJS) {
		t.Error(problem)
	}
	bob.apart("[data-answer=deny]", "[data-answer=approve]")
	begun := time.Now()
	bob.do(chromedp.Click("[data-answer=approve]"))
	o := <-out
	took := time.Since(begun)
	t.Logf("from the tap to the call that may run: %v", took)
	if o.State != policy.StateApproved || o.Decision.By.User != "Bob" {
		t.Fatalf("%s by %s: %s", o.State, o.Decision.By, o.Why)
	}
	if took > time.Second {
		t.Errorf("it took %v", took)
	}
	bob.sees("Settled: approved")
	ann.until("document.querySelector('.own .over .reason')?.textContent === 'approved by Bob'")
	bob.visit("/history")
	bob.sees("approved", "Bob")
}

// S61: two of three. Who looks at the request sees the first vote come in.
func TestS61_TwoOfThreeOnPhones(t *testing.T) {
	_, g, ann, bob, cleo := phonesOf(t, 2)
	out, r := asks(g, edits("notes/a.md", "a\n", "b\n"))
	ann.open("/r/" + r.ID)
	ann.sees("You cannot approve this: Ann is behind the agent that asks")
	ann.until("document.querySelector('[data-answer=deny]:enabled') && !document.querySelector('[data-answer=approve]:enabled')")
	cleo.open("/r/" + r.ID)
	cleo.sees("Needs 2 of sre, not Ann")
	bob.open("/r/" + r.ID)
	bob.reads()
	bob.do(chromedp.Click("[data-answer=approve]"))
	bob.sees("Your yes is counted; 1 more of sre needed")
	cleo.sees("2 of sre, not Ann: Bob voted yes; 1 more of sre needed", "✓ yes Bob")
	cleo.reads()
	cleo.do(chromedp.Click("[data-answer=approve]"))
	if o := <-out; o.State != policy.StateApproved {
		t.Fatalf("%s: %s", o.State, o.Why)
	}
	ann.sees("This needs no answer any more: approved by Bob, Cleo.")
	ann.open("/history")
	ann.sees("approved", "Bob", "Cleo")
}

// Several at once, with one touch.
func TestWebTeam_Batch(t *testing.T) {
	_, g, _, bob, _ := phonesOf(t, 1)
	first, a := asks(g, edits("notes/a.md", "a\n", "b\n"))
	second, b := asks(g, edits("notes/b.md", "a\n", "b\n"))
	third, c := asks(g, edits("notes/c.md", "a\n", "b\n"))
	bob.until("document.querySelectorAll('.items li').length === 3")
	for _, r := range []*approval.Request{a, b} {
		bob.visit("/r/" + r.ID)
		bob.reads()
		bob.press("m")
	}
	bob.visit("/r/" + c.ID)
	bob.press("m")
	bob.visit("/")
	bob.sees("Approve 2 of 3 marked")
	bob.apart("[data-bulk=deny]", "[data-bulk=approve]")
	for _, problem := range js[[]string](bob.page, problemsJS) {
		t.Error(problem)
	}
	touches := "(window.touches = 0, navigator.credentials.get = ((get) => (...a) => (touches++, get.apply(navigator.credentials, a)))(navigator.credentials.get), true)"
	js[bool](bob.page, touches)
	bob.do(chromedp.Click("[data-bulk=approve]"))
	bob.sees("Approve 2, this once, with one touch", "open it first")
	bob.until("document.querySelector('#several [data-give]:enabled')")
	bob.do(chromedp.Click("#several [data-give]"))
	for _, out := range []<-chan approval.Outcome{first, second} {
		if o := <-out; o.State != policy.StateApproved {
			t.Errorf("%s: %s", o.State, o.Why)
		}
	}
	bob.sees("Approved: 2")
	if n := js[int](bob.page, "document.querySelectorAll('.items input:checked').length"); n != 1 { // what was left open
		t.Errorf("%d are marked after the answer", n)
	}
	if n := js[int](bob.page, "touches"); n != 1 {
		t.Errorf("%d touches", n)
	}
	select {
	case o := <-third:
		t.Errorf("the third was answered: %s", o.State)
	default:
	}
}

// Every page of a team at every width, light and dark: nothing runs over the edge, every target is large enough, and
// axe-core finds no barrier.
func TestWebTeam_Looks(t *testing.T) {
	x, g, ann, bob, _ := phonesOf(t, 2)
	_ = x
	bob.visit("/")
	bob.looksGood("team-list-empty")
	outs := map[string]*approval.Request{}
	for name, k := range kinds() {
		_, outs[name] = asks(g, k.posting)
	}
	bob.until("document.querySelectorAll('.items li').length > 3")
	js[bool](bob.page, "document.querySelectorAll('.items input').forEach((i, n) => n < 3 && i.click()), true")
	bob.looksGood("team-list")
	for name, r := range outs {
		bob.visit("/r/" + r.ID)
		bob.until("document.querySelector('[data-answer=deny]:enabled')")
		bob.looksGood("team-" + name)
	}
	for key, words := range map[string]string{"N": "Deny with a note", "r": "Answer in the tool's place", "?": "names who decides"} {
		bob.visit("/r/" + outs["diff"].ID)
		bob.reads()
		bob.press(key)
		bob.sees(words)
		bob.looksGood("team-dialog")
		bob.press("\x1b")
		bob.until("!document.querySelector('dialog[open]')")
	}
	for path, words := range map[string]string{"/history": "pending", "/people": "Who decides", "/keys": "Invite somebody", "/r/none": "This cannot be shown"} {
		bob.visit(path)
		bob.sees(words)
		bob.looksGood("team" + strings.ReplaceAll(path, "/", "-"))
	}
	ann.visit("/r/" + outs["diff"].ID)
	ann.sees("You cannot approve this")
	ann.looksGood("team-sponsor")
	stranger := newTab(t)
	stranger.url = bob.url
	stranger.open("/")
	stranger.sees("You are not signed in")
	stranger.looksGood("team-signin")
}

// Keys: a second passkey is vouched for by the first, another person is invited with a touch, and a key is revoked.
func TestWebTeam_Keys(t *testing.T) {
	_, _, _, bob, cleo := phonesOf(t, 1)
	cleo.open("/keys")
	cleo.sees("Invite somebody")
	js[bool](cleo.page, "(document.querySelector('#invite select').value = [...document.querySelectorAll('#invite option')].find((o) => o.textContent === 'Bob').value, true)")
	cleo.do(chromedp.Click("#invite button"))
	cleo.sees("The code for Bob, which works once")
	code := cleo.text("#said")
	code = code[strings.LastIndex(code, " ")+1:]
	// The authenticator of the tab has a passkey for Bob already, which it says; another one takes the invitation.
	other := teamPhoneOf(t, bob.x, "Bob")
	other.open("/keys")
	other.sees("in force")
	other.do(chromedp.SendKeys("#make [name=invitation]", code), chromedp.Click("#make button"))
	other.sees("Enrolled: ", "waits for the next signed policy")
	// Everybody is told at once, on whatever page they are, and Bob more loudly.
	cleo.until("document.querySelector('#new-keys details')?.textContent.includes('have an administrator run assent people revoke-key ')")
	cleo.sees("New keys that do not count yet: Bob", "let in by Cleo")
	bob.open("/history")
	bob.until("document.querySelector('#new-keys .mine[role=alert]')")
	bob.sees("A new passkey for you", "let in by Cleo", "If you did not make it, revoke it now")
	cleo.visit("/")
	for page, name := range map[*page]string{cleo.page: "team-new-keys", bob.page: "team-new-keys-own"} {
		page.looksGood(name)
	}
	other.do(chromedp.Click("[data-method=DELETE]"))
	other.sees("Press again to revoke")
	other.do(chromedp.Click("[data-method=DELETE]"))
	other.sees("Revoked: ", "revoked here; machines accept it until the next policy is published")
	other.do(chromedp.Click("[data-do=sign-out]"))
	other.sees("You are signed out.")
	other.open("/keys")
	other.sees("You are not signed in")
}

// Somebody whom no administrator has added is told so.
func TestWebTeam_Stranger(t *testing.T) {
	x := teamtest.New(t, pgtest.Start(t).DSN(), -1)
	p := newTab(t)
	p.url = x.URL
	p.open("/")
	p.do(chromedp.Click("main a"))
	p.sees("Who are you?")
	p.do(chromedp.Click("#mallory"))
	p.sees("You are not in this team yet", "assent people add")
}

// Nothing happens on Enter, nor at once; a request that does not show all that it would do takes no yes.
func TestWebTeam_Manners(t *testing.T) {
	_, g, _, bob, _ := phonesOf(t, 1)
	out, r := asks(g, edits("notes/a.md", "a\n", "b\n"))
	bob.visit("/r/" + r.ID)
	js[bool](bob.page, "(document.querySelector('[data-answer=approve]').click(), true)") // within half a second
	bob.reads()
	js[bool](bob.page, "(document.querySelector('[data-answer=approve]').focus(), true)")
	bob.press("\r")
	bob.sees("Enter alone answers nothing")
	select {
	case o := <-out:
		t.Fatalf("answered: %s", o.State)
	default:
	}
	bob.press("n")
	if o := <-out; o.State != policy.StateDenied {
		t.Error(o.State)
	}
}

// Who opens the page while the database is away reads so, and gets on from there when it is back.
func TestWebTeam_TheDatabaseIsAway(t *testing.T) {
	x := teamtest.New(t, pgtest.Start(t).DSN(), -1)
	x.Person("Ann", "sre")
	ann := teamPhoneOf(t, x, "Ann")
	x.Write(`ALTER TABLE team.web_sessions RENAME TO away`)
	ann.open("/")
	ann.sees("Not connected", "The database does not answer. Try again.")
	x.Write(`ALTER TABLE team.away RENAME TO web_sessions`)
	ann.do(chromedp.Click("main button"))
	ann.sees("Waiting for you")
}
