package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// A prompt asks a person in plain text, one question after another. It knows
// no tool: all that it shows comes with the request.
type prompt struct {
	in   *bufio.Scanner
	out  io.Writer
	via  policy.Via
	echo bool // print the answers, because nobody types them

	stopped bool // the person wants no more questions
}

func newPrompt(in io.Reader, out io.Writer, via policy.Via) *prompt {
	return &prompt{in: bufio.NewScanner(in), out: out, via: via}
}

// Approve implements [approval.Approver]. Only a clear yes approves: an empty
// line and anything unclear is asked again, and the end of the input dismisses.
func (p *prompt) Approve(ctx context.Context, r *approval.Request) (approval.Decision, error) {
	if !p.stopped {
		view, err := r.View(ctx)
		if err != nil {
			return approval.Decision{}, err // nobody approves what cannot be seen
		}
		p.show(r, view)
	}
	for !p.stopped {
		line, more := p.read()
		if !more {
			fmt.Fprintln(p.out, "\nThe input has ended; nobody answers.")
			p.stopped = true
			break
		}
		if d, clear := p.answer(r, line); clear {
			d.By.Via = p.via
			return d, nil
		}
		fmt.Fprintln(p.out, "That is no answer here. Type y, n, s, a or q, and Enter.")
	}
	d := r.Dismiss()
	d.By.Via = p.via
	return d, nil
}

// show prints the question, with everything in it made safe.
func (p *prompt) show(r *approval.Request, view present.View) {
	cut := view.Safe().Cut(present.Limit{Lines: 20, Chars: 1500})
	fmt.Fprintf(p.out, "\n── %s ──\n%s\nwhy: %s\n", present.SafeLine(r.Call.Name()), present.SafeLine(r.Summary), present.SafeLine(r.Why))
	for _, fact := range cut.View.Facts {
		fmt.Fprintf(p.out, "%s: %s\n", fact.Name(), fact.Value())
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(cut.View.Content, "\n"), "\n") {
		fmt.Fprintln(p.out, "  |", line)
	}
	if note := cut.Note(); note != "" {
		fmt.Fprintln(p.out, " ", note)
	}
	fmt.Fprintln(p.out, "[y NOTE] yes  [n NOTE] no  [s] yes, for this session  [a] always  [q] stop")
}

func (p *prompt) read() (line string, more bool) {
	fmt.Fprint(p.out, "> ")
	if more = p.in.Scan(); more && p.echo {
		fmt.Fprintln(p.out, p.in.Text(), "(recorded)")
	}
	return strings.TrimSpace(p.in.Text()), more
}

// answer reads what was typed. It is not clear if the request does not take it.
func (p *prompt) answer(r *approval.Request, line string) (d approval.Decision, clear bool) {
	word, note, _ := strings.Cut(line, " ")
	switch strings.ToLower(word) {
	case "y", "yes":
		return r.Approve(note), true
	case "n", "no":
		return r.Deny(note), true
	}
	switch strings.ToLower(line) { // "a moment" is not always
	case "s":
		return r.Approve("").ForSession(policy.ReachExact), !r.NoSession
	case "a":
		return r.Approve("").Always(), !r.NoAlways && len(r.Offers) > 0
	case "q":
		p.stopped = true
		return r.Dismiss(), true
	}
	return approval.Decision{}, false
}
