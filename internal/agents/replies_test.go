package agents

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReplies compares every answer to every hook of every agent with testdata/replies.txt.
// With ASSENT_UPDATE=1 it writes the file.
func TestReplies(t *testing.T) {
	answers := []struct {
		name string
		Answer
	}{
		{"allow", Answer{Verdict: Allow, Reason: "a rule"}},
		{"changed", Answer{Verdict: Allow, Reason: "a person", Input: json.RawMessage(`{"command":"ls"}`)}},
		{"ask", Answer{Verdict: Ask, Reason: "no rule allows it"}},
		{"defer", Answer{Verdict: Defer, Reason: "no rule allows it"}},
		{"deny", Answer{Reason: "not \"today\" <b>"}},
		{"nothing", Answer{Verdict: Nothing}},
	}
	var b strings.Builder
	for _, a := range append(All(), Prompt()) {
		for _, hook := range slices.Sorted(maps.Keys(a.moments)) {
			for _, answer := range answers {
				if !a.moments[hook].Decides() && answer.Verdict != Nothing {
					continue
				}
				r := a.Reply(Event{Hook: hook, Moment: a.moments[hook], Input: json.RawMessage(`{"command":"make"}`)}, answer.Answer)
				fmt.Fprintf(&b, "%s %s %s: exit %d %s%s\n", a.Name, hook, answer.name, r.Exit, strings.TrimSpace(string(r.Stdout)), r.Stderr)
			}
		}
	}
	file := filepath.Join("testdata", "replies.txt")
	if os.Getenv("ASSENT_UPDATE") != "" {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != b.String() {
		t.Errorf("%s is another (%v); got\n%s", file, err, b.String())
	}
}
