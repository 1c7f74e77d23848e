package main

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// A background is the program without a terminal.
type background struct {
	t      *testing.T
	cmd    *exec.Cmd
	output bytes.Buffer
	ended  chan struct{}
}

// begin starts a command without a terminal.
func (p *project) begin(args ...string) *background {
	p.t.Helper()
	b := &background{t: p.t, cmd: p.assent(args...), ended: make(chan struct{})}
	b.cmd.Stdout, b.cmd.Stderr = &b.output, &b.output
	if err := b.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		defer close(b.ended)
		_ = b.cmd.Wait() // the status is in the process state
	}()
	p.t.Cleanup(b.kill)
	return b
}

func (b *background) kill() {
	_ = b.cmd.Process.Kill()
	<-b.ended
}

// ends waits for the end and wants the status and words in the output.
func (b *background) ends(status int, words ...string) {
	b.t.Helper()
	<-b.ended
	if got := b.cmd.ProcessState.ExitCode(); got != status {
		b.t.Errorf("exit status %d, want %d; output:\n%s", got, status, &b.output)
	}
	for _, w := range words {
		if !strings.Contains(b.output.String(), w) {
			b.t.Errorf("the output should say %q:\n%s", w, &b.output)
		}
	}
}

// inbox opens an inbox in which nothing waits. More of its environment may be given as
// KEY=VALUE.
func (p *project) inbox(env ...string) *tty {
	p.t.Helper()
	c := p.assent("inbox")
	c.Env = append(c.Env, env...)
	x := start(p.t, 100, 40, c)
	x.sees("Nothing waits · 0 answered · Ctrl-C leaves")
	return x
}

// picks opens the request that the cursor of the inbox is at, and waits until it takes keys.
func (x *tty) picks(words ...string) {
	x.t.Helper()
	x.sees("your choice?")
	x.types("\r")
	x.asked(words...)
}

// leaves ends the inbox with Ctrl-C.
func (x *tty) leaves(words ...string) {
	x.t.Helper()
	x.types("\x03")
	x.ends(0, words...)
}

// leavesIdle ends the inbox once nothing waits any more.
func (x *tty) leavesIdle() {
	x.t.Helper()
	x.sees("Nothing waits", "!your answer?", "!your choice?")
	x.leaves()
}

// asksInbox begins a run without a terminal that would write notes/a.md.
func (p *project) asksInbox() *background {
	p.t.Helper()
	return p.begin("run", "--ask", "inbox", "notes.worker", "Write.")
}

func notesProject(t *testing.T) *project {
	return newProject(t, map[string]string{"notes.worker": notesWorker, "turns.yaml": oneWrite})
}

// What a run without a terminal asks is asked in the inbox, and answered for it.
func TestInbox_AnswersForARun(t *testing.T) {
	p := notesProject(t)
	x := p.inbox()
	r := p.asksInbox()
	x.picks("write_file · notes", "Create notes/a.md (4 bytes, 1 line)", "writes are asked by default", "From: notes in ", "(run, process ")
	p.hasNot("notes/a.md")
	x.types("y")
	r.ends(0, "It is written down.", "assent: waiting for the inbox: write_file · Create notes/a.md", "run 'assent inbox'")
	p.has("notes/a.md", "one\n")
	x.sees("✓ approved: write_file · Create notes/a.md", "Nothing waits · 1 answered", "!your answer?")
	if out, err := p.assent("audit", "list").Output(); err != nil || !strings.Contains(string(out), "inbox") {
		t.Errorf("%v: the log is\n%s", err, out)
	}
	x.leaves("1 answered; nothing waits.")
}

// What was posted before the inbox was opened waits in it.
func TestInbox_ShowsWhatWaitedBefore(t *testing.T) {
	p := notesProject(t)
	r := p.at("run", "notes.worker", "Write.")
	r.asked("Create notes/a.md")
	x := p.at("inbox")
	x.picks("Create notes/a.md")
	x.denies("not now")
	r.ends(0, "✗ denied by", "(inbox): write_file · Create notes/a.md", "not now", "Another time, then.")
	x.sees("✗ denied: write_file", "Nothing waits · 1 answered")
	x.leaves()
	p.hasNot("notes/a.md")
}

// The tty of a run and the inbox ask at once; what is answered at the one is taken away
// at the other, with a line that says who answered.
func TestInbox_TheRunIsFaster(t *testing.T) {
	p := notesProject(t)
	x := p.inbox()
	r := p.at("run", "notes.worker", "Write.")
	r.asked("Create notes/a.md")
	x.picks("Create notes/a.md")
	r.types("y")
	r.ends(0, "✓ approved: write_file")
	x.sees("✓ approved by", "(terminal): write_file · Create notes/a.md", "Nothing waits · 0 answered · 1 elsewhere", "!your answer?")
	x.leaves()
	p.has("notes/a.md", "one\n")
}

