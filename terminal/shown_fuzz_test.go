package terminal

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// ownEscapes are the only ones that are drawn.
var ownEscapes = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// checkShown wants nothing that acts on a terminal but newlines and our own styles.
func checkShown(t *testing.T, shown string) {
	t.Helper()
	for _, r := range ownEscapes.ReplaceAllString(shown, "") {
		if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Fatalf("%U reaches the terminal in %q", r, shown)
		}
	}
}

// hostile is a request all of whose words are those of others.
func hostile(id, text, language string) *approval.Request {
	return &approval.Request{
		ID: id, Call: policy.Call{Tool: text, Connector: language, Workers: []string{text}},
		Summary: text, Why: text, Acts: []policy.Act{
			{Name: text, Target: policy.PathTarget(text), Verdict: policy.VerdictAsk, Why: text, Dir: text},
			{Name: "b", Target: policy.CommandTarget(text), Verdict: policy.VerdictFree, Cause: 1, Dir: language},
			{Name: "c", Target: policy.TextTarget(text), PersonOnly: true, Why: language},
		}, Open: []int{0, 2}, Trace: policy.Trace{{Look: text, Found: language}, {Act: 2, Found: "covered", Source: text}, {Act: 3, Found: "possibly denied", Source: text}},
		Offers:  []policy.Offer{{Reach: policy.ReachExact, Allow: []string{text}, Deny: []string{text}, Acts: []int{0}}},
		Choices: []approval.Choice{{ID: "x", Label: text}},
		Origin:  approval.Origin{Agent: text, Folder: "/x/" + text, Branch: text},
	}
}

// FuzzShown puts any text everywhere that text of others is shown.
func FuzzShown(f *testing.F) {
	f.Add("plain", "go", 40)
	f.Add("{\"a\": \"\x1b\\u202e\"}", "json", 24)
	f.Add("a\x1b[2J\u202eb\r\tc\x00\xff\u0301\n\n+x", "diff", 41)
	f.Add("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\tb\n+a\u200bb\n", "", 120)
	f.Add("echo `rm -rf`; \x9b31m $(x) \"", "bash", 24)
	f.Fuzz(func(t *testing.T, text, language string, columns int) {
		kinds := []present.Kind{present.KindText, present.KindDiff, present.KindFile, present.KindCommand, present.KindStructured}
		columns = 20 + (columns%200+200)%200
		view := present.View{Kind: kinds[columns%len(kinds)], Content: text, Original: text, Language: language}
		view.Facts = present.Facts{present.TextFact("cwd", text), present.TextFact(language, text)}
		r, other := hostile("1", text, language), hostile("2", text, language)
		checkDialogs(t, r, other, view, columns)
		checkEvents(t, r, other, text, columns)
		checkSaid(t, r, text, columns)
	})
}

// checkDialogs shows a request and everything that a key opens over it.
func checkDialogs(t *testing.T, r, other *approval.Request, view present.View, columns int) {
	t.Helper()
	s, _ := newState(options{theme: colours, limit: present.DefaultLimit(), grants: true, covers: true}, columns, 0, []*approval.Request{r, other}, start)
	s, _ = s.update(loadedEvent{id: "1", view: view})
	checkShown(t, s.render())
	low, _ := s.update(sizeEvent{columns, 24})
	checkShown(t, low.render())
	for _, key := range []string{"s", "a", "?", "c", "A", "N", "D", "n", "r", "q"} {
		open, _ := s.update(keyEvent{name: key, at: time.Unix(1<<40, 0)})
		open, _ = open.update(coversEvent{open.turn, []string{view.Content}})
		open, _ = open.update(pasteEvent{view.Content})
		checkShown(t, open.render())
	}
	checkShown(t, strings.ReplaceAll(wholeText(r, view, colours), "\t", "")) // a pager takes tabs
	checkShown(t, expandTabs(wholeText(r, view, noStyles)))
}

// checkEvents shows what comes from elsewhere while a prompt is open.
func checkEvents(t *testing.T, r, other *approval.Request, text string, columns int) {
	t.Helper()
	base, _ := newState(options{theme: colours, grants: true}, columns, 0, []*approval.Request{r, other}, start)
	base, _ = base.update(loadedEvent{id: "1", view: present.View{Kind: present.KindText, Content: "x"}})
	failed := errors.New(text)
	who := policy.Who{User: text, Host: text}
	for _, e := range []event{
		historyEvent{lines: []string{text, eventText(approval.Event{Acts: []string{text}, Basis: text, Note: text})}}, historyEvent{err: failed},
		grantsEvent{grants: []policy.Grant{{Act: r.Acts[0], Reach: policy.ReachExact, By: who}}}, grantsEvent{err: failed},
		editedEvent{id: "1", err: failed}, pagedEvent{id: "1", err: failed}, loadedEvent{id: "2", err: failed},
		settledEvent{answered: []approval.Decision{r.Deny(text)}, err: failed, pending: []*approval.Request{r, other}},
	} {
		s, _ := base.update(e)
		checkShown(t, s.render())
		s, _ = s.update(keyEvent{name: "tab", at: time.Unix(1<<40, 0)})
		checkShown(t, s.render())
	}
}

// checkSaid shows what stays on the screen, and what is shown beside the prompt.
func checkSaid(t *testing.T, r *approval.Request, text string, columns int) {
	t.Helper()
	who := policy.Who{User: text, Host: text, Via: policy.ViaInbox}
	denied := r.Deny(text)
	denied.By = who
	for _, o := range []approval.Outcome{
		{State: policy.StateApproved}, {State: policy.StateDenied, Decision: &denied}, {State: policy.StateAutoDenied, Basis: text, Why: text}, {State: policy.StateAnswered},
	} {
		o.Request = r.ID
		for _, answered := range [][]approval.Decision{nil, {denied}, {r.Change([]byte(text), "")}} {
			said := settledLine(r, settledEvent{answered: answered, outcomes: []approval.Outcome{o}})
			checkShown(t, colours.painted(wrap(said, columns, nil)))
			checkShown(t, colours.painted(wrap(settledLine(r, settledEvent{answered: answered}), columns, nil)))
		}
	}
	for _, height := range []int{0, 24} {
		list, _ := newState(options{theme: colours, inbox: true}, columns, height, []*approval.Request{r}, start)
		checkShown(t, list.render())
	}
	checkShown(t, windowTitle(r))
	checkShown(t, statusLine(1, text, time.Second, text, columns).String())
}
