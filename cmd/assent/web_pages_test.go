//go:build webe2e

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// A posting is a call that asks.
type posting struct {
	tool, args string
	workers    []string
	approval.Proposal
}

// A poster is an agent whose requests wait in the store of a project.
type poster struct {
	t     *testing.T
	store *store.Store
	gate  *approval.Gate
	calls map[string]posting // by id of the call
}

// shop is a project on the pages; nothing is there.
const shop = "/home/ann/src/shop"

// poster makes an agent that works for a project.
func (p *project) poster(agent string) *poster {
	p.t.Helper()
	s := openedStore(p.t, filepath.Join(p.home, "state", "assent"))
	out := &poster{p.t, s, nil, map[string]posting{}}
	session := agent + "-session"
	if err := s.BeginSession(p.t.Context(), sessions.Session{ID: session, Kind: sessions.KindRun, Owner: store.ThisProcess()}); err != nil {
		p.t.Fatal(err)
	}
	var err error
	out.gate, err = approval.New(approval.Config{
		Preparer: out, Clock: time.Now, NewID: rand.Text, Session: session, Project: shop, Rules: s, Grants: s, Recorder: s, Requests: s, Claims: s,
		Approver: approval.Queue(s), Proofs: proof.Verifier(proof.NewBook(s).Key),
		Origin: func(context.Context) approval.Origin {
			return approval.Origin{Agent: agent, Folder: shop, Branch: "main"}
		},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(out.gate.Close)
	return out
}

// Prepare implements [approval.Preparer].
func (a *poster) Prepare(_ context.Context, c policy.Call) (approval.Proposal, error) {
	call, ok := a.calls[c.ID]
	if !ok {
		return approval.Proposal{}, fmt.Errorf("no call %q", c.ID)
	}
	if len(call.Acts) == 0 {
		call.Acts = []policy.Act{{Name: c.Tool, Known: true, Verdict: policy.VerdictAsk, Why: "no rule allows it", Target: policy.ArgumentsTarget(c.Arguments)}}
	}
	return call.Proposal, nil
}

// posts posts the calls of one turn. Nobody waits for the answers: they can be taken back.
func (a *poster) posts(turn ...posting) []*approval.Request {
	a.t.Helper()
	batch := a.gate.Review(a.t.Context(), a.turn(turn)...)
	all := batch.Pending()
	if len(all) != len(turn) {
		a.t.Fatalf("%d of %d ask", len(all), len(turn))
	}
	for _, r := range all {
		if err := a.store.Post(a.t.Context(), r); err != nil {
			a.t.Fatal(err)
		}
	}
	return all
}

// waits asks the calls of one turn and sends what became of them.
func (a *poster) waits(turn ...posting) <-chan []approval.Outcome {
	out := make(chan []approval.Outcome, 1)
	calls := a.turn(turn)
	go func() { out <- a.gate.Decide(a.t.Context(), calls...) }()
	return out
}

func (a *poster) turn(turn []posting) (calls []policy.Call) {
	for _, c := range turn {
		id := rand.Text()
		a.calls[id] = c
		if c.args == "" {
			c.args = "{}"
		}
		calls = append(calls, policy.Call{ID: id, Tool: c.tool, Arguments: json.RawMessage(c.args), Workers: c.workers})
	}
	return calls
}

// shown is a view that is there already.
func shown(v present.View) func(context.Context) (present.View, error) {
	return func(context.Context) (present.View, error) { return v, nil }
}

func writeAct(path string) policy.Act {
	return policy.Act{Name: "write_file", Target: policy.PathTarget(path), Known: true, Verdict: policy.VerdictAsk, Why: "writes are asked by default"}
}

// edits is a call that changes a file.
func edits(path, before, after string) posting {
	view := present.DiffView(present.Side{Name: path, Text: before}, present.Side{Name: path, Text: after})
	args, _ := json.Marshal(map[string]string{"path": path, "content": after})
	return posting{tool: "write_file", args: string(args), Proposal: approval.Proposal{
		Summary: "Edit " + path, Acts: []policy.Act{writeAct(path)}, View: shown(view), Edit: approval.Editable{Argument: "content"}}}
}

// onePixel is a picture.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// kinds are a request of each kind of view, and what its page says.
func kinds() map[string]struct {
	posting
	says []string
	has  []string // selectors
} {
	picture, _ := base64.StdEncoding.DecodeString(onePixel)
	type kind = struct {
		posting
		says []string
		has  []string
	}
	words := func(text string) policy.Target { return policy.CommandTarget(strings.Fields(text)...) }
	return map[string]kind{
		"diff": {edits("notes/today.md", "# Today\n\n- invoice due friday!!\n- call plumber\n\nLunch with Ann at noon.\n",
			"# Today\n\n- invoice is due on Friday\n- call the plumber\n- buy bread\n\nLunch with Ann at noon.\n"),
			[]string{"The change", "Edit notes/today.md", "3 lines added", "2 lines removed", "Asks because: writes are asked by default"},
			[]string{"tr.removed .marked", "tr.added .marked", "tr.added td.n", "tr.removed td.s"}},
		"command": {posting{tool: "shell", args: `{"command":"npm test && git push"}`, Proposal: approval.Proposal{
			Summary: "npm test && git push", Acts: []policy.Act{
				{Name: "shell", Target: words("npm test"), Known: true, Verdict: policy.VerdictFree, Why: "policy.yaml:4 allows it"},
				{Name: "shell", Target: words("git push"), Known: true, Verdict: policy.VerdictAsk, Why: "no rule allows it"},
				{Name: "connect", Target: policy.HostTarget("example.com", "443"), Known: true, Verdict: policy.VerdictAsk, PersonOnly: true, Why: "no rule names this host"}},
			Held: func() []string { return []string{"it writes nothing: the folders are read-only for it"} },
			View: shown(present.View{Kind: present.KindCommand, Content: "npm test && \\\n  git push", Original: "npm test&&git push",
				Facts: present.Facts{present.TextFact(present.FactCwd, "shop")}})}},
			[]string{"The command", "working directory: shop", "If it runs, the sandbox holds it to this", "it writes nothing", "As the model wrote it", "npm test&&git push",
				"policy.yaml:4 allows it", "Only a person can answer this"},
			[]string{".acts .free", ".acts .asks", ".held li"}},
		"structured": {posting{tool: "send_mail", args: `{"to":"ann@example.com","amount":12345678901234567890}`, Proposal: approval.Proposal{Summary: "Send a mail to ann@example.com"}},
			[]string{"The values", "ann@example.com", "12345678901234567890"}, nil},
		"image": {posting{tool: "write_file", args: `{"path":"notes/dot.png"}`, Proposal: approval.Proposal{Summary: "Create notes/dot.png (68 bytes)", Acts: []policy.Act{writeAct("notes/dot.png")},
			View: shown(present.View{Kind: present.KindFile, Content: string(picture), Facts: present.Facts{present.TextFact("type", "image/png"), present.NumberFact(present.FactSize, int64(len(picture)))}})}},
			[]string{"The content", "type: image/png", fmt.Sprint(len(picture), " bytes")}, []string{".view img[alt]"}},
		"binary": {posting{tool: "write_file", args: `{"path":"notes/a.bin"}`, Proposal: approval.Proposal{Summary: "Create notes/a.bin (5 MB)", Acts: []policy.Act{writeAct("notes/a.bin")},
			View: shown(present.View{Kind: present.KindFile, Content: "\x7fELF\x02\x01\x00\xff\xfe", Facts: present.Facts{present.TextFact("type", "application/x-executable"),
				present.TextFact("digest", "sha256:abc"), present.FlagFact(present.FactTruncated, true), present.NumberFact(present.FactFullSize, 5<<20)}})}},
			[]string{"type: application/x-executable", "digest: sha256:abc", "only the head", "7f 45 4c 46", "No session or always: only the beginning can be shown."}, nil},
		"chain": {posting{tool: "worker_call", args: `{"worker":"analyst"}`, workers: []string{"lead", "scout", "analyst"}, Proposal: approval.Proposal{
			Summary: "Call the analyst", View: shown(present.View{Kind: present.KindText, Content: "Read the report."}),
			Choices: []approval.Choice{{ID: "once", Label: "only this file"}, {ID: "all", Label: "all files of the turn"}}}},
			[]string{"Called through: lead → scout → analyst", "Details", "Approve: only this file", "Approve: all files of the turn"}, []string{"[data-choice=once]"}},
		"long": {posting{tool: "write_file", args: `{"path":"notes/long.md"}`, Proposal: approval.Proposal{Summary: "Create notes/long.md", Acts: []policy.Act{writeAct("notes/long.md")},
			View: shown(present.View{Kind: present.KindFile, Content: strings.Repeat("a line of the long file that is wide enough to wrap on a small screen\n", 600)})}},
			[]string{"Show all of it"}, []string{"[data-do=whole]"}},
	}
}

// Each kind of view has its page.
func TestWebPages_EachKindOfRequest(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	b.sees("Nothing waits")
	all := kinds()
	agent := p.poster("Claude Code")
	for name, k := range all {
		r := agent.posts(k.posting)[0]
		b.sees(k.tool + " · " + k.Summary) // it comes by itself
		if row := js[string](b, fmt.Sprintf(`document.querySelector('[data-id="%s"]').innerText`, r.ID)); !strings.Contains(row, "Claude Code") ||
			!strings.Contains(row, "shop · main") || !strings.Contains(row, " s ago") {
			t.Errorf("%s: the row says %q", name, row)
		}
		b.do(chromedp.Click(fmt.Sprintf(`[data-id="%s"] a`, r.ID)))
		b.armed()
		b.shot(name)
		b.sees(append(k.says, "Claude Code in /home/ann/src/shop on main", "What it would do")...)
		for _, selector := range k.has {
			if !js[bool](b, "Boolean(document.querySelector("+quoted(selector)+"))") {
				t.Errorf("%s: there is no %s", name, selector)
			}
		}
		b.press("\x1b") // Escape
		b.until("document.querySelector('#list')")
	}
	if n := js[string](b, "document.title"); !strings.HasPrefix(n, fmt.Sprintf("(%d) Waiting", len(all))) {
		t.Errorf("the title is %q", n)
	}
}

// What people of a team decide about offers nothing but a denial.
func TestWebPages_ATeamDecides(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	r := agent.gate.Review(t.Context(), agent.turn([]posting{edits("notes/a.md", "a\n", "b\n")})...).Pending()[0]
	r.Routing = &approval.Routing{Tenant: "acme", Sponsor: "p_ann",
		Need: approval.Need{From: []approval.Count{{Group: "sre", Count: 2}}, Proof: approval.StrengthPasskey}}
	if err := agent.store.Post(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	b.sees("notes/a.md")
	b.do(chromedp.Click(".items a"))
	b.armed()
	b.shot("team")
	b.sees("Waiting for the team: 2 of sre, with a passkey. Here you can only deny it.")
	if found := js[string](b, `[...document.querySelectorAll("#request > div button")].map((b) => b.dataset.answer ?? b.dataset.do).join(" ")`); found != "note why deny" {
		t.Errorf("the buttons are %s", found)
	}
	for _, key := range []string{"y", "s", "a", "e", "r"} {
		b.press(key)
		if js[bool](b, `Boolean(document.querySelector("dialog[open]"))`) {
			t.Errorf("%s opens a dialog", key)
		}
	}
	b.press("n")
	b.sees("Nothing waits")
	if got, err := agent.store.Posted(t.Context(), r.ID); err != nil || got.Settled == nil || got.Settled.State != policy.StateDenied {
		t.Errorf("%+v, %v", got.Settled, err)
	}
}

// A real command, with what the sandbox would hold it to.
func TestWebPages_ARealCommand(t *testing.T) {
	p := newProject(t, map[string]string{"notes/today.md": "x\n", "turns.yaml": `turns:
  - calls: [{id: a, tool: shell, args: {command: "cat today.md   &&   touch new.txt"}}]
  - say: Done.
`, "sh.worker": "---\nmodel: script:turns.yaml\n" + shellPolicy + "---\nYou run commands.\n"})
	b := p.web()
	r := p.begin("run", "--ask", "inbox", "sh.worker", "Go.")
	b.sees("shell · ")
	b.do(chromedp.Click(".items a"))
	b.armed()
	b.sees("shell(cat today.md)", "shell(touch new.txt)", "write_file(notes/new.txt)", "it may start cat, touch", "If it runs, the sandbox holds it to this")
	b.press("y")
	r.ends(0, "Done.")
	p.has("notes/new.txt", "")
}

// The requests of one turn name each other, and the next one follows an answer.
func TestWebPages_Batch(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Codex")
	out := agent.waits(edits("notes/a.md", "a\n", "b\n"), edits("notes/b.md", "a\n", "b\n"), edits("notes/c.md", "a\n", "b\n"))
	b.sees("notes/a.md", "notes/b.md", "notes/c.md")
	b.do(chromedp.Click(".items a"))
	b.armed()
	b.sees("One of 3 requests of this turn")
	b.do(chromedp.Click(".batch summary"))
	b.sees("write_file · Edit notes/b.md")
	b.armed()
	first := b.text("h1")
	b.press("j")
	b.until("document.querySelector('h1').innerText !== " + quoted(first))
	b.press("k")
	b.until("document.querySelector('h1').innerText === " + quoted(first))
	for i := range 3 {
		b.armed()
		if i < 2 {
			b.sees(fmt.Sprintf("Edit notes/%c.md", 'a'+i))
		}
		here := b.text("h1")
		b.press("y")
		b.until("document.querySelector('h1').innerText !== " + quoted(here))
	}
	b.until("document.querySelector('#list')")
	for _, o := range <-out {
		if o.State != policy.StateApproved || o.Decision.By.Via != policy.ViaBrowser || o.Decision.Proof == nil {
			t.Errorf("%s: %s by %s", o.Call.Tool, o.State, o.Decision.By)
		}
	}
}

// The audit page searches, filters, shows one call with its trace, verifies, exports, and draws what asked.
func TestWebPages_Audit(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	p.history(p.poster("Claude Code").store)
	run := p.asksInbox()
	b.sees("notes/a.md")
	b.do(chromedp.Click(".items a"))
	b.armed()
	b.press("y")
	run.ends(0)
	b.visit("/audit")
	b.sees("Questions and answers per day", "What asks most, with the rule that would answer it", "write_file(notes/a.md)", "✎ signed")
	if n := js[int](b, "document.querySelectorAll('.plot rect.approved').length"); n < 12 {
		t.Errorf("%d bars", n)
	}
	rows := "document.querySelectorAll('#log-title + table tbody tr').length"
	b.do(chromedp.SendKeys("[name=text]", "customers"))
	b.press("\r")
	b.until("location.search.includes('customers') && " + rows + " === 4")
	b.sees("“not to customers”")
	b.visit("/audit?outcome=denied")
	b.until(rows + " === 4 && document.querySelector('[name=outcome]').value === 'denied'")
	b.visit("/audit?text=nothing-like-it")
	b.sees("Nothing was found.")
	b.visit("/audit")
	b.until(rows + " === 50")
	b.do(chromedp.ScrollIntoView("a[href*=before]"), chromedp.Click("a[href*=before]"))
	b.until("location.search.includes('before=') && document.querySelector('#log-title')")
	b.visit("/audit?text=notes/a.md")
	b.do(chromedp.Click("td a.target"))
	b.sees("Record ", "write_file", "browser", "How it was decided", "writes are asked by default")
	b.visit("/audit")
	b.do(chromedp.Click("[data-do=verify]"))
	b.sees("The log is as it was recorded: ")
	for _, format := range []string{"jsonl", "csv"} {
		js[bool](b, `URL.createObjectURL = (b) => { window.saved = b.text(); return "blob:x"; }, HTMLAnchorElement.prototype.click = function () { window.name = this.download; }, true`)
		b.do(chromedp.Click("[data-format=" + format + "]"))
		b.sees("Exported to assent-audit." + format)
		if text := js[string](b, "saved"); !strings.Contains(text, "write_file") || js[string](b, "window.name") != "assent-audit."+format {
			t.Errorf("%s: %.200s", format, text)
		}
	}
}

// Rules are tried on past calls, saved, turned off and on, and removed; grants are revoked.
func TestWebPages_Rules(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	p.history(agent.store)
	rules := func() string {
		out, err := p.assent("rules", "list").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	b.visit("/audit")
	b.do(chromedp.ScrollIntoView(".asks-most a"), chromedp.Click(".asks-most a"))
	b.until("document.querySelector('#add [name=rule]')?.value.startsWith('allow run_tests')")
	if !js[bool](b, "document.querySelector('[data-do=add]').disabled") {
		t.Error("a rule is saved without being tried")
	}
	b.do(chromedp.Click("[data-do=try]"))
	b.sees("52 past calls, 48 would have gone otherwise.")
	b.do(chromedp.SendKeys("#add [name=note]", "tests are fine"))
	if !js[bool](b, "document.querySelector('[data-do=add]').disabled") {
		t.Error("what changed is saved without being tried")
	}
	b.do(chromedp.Focus("#add [name=rule]"))
	b.press("\r")
	b.until("document.querySelector('[data-do=add]:enabled')")
	b.do(chromedp.Click("[data-do=add]"))
	b.sees("Saved: allow run_tests", "tests are fine")
	b.until("document.activeElement.tagName === 'H1'")

	b.do(chromedp.SendKeys("#add [name=rule]", "allow shell"), chromedp.Click("[data-do=try]"))
	b.sees("This rule is wide")
	b.do(chromedp.Click("[data-do=add]"))
	b.sees("Save the wide rule")
	if strings.Contains(rules(), "allow shell") {
		t.Error("a wide rule was saved at once")
	}
	b.do(chromedp.SendKeys("#add [name=rule]", "("), chromedp.Click("[data-do=try]"))
	b.until("document.querySelector('#said').innerText && !document.querySelector('#trial').innerText")

	b.do(chromedp.Click("[data-method=PATCH]"))
	b.sees("Turned off: allow run_tests")
	if !strings.Contains(rules(), "off") && !strings.Contains(rules(), "disabled") {
		t.Errorf("the rule is on:\n%s", rules())
	}
	b.do(chromedp.Click("[data-method=PATCH]"))
	b.sees("Turned on: allow run_tests")
	b.do(chromedp.Click("[data-path*='/rules/'][data-method=DELETE]"))
	b.sees("Press again to remove")
	b.do(chromedp.Click("[data-path*='/rules/'][data-method=DELETE]"))
	b.sees("Removed: allow run_tests", "No rules are saved.")

	out := agent.waits(edits("notes/a.md", "a\n", "b\n"))
	b.visit("/")
	b.sees("notes/a.md")
	b.do(chromedp.Click(".items a"))
	b.armed()
	b.press("s")
	b.until("document.querySelector('#session [data-give]:enabled')")
	b.press("y")
	if o := (<-out)[0]; o.State != policy.StateApproved {
		t.Error(o.State)
	}
	b.until("document.querySelector('#list')")
	b.visit("/rules")
	b.sees("Granted for a session", "write_file(notes/a.md)")
	b.do(chromedp.Click("[data-path*=grants]"))
	b.sees("Press again to revoke")
	b.do(chromedp.Click("[data-path*=grants]"))
	b.sees("Revoked: ", "Nothing is granted.")
}

// Status says what is on, and revokes a browser; explain says what would happen.
func TestWebPages_StatusAndExplain(t *testing.T) {
	p := notesProject(t)
	x, link := p.serveWeb()
	b := newTab(t)
	b.letIn(link)
	b.visit("/explain")
	b.do(chromedp.SendKeys("#what textarea", "rm -rf build"), chromedp.Click("#what button"))
	b.until("document.querySelector('#answer').innerText.includes('rm')")
	b.visit("/status")
	b.sees("Waiting", "Sandbox", "(this one)", "There are none.")
	x.types("\r")
	x.until("a second link", func() bool { return len(webLink.FindAllString(x.screen.String(), -1)) == 2 })
	other := newTab(t)
	other.letIn(webLink.FindAllString(x.screen.String(), -1)[1])
	b.visit("/status")
	b.until("document.querySelectorAll('[data-path*=keys]').length === 2")
	js[bool](b, "[...document.querySelectorAll('[data-path*=keys]')].find((e) => !e.closest('tr').innerText.includes('this one')).click(), true")
	b.sees("Press again to revoke")
	js[bool](b, "document.querySelector('[data-sure]').click(), true")
	b.sees("Revoked: ")
	other.do(chromedp.Navigate(b.url + "/"))
	other.sees("This page cannot answer")
}

// Two tabs have one key and one stream; when the one that listens is closed, the other does.
func TestWebPages_Tabs(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	agent := p.poster("Claude Code")
	second := b.another("/")
	agent.posts(edits("notes/a.md", "a\n", "b\n"))
	b.sees("notes/a.md")
	second.sees("notes/a.md")
	b.do(chromedp.Navigate("about:blank"))
	agent.posts(edits("notes/b.md", "a\n", "b\n"))
	second.sees("notes/b.md")
}

// A call through the gateway is answered in the browser as one of a run is.
func TestWebPages_Gateway(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	policy, notes := notesPolicy(t, "")
	c := startMCP(t, p.assent("mcp", "-c", policy, "--tools", "files"))
	done := make(chan string)
	go func() { done <- c.call("write_file", `{"path":"notes/b.md","content":"one\n"}`) }()
	b.sees("Create notes/b.md")
	b.do(chromedp.Click(".items a"))
	b.armed()
	b.press("y")
	<-done
	if text, err := os.ReadFile(filepath.Join(notes, "b.md")); err != nil || string(text) != "one\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// So is one of another agent's hook, which verifies the signature itself.
func TestWebPages_Hook(t *testing.T) {
	p := notesProject(t)
	b := p.web()
	event, err := json.Marshal(map[string]any{
		"session_id": "s", "cwd": p.dir, "hook_event_name": "PreToolUse", "permission_mode": "default",
		"tool_name": "Bash", "tool_input": map[string]string{"command": "make deploy"}, "tool_use_id": "one",
	})
	if err != nil {
		t.Fatal(err)
	}
	hook := p.assent("hook", "claude-code")
	hook.Stdin = bytes.NewReader(event)
	answer := make(chan string)
	go func() {
		out, err := hook.Output()
		answer <- fmt.Sprintf("%s %v", out, err)
	}()
	b.sees("make deploy")
	b.do(chromedp.Click(".items a"))
	b.armed()
	b.press("y")
	if got := <-answer; !strings.Contains(got, `"permissionDecision":"allow"`) {
		t.Errorf("the hook answered %s", got)
	}
}