func TestInbox_SeveralAreOpen(t *testing.T) {
	p := notesProject(t)
	x, y := p.inbox(), p.inbox()
	r := p.asksInbox()
	x.picks("Create notes/a.md")
	y.picks("Create notes/a.md")
	y.types("y")
	r.ends(0)
	x.sees("✓ approved by", "(inbox): write_file", "Nothing waits · 0 answered · 1 elsewhere")
	y.sees("✓ approved: write_file", "Nothing waits · 1 answered")
	x.leaves()
	y.leaves()
}

// Leaving with Ctrl-C answers nothing.
func TestInbox_LeavingAnswersNothing(t *testing.T) {
	p := notesProject(t)
	x := p.inbox()
	r := p.asksInbox()
	x.picks("Create notes/a.md")
	x.leaves("0 answered; 1 still waiting, see 'assent pending'.", "!dismissed")
	x = p.at("inbox")
	x.picks("Create notes/a.md")
	x.types("y")
	r.ends(0)
	x.leavesIdle()
}

// An inbox that is killed while it asks leaves the request open, and nobody believes that it
// is still there.
func TestInbox_Killed(t *testing.T) {
	p := notesProject(t)
	x := p.inbox()
	r := p.asksInbox()
	x.picks("Create notes/a.md")
	if err := x.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-x.ended
	y := p.at("inbox")
	y.picks("Create notes/a.md")
	if open := p.inboxes(); open != 1 {
		t.Errorf("%d inboxes are open, want 1", open)
	}
	y.types("y")
	r.ends(0)
	y.leavesIdle()
	if open := p.inboxes(); open != 0 {
		t.Errorf("%d inboxes are open, want none", open)
	}
}

// What a run asked that was killed is taken away.
func TestInbox_TheRunIsKilled(t *testing.T) {
	p := notesProject(t)
	x := p.inbox()
	r := p.asksInbox()
	x.picks("Create notes/a.md")
	r.kill()
	x.sees("✗ dismissed: write_file · Create notes/a.md", "the process that asked has ended", "Nothing waits", "!your answer?")
	x.leaves()
	p.hasNot("notes/a.md")
}

// An inbox that is told to end ends its session, and answers nothing.
func TestInbox_ToldToEnd(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			p := notesProject(t)
			x := p.inbox()
			r := p.asksInbox()
			x.picks("Create notes/a.md")
			if err := x.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			x.until("the end", func() bool { return x.over })
			if open := p.inboxes(); open != 0 {
				t.Errorf("%d inboxes are open, want none", open)
			}
			y := p.at("inbox")
			y.picks("Create notes/a.md")
			y.types("y")
			r.ends(0)
			y.leavesIdle()
		})
	}
}

// What is typed while nothing waits answers nothing that comes later.
// S24 No stolen keys.
func TestNoStolenKeys_InboxForgetsEarlyKeys(t *testing.T) {
	p := notesProject(t)
	x := p.inbox()
	x.types("yyy\ryyy")
	r := p.asksInbox()
	x.picks("Create notes/a.md")
	p.hasNot("notes/a.md")
	x.denies("")
	r.ends(0)
	x.leavesIdle()
}

// A run that was put aside takes its answer from the inbox when it goes on.
// S26 Defer.
func TestDefer_InboxAnswersWhatWasPutAside(t *testing.T) {
	p := notesProject(t)
	r := p.begin("run", "--defer", "notes.worker", "Write.")
	r.ends(5)
	found := regexp.MustCompile(`assent resume (\S+)`).FindStringSubmatch(r.output.String())
	if found == nil {
		t.Fatal(r.output.String())
	}
	x := p.at("inbox")
	x.picks("Create notes/a.md", "(saved run "+found[1]+": 'assent resume "+found[1]+"' continues it")
	x.types("y")
	x.sees("✓ approved", "Nothing waits · 1 answered")
	x.leaves()
	p.hasNot("notes/a.md")
	p.begin("resume", found[1]).ends(0)
	p.has("notes/a.md", "one\n")
}

// The user's config says how much of a view is shown at first.
// S19 Large content.
func TestLargeContent_TheUsersLimit(t *testing.T) {
	p := newProject(t, map[string]string{"notes.worker": notesWorker, "turns.yaml": strings.Replace(oneWrite, `one\n`, `one\ntwo\nthree\nfour\n`, 1)})
	p.config("view: {lines: 2}\n")
	x := p.inbox()
	r := p.at("run", "notes.worker", "Write.")
	r.asked("one", "two", "… 2 more lines", "!three")
	x.picks("one", "two", "… 2 more lines", "!three")
	x.types("y")
	r.ends(0)
	x.leavesIdle()
}
