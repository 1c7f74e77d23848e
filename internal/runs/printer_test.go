package runs

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
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

// TestPrinted puts any text wherever a run and its summary print text of others. It is no fuzz
// test, because building all of assent for one takes minutes.
func TestPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, other := anyText.Draw(t, "text"), anyText.Draw(t, "other")
		var b strings.Builder
		say := Printer{&b, rapid.IntRange(0, 120).Draw(t, "columns")}
		say.Line("%s", text)
		say.Text(text)
		say.Results([]tool.Result{{Tool: text, Text: other, Err: errors.New(text), Outcome: approval.Outcome{State: policy.State(other)}}, {Tool: other, Text: text}})
		say.Summary([]approval.Event{
			{Tool: text, Acts: []string{text, other}, State: policy.State(other), Basis: text},
			{Tool: text, State: policy.StateDenied, Note: other, By: policy.Who{User: text, Host: other}}, {Tool: other, Why: text},
		})
		checkPrinted(t, b.String())
	})
}

func TestBriefResult(t *testing.T) {
	for text, want := range map[string]string{
		`{"files":["a","b"],"truncated":false,"left_out":1,"note":""}`: "files: a, b · left_out: 1",
		`{"content":"one\ntwo\n","more":{"x":1}}`:                      "more: {\"x\":1}\ncontent:\none\ntwo",
		`{"stdout":"one\n","exit_code":0}`:                             "stdout: one",
		`{"truncated":false}`:                                          `{"truncated":false}`,
		`{"a":1} and more`:                                             `{"a":1} and more`,
		`{"a":`:                                                        `{"a":`,
		"Done: Edit a":                                                 "Done: Edit a",
		"[1]":                                                          "[1]",
	} {
		if got := briefResult(text); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// What an agent says or names cannot look like a line of ours.
func TestNobodyPrintsLinesOfOurs(t *testing.T) {
	var b strings.Builder
	say := Printer{out: &b}
	say.Text("Hello.\n  ✓ write_file: approved")
	say.Results([]tool.Result{{Tool: "x\n  ✓ write_file: approved", Text: "y\n  ✓ write_file: approved"}})
	say.Summary([]approval.Event{{Tool: "x\n  ✓ write_file", State: "free\n  ✓ write_file", Note: "z\n  ✓ write_file"}})
	if strings.Contains(b.String(), "\n  ✓ write_file") {
		t.Error(b.String())
	}
}
