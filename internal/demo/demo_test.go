package demo

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
)

// checkPrinted wants nothing that acts on a terminal but newlines: what is printed outside of
// a prompt has no styles either.
func checkPrinted(t *rapid.T, printed string) {
	t.Helper()
	for _, r := range printed {
		if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Fatalf("%U reaches the terminal in %q", r, printed)
		}
	}
}

// anyText draws text of others: bytes, characters, and what acts on a terminal.
var anyText = rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{"a", " ", "\n", "\t", "\r", "\x1b[2J", "\x1b]0;x\a", "\u202e", "\u200b", "\x9b31m", "\u0301", "\v", "\f", "\x00", "\xff", "漢"})),
		func(parts []string) string { return strings.Join(parts, "") }))

// TestPrinted puts any text wherever the demo and the recorded operator print text of others.
func TestPrinted(t *testing.T) {
	undo := &files.UndoFolder{Dir: t.TempDir()}
	rapid.Check(t, func(t *rapid.T) {
		text, other := anyText.Draw(t, "text"), anyText.Draw(t, "other")
		var b strings.Builder
		say := runs.NewPrinter(&b)
		next(t.Context(), say, "assent", text, undo)
		checkOperator(t, &operator{say: say}, text, other)
		checkPrinted(t, b.String())
	})
}

// checkOperator has the operator asked about a call whose words are those of others.
func checkOperator(t *rapid.T, o *operator, text, other string) {
	t.Helper()
	action := tool.Ask(func(context.Context) (any, error) { return other, nil }).Titled(text).Because(other).
		ShowingView(present.View{Kind: present.KindCommand, Content: text, Facts: present.Facts{present.TextFact(present.FactCwd, strings.ToValidUTF8(other, "?"))}})
	gate, err := tool.Guard(approval.Config{Approver: o}, fixedTool{action})
	if err != nil {
		t.Fatal(err)
	}
	args, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	tool.Call(t.Context(), gate, policy.Call{ID: "edit", Tool: "fixed", Arguments: args})
}

// fixedTool would always do the same.
type fixedTool struct{ action tool.Action }

func (fixedTool) Spec() tool.Spec {
	return tool.Spec{Name: "fixed", Description: "Does it.", Schema: json.RawMessage(`{"type":"object"}`)}
}

func (f fixedTool) Prepare(context.Context, json.RawMessage) (tool.Action, error) {
	return f.action, nil
}
