package main

import (
	"context"
	"fmt"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/tool"

	"github.com/assent-dev/assent/internal/screen"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/terminal"
)

// S27 Interrupt.
func TestInterrupt_CtrlC(t *testing.T) {
	s := tell(t, askWrites, three, three[:1])
	x := s.run()
	x.asked("1 of 3")
	x.types("y")
	x.asked("2 of 3")
	x.types("\x03")
	// What was approved before does not run either.
	x.ends(130, "write_file(notes/b.md) dismissed", "write_file(notes/c.md) dismissed", "assent: the prompt was interrupted: Ctrl-C", "!That was all")
	for _, name := range []string{"notes/a.md", "notes/b.md", "notes/c.md"} {
		s.hasNot(name)
	}
}

// S27 Interrupt.
func TestInterrupt_EndOfInput(t *testing.T) {
	s := tell(t, askWrites, three[:1])
	x := s.run()
	x.asked("Create notes/a.md")
	x.types("\x04")
	x.ends(130, "write_file(notes/a.md) dismissed", "end of input")
	s.hasNot("notes/a.md")
}

// S27 Interrupt.
func TestInterrupt_Signals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			s := tell(t, askWrites, three[:1])
			x := s.run()
			x.asked("Create notes/a.md")
			if err := x.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			x.ends(130, "write_file(notes/a.md) dismissed", sig.String())
			s.hasNot("notes/a.md")
		})
	}
}

// S27 Interrupt.
func TestInterrupt_ClosedTerminal(t *testing.T) {
	s := tell(t, askWrites, three[:1])
	x := s.run()
	x.asked("Create notes/a.md")
	x.slave.Close()
	x.master.Close()
	select {
	case <-x.ended:
	case <-time.After(patience):
		t.Fatal("the program goes on without its terminal")
	}
	if got := x.status(); got != 130 {
		t.Errorf("exit status %d, want 130", got)
	}
	s.hasNot("notes/a.md")
}

// S27 Interrupt.
func TestInterrupt_CtrlCWhileItWorks(t *testing.T) {
	s := tell(t, askWrites)
	s.put("script.yaml", "turns:\n  - {say: Wait., calls: [{tool: list_files, args: {path: notes}}]}\n  - {say: Never., wait: 1h}\n")
	x := s.run()
	x.sees("waiting for the model")
	x.types("\x03")
	x.ends(130, "!agent: Never.", "!waiting for the model")
}

// Ctrl-C during a tool cancels it, and the model is told so.
// S27 Interrupt.
func TestInterrupt_CtrlCDuringATool(t *testing.T) {
	ctx, stop := untilSignal(t.Context())
	defer stop()
	slow := tool.Func("build", "Builds it.", func(ctx context.Context, _ struct{}) (string, error) {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
			return "", err
		}
		<-ctx.Done()
		return "", ctx.Err()
	})
	log := &approvaltest.Recorder{}
	gate, err := tool.Guard(approval.Config{Recorder: log}, slow)
	if err != nil {
		t.Fatal(err)
	}
	r := tool.Call(ctx, gate, policy.Call{ID: "b", Tool: "build", Arguments: []byte("{}")})
	if events := log.Of("b"); r.Err == nil || len(events) != 2 || events[1].Stage != approval.StageCancelled {
		t.Errorf("got %+v, recorded %+v", r, events)
	}
	if got := exitStatus(context.Cause(ctx)); got != exitInterrupted {
		t.Errorf("exit status %d", got)
	}
}

// S28 While it works.
func TestWhileItWorks_SlowModel(t *testing.T) {
	s := tell(t, askWrites)
	s.put("script.yaml", "turns:\n  - {say: At last., wait: 5s}\n")
	x := s.run()
	x.until("the time that passes", func() bool { return len(thoughtFor(x.raw.String())) > 1 })
	x.ends(0, "agent: At last.", "!waiting for the model")
}

// thoughtFor returns the different times in the status lines. A busy machine skips some.
func thoughtFor(raw string) map[string]bool {
	out := map[string]bool{}
	for _, found := range regexp.MustCompile(`waiting for the model · (\d+s)`).FindAllStringSubmatch(raw, -1) {
		out[found[1]] = true
	}
	return out
}

// S28 While it works.
func TestWhileItWorks_NoTerminal(t *testing.T) {
	s := tell(t, askWrites)
	s.put("script.yaml", "turns:\n  - {say: At last., wait: 600ms}\n")
	out, err := assent(t, nil, "demo", "--dir", s.dir).CombinedOutput()
	if err != nil || containsAny(string(out), "\x1b", "\r", "waiting for the model") {
		t.Errorf("%v: %q", err, out)
	}
}

