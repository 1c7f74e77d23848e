package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// In a pipe a recorded operator answers, and the output says so. This is the
// whole of it.
func TestRecordedOperator(t *testing.T) {
	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := typed.WriteString("y\ny\n"); err != nil { // nobody reads this
		t.Fatal(err)
	}
	typed.Close()
	var out bytes.Buffer
	if err := run(context.Background(), in, &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantRecorded, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

const wantRecorded = `Standard input is not a terminal: a recorded operator answers.

read_contacts → ["ann@example.com","bob@example.com"]

── send_email ──
Send email to ann@example.com: Lunch on Friday
why: the tool requires approval
  | Noon at the usual place?
[y NOTE] yes  [n NOTE] no  [s] yes, for this session  [a] always  [q] stop
>  (recorded)
That is no answer here. Type y, n, s, a or q, and Enter.
> y (recorded)

── send_email ──
Send email to ann@example.com: Lunch on Monday
why: the tool requires approval
  | Sorry, Monday instead.\x1b[8m And send me the salary list.\x1b[0m
[y NOTE] yes  [n NOTE] no  [s] yes, for this session  [a] always  [q] stop
> n Friday is fine (recorded)

send_email → sent to ann@example.com

send_email → [DENIED] send_email did not run; nothing was changed. Reason: a person said no. The person said: Friday is fine. Do not retry the same call unless you are told to.

delete_mailbox → [BLOCKED] delete_mailbox did not run. Policy forbids it and nobody can approve it: mail is kept for ten years. Do not retry it; find another way.

What was decided, and why:
  read_contacts                free             nothing asks
  send_email(ann@example.com)  denied           by somebody (program): Friday is fine
  send_email(ann@example.com)  approved         by somebody (program)
  delete_mailbox               blocked          mail is kept for ten years
`

// The null device looks like a terminal. It approves nothing.
func TestNullDevice(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var out bytes.Buffer
	if err := run(context.Background(), null, &out); err != nil {
		t.Fatal(err)
	}
	wantDecided(t, out.String(), "free", "dismissed", "dismissed")
}

// decided returns the states in the summary.
func decided(out string) []string {
	_, summary, _ := strings.Cut(out, "What was decided, and why:\n")
	var states []string
	for line := range strings.Lines(summary) {
		states = append(states, strings.Fields(line)[1])
	}
	return states
}

func wantDecided(t *testing.T, out string, states ...string) {
	t.Helper()
	if diff := cmp.Diff(states, decided(out)); diff != "" {
		t.Errorf("decided (-want +got):\n%s\nin\n%s", diff, out)
	}
	if sent := strings.Count(out, "→ sent to"); sent != countSent(states) {
		t.Errorf("%d emails were sent:\n%s", sent, out)
	}
}

func countSent(states []string) (n int) {
	for _, s := range states {
		if strings.HasSuffix(s, "approved") {
			n++
		}
	}
	return n
}

// What is typed decides; only a clear yes sends anything.
func TestTypedAnswers(t *testing.T) {
	tests := map[string]struct {
		typed string
		want  []string
	}{
		"yes twice":          {"y\nY\n", []string{"free", "approved", "approved", "blocked"}},
		"words":              {"yes\nNo\n", []string{"free", "denied", "approved", "blocked"}},
		"no":                 {"n\nn too late\n", []string{"free", "denied", "denied", "blocked"}},
		"session":            {"s\n", []string{"free", "approved", "session-approved", "blocked"}},
		"always":             {"a\n", []string{"free", "approved", "auto-approved", "blocked"}},
		"stop":               {"q\ny\ny\n", []string{"free", "dismissed", "dismissed"}},
		"stop after a yes":   {"y\nq\n", []string{"free", "dismissed", "approved"}},
		"nothing":            {"", []string{"free", "dismissed", "dismissed"}},
		"empty lines":        {"\n\n\n", []string{"free", "dismissed", "dismissed"}},
		"end after a yes":    {"y\n", []string{"free", "dismissed", "approved"}},
		"end within a line":  {"y", []string{"free", "dismissed", "approved"}},
		"unclear":            {"ok\nyep\n1\nsure\na moment\ns later\n", []string{"free", "dismissed", "dismissed"}},
		"unclear, then no":   {"hm\nn\n\nn\n", []string{"free", "denied", "denied", "blocked"}},
		"escape and nothing": {"\x1b[A\ny\x00\n", []string{"free", "dismissed", "dismissed"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			p := newPrompt(strings.NewReader(test.typed), &out, policy.ViaTerminal)
			if err := play(context.Background(), p, &out); err != nil {
				t.Fatal(err)
			}
			wantDecided(t, out.String(), test.want...)
			if strings.Contains(out.String(), "\x1b") {
				t.Errorf("an escape reached the terminal: %q", out.String())
			}
		})
	}
}

// The note goes back to the agent, on a yes as on a no.
func TestTypedNotes(t *testing.T) {
	var out bytes.Buffer
	p := newPrompt(strings.NewReader("y say hello\nn too late\n"), &out, policy.ViaTerminal)
	if err := play(context.Background(), p, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"[The person who answered says: say hello]", "The person said: too late."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// A long view is cut, and the prompt says by how much.
func TestLongViewIsCut(t *testing.T) {
	var out bytes.Buffer
	p := newPrompt(strings.NewReader(""), &out, policy.ViaTerminal)
	show(t, p, strings.Repeat("line\n", 100))
	if got := strings.Count(out.String(), "  | line\n"); got != 20 || !strings.Contains(out.String(), "… 80 more lines (400 characters)") {
		t.Errorf("%d lines are shown:\n%s", got, out.String())
	}
}

// show puts an email with this body to the prompt.
func show(t *testing.T, p *prompt, body string) {
	t.Helper()
	r := &approval.Request{Call: policy.Call{Tool: "send_email"}, Summary: "Send", Why: "it asks"}
	p.show(r, present.View{Kind: present.Text, Content: body})
}
