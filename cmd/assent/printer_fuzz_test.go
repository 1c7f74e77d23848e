package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
)

// checkPrinted wants nothing that acts on a terminal but newlines: what is printed outside of
// a prompt has no styles either.
func checkPrinted(t *testing.T, printed string) {
	t.Helper()
	for _, r := range printed {
		if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Fatalf("%U reaches the terminal in %q", r, printed)
		}
	}
}

// FuzzPrinted puts any text wherever a run, its summary, the recorded operator, undo and the
// last error print text of others.
func FuzzPrinted(f *testing.F) {
	f.Add("plain", "other")
	f.Add("a\x1b[2J\u202eb\r\tc\x00\xff\u0301\n\n+x\v\f", "\x9b31m\u200b")
	f.Fuzz(func(t *testing.T, text, other string) {
		var b strings.Builder
		say := printer{&b, 40}
		say.line("%s", text)
		say.Text(text)
		say.Results([]tool.Result{{Tool: text, Text: other, Err: errors.New(text), Outcome: approval.Outcome{State: approval.State(other)}}, {Tool: other, Text: text}})
		say.summary([]approval.Event{
			{Tool: text, Acts: []string{text, other}, State: approval.State(other), Basis: text},
			{Tool: text, State: approval.Denied, Note: other, By: approval.Who{User: text, Host: other}}, {Tool: other, Why: text},
		})
		demoNext(t.Context(), say, text, &files.UndoFolder{Dir: t.TempDir()})
		checkPrinted(t, b.String())
		checkPrinted(t, shownText(text))

		b.Reset()
		showRestoration(&b, &files.Restoration{Summary: []string{text}, Views: []present.View{{Kind: present.Diff, Content: other}}})
		checkPrinted(t, b.String())

		b.Reset()
		checkOperator(t, &operator{say: say}, text, other)
		checkPrinted(t, b.String())
	})
}

// checkOperator has the operator asked about a call whose words are those of others.
func checkOperator(t *testing.T, o *operator, text, other string) {
	t.Helper()
	action := tool.Ask(func(context.Context) (any, error) { return other, nil }).Titled(text).Because(other).
		ShowingView(present.View{Kind: present.Command, Content: text, Facts: present.Facts{present.TextFact(present.FactCwd, strings.ToValidUTF8(other, "?"))}})
	gate, err := tool.Guard(approval.Config{Approver: o}, fixedTool{action})
	if err != nil {
		t.Fatal(err)
	}
	args, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	tool.Call(t.Context(), gate, approval.Call{ID: "edit", Tool: "fixed", Arguments: args})
}

// fixedTool would always do the same.
type fixedTool struct{ action tool.Action }

func (fixedTool) Spec() tool.Spec {
	return tool.Spec{Name: "fixed", Description: "Does it.", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (f fixedTool) Prepare(context.Context, json.RawMessage) (tool.Action, error) {
	return f.action, nil
}