// The tools of the demonstration are all fast. This one runs until its lines were seen.
// S28 While it works.
func TestWhileItWorks_SlowTool(t *testing.T) {
	t.Parallel()
	master, slave := openTerminal(t, 80, 24)
	defer master.Close()
	defer slave.Close()
	x := &tty{t: t, master: master, slave: slave, screen: screen.New(80, 24), sent: make(chan []byte), ended: make(chan struct{})}
	go x.receive()
	seen := make(chan struct{})
	slow := tool.Func("build", "Builds it.", func(ctx context.Context, _ struct{}) (string, error) {
		for _, output := range []string{"compiling \x1b[2J\u202ea.c\n", "linking\n", "10 %\r20 %\r"} {
			fmt.Fprint(tool.Progress(ctx), output)
			<-seen
		}
		return "built", nil
	})
	env := map[string]string{"TERM": "xterm"}
	shown := runs.NewProgress(&fullRecorder{}, terminal.NewStatus(slave, func(name string) string { return env[name] }))
	gate, err := tool.Guard(approval.Config{Recorder: shown}, slow)
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan tool.Result)
	go func() {
		results <- tool.Call(tool.WithProgress(t.Context(), shown), gate, policy.Call{ID: "b", Tool: "build", Arguments: []byte("{}")})
	}()
	for _, last := range []string{`compiling \x1b[2J\u{202e}a.c`, "linking", "20 %"} {
		x.sees("build · ", "s · "+last)
		seen <- struct{}{}
	}
	x.sees("!build")
	if containsAny(x.raw.String(), "\x1b[2J", "\u202e") {
		t.Errorf("output acted on the terminal: %q", x.raw.String())
	}
	if r := <-results; r.Err != nil || r.Text != "built" {
		t.Errorf("got %+v", r)
	}
}

// S29 Told when waiting.
func TestToldWhenWaiting(t *testing.T) {
	s := tell(t, askWrites, three[:1])
	x := s.run()
	x.asked("Create notes/a.md")
	if x.screen.Bells == 0 || x.screen.Title != "● assent asks: write_file" {
		t.Errorf("%d bells, title %q", x.screen.Bells, x.screen.Title)
	}
	x.denies("")
	x.ends(0)
	if !containsAny(x.raw.String(), "\x1b[22;0t") || !containsAny(x.raw.String(), "\x1b[23;0t") {
		t.Error("the title was not kept and put back")
	}
}

// Ctrl-C in an editor is the editor's: it may end, and the question comes back.
// S27 Interrupt.
func TestInterrupt_CtrlCInTheEditor(t *testing.T) {
	s := tell(t, askWrites, []call{write("a", "notes/a.md", "x\n")})
	s.env = []string{"EDITOR=sh -c 'stty -echo -icanon; echo the editor is open; exec sleep 600'"}
	x := s.run()
	x.asked("Create notes/a.md")
	x.types("e")
	x.sees("the editor is open")
	x.types("\x03")
	x.asked("the editor failed, so nothing was changed", "Create notes/a.md")
	s.hasNot("notes/a.md")
	x.types("y")
	x.ends(0, "agent: That was all.")
	s.has("notes/a.md", "x\n")
}

// What a pager does with Ctrl-C is its own affair: less stays open.
// S27 Interrupt.
func TestInterrupt_CtrlCInThePager(t *testing.T) {
	s := tell(t, askWrites, []call{write("a", "notes/a.md", numbered(300))})
	s.env = []string{`PAGER=cat >/dev/null; trap 'echo the pager was told; told=1' INT; echo the pager is open; until [ "$told" ]; do sleep 0.1; done; read line </dev/tty; :`}
	x := s.run()
	x.asked("Create notes/a.md")
	x.types("v")
	x.sees("the pager is open")
	x.types("\x03")
	x.sees("the pager was told")
	x.types("\n")
	x.asked("Create notes/a.md", "[s] session")
	x.types("y")
	x.ends(0, "agent: That was all.")
}

// Other signals end the run also then. An editor that is ended leaves the terminal as it had
// it; it is put back.
// S27 Interrupt.
func TestInterrupt_SignalInTheEditor(t *testing.T) {
	s := tell(t, askWrites, []call{write("a", "notes/a.md", "x\n")})
	s.env = []string{"EDITOR=sh -c 'stty -echo -icanon; echo the editor is open; exec sleep 600'"}
	x := s.run()
	x.asked("Create notes/a.md")
	x.types("e")
	x.sees("the editor is open")
	if err := x.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	x.ends(exitInterrupted)
	s.hasNot("notes/a.md")
}

// fullRecorder is a recorder that takes events with everything in them.
type fullRecorder struct{ approvaltest.Recorder }

// RecordFull implements [approval.DetailRecorder].
func (r *fullRecorder) RecordFull(ctx context.Context, e approval.Event) error {
	return r.Record(ctx, e)
}
