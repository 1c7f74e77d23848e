package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// echoed writes what the message says.
const echoed = `turns:
  - calls: [{id: a, tool: write_file, args: {path: notes/a.md, content: "${message}"}}]
  - say: Done.
`

// A message in a pipe leaves the terminal for the questions: they are asked where the
// program was started.
func TestAMessageFromAPipeIsAskedAtTheTerminal(t *testing.T) {
	p := newProject(t, map[string]string{"notes.worker": notesWorker, "turns.yaml": echoed})
	c := p.assent("run", "notes.worker")
	c.Stdin = strings.NewReader("From the pipe.\ny\ny\n")
	x := start(t, 100, 40, c)
	x.asked("Create notes/a.md", "From the pipe.")
	p.hasNot("notes/a.md")
	x.types("y")
	x.ends(0, "Done.")
	p.has("notes/a.md", "From the pipe.\ny\ny\n")

	// So is whether to trust a file.
	p.put("notes.worker", notesWorker+"Changed.\n")
	c = p.assent("run", "notes.worker")
	c.Stdin = strings.NewReader("y\n")
	x = start(t, 100, 40, c)
	x.sees("Trust it? [y/n]")
	x.types("n")
	x.ends(3, "it is not trusted")
}

// In the background nobody can answer, terminal or not.
// S15 Nobody there.
func TestNobodyThere_InTheBackground(t *testing.T) {
	p := newProject(t, map[string]string{"notes.worker": notesWorker, "turns.yaml": echoed})
	run := p.assent("run", "notes.worker")
	// With job control the shell gives the program a group of its own.
	shell := exec.Command("bash", "-c", `set -m; echo Hello | "$0" "${@}" & wait $!; exit $?`, run.Path)
	shell.Args = append(shell.Args, run.Args[1:]...)
	shell.Dir, shell.Env = run.Dir, run.Env
	x := start(t, 100, 40, shell)
	x.until("the end", func() bool { return x.over })
	if x.status() != exitUsage || !x.shows("there is no terminal to ask at") {
		t.Errorf("status %d, screen\n%s", x.status(), x.screen)
	}
	p.hasNot("notes/a.md")
}

var (
	runID     = regexp.MustCompile(`assent resume (\w+)`)
	requestID = regexp.MustCompile(`(?m)^  ([A-Z2-7]{26})  `)
)

// deferred runs the worker with --defer and returns the ids of the run and its question.
func (p *project) deferred(args ...string) (run, request string) {
	p.t.Helper()
	out, err := p.assent(args...).CombinedOutput()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != exitPaused {
		p.t.Fatalf("%v\n%s", err, out)
	}
	return runID.FindStringSubmatch(string(out))[1], requestID.FindStringSubmatch(string(out))[1]
}

// At a terminal other arguments are shown, and asked about, before they are approved.
// S26 Defer.
func TestDefer_ApproveWithOtherArguments(t *testing.T) {
	p := newProject(t, map[string]string{"notes.worker": notesWorker, "turns.yaml": oneWrite, "notes/a.md": "old\n"})
	run, id := p.deferred("run", "--defer", "notes.worker", "Write.")
	args := `{"path": "notes/a.md", "content": "mine\n"}`
	x := p.at("approve", id, "--args", args)
	x.sees("Edit notes/a.md", "-old", "+mine", "Approve it so? [y/n]")
	x.types("n")
	x.ends(3, "nothing was answered")

	x = p.at("approve", id, "--args", args)
	x.sees("Approve it so? [y/n]", "!+one")
	x.types("y")
	x.ends(0, "approved: write_file")
	p.has("notes/a.md", "old\n")
	x = p.at("resume", run)
	x.ends(0, "A person changed the arguments before approving")
	p.has("notes/a.md", "mine\n")
}

// What changed while it was looked at is not approved by what was seen before.
// S26 Defer.
func TestDefer_ChangedAfterItWasSeen(t *testing.T) {
	p := newProject(t, map[string]string{"notes.worker": notesWorker, "turns.yaml": oneWrite, "notes/a.md": "old\n"})
	run, id := p.deferred("run", "--defer", "notes.worker", "Write.")
	args := `{"path": "notes/a.md", "content": "mine\n"}`
	out, err := p.assent("pending", id, "--args", args).Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := regexp.MustCompile(`--expect (\S+)`).FindStringSubmatch(string(out))[1]
	p.put("notes/a.md", "other\n")
	if out, err := p.assent("approve", id, "--args", args, "--expect", seen).CombinedOutput(); err == nil || !strings.Contains(string(out), "is no longer what was shown; 'assent resume ") {
		t.Errorf("%v\n%s", err, out)
	}
	p.put("notes/a.md", "old\n")
	if out, err := p.assent("approve", id, "--args", args, "--expect", seen).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.put("notes/a.md", "other\n")
	if again, _ := p.deferred("resume", run); again != run {
		t.Errorf("it goes on as %s", again)
	}
	p.has("notes/a.md", "other\n")
}

// A no that was given while the run waited holds, whatever rule is added after it; so
// does a deny that is added after a yes.
// S26 Defer.
func TestDefer_AnAnswerAndARuleAfterIt(t *testing.T) {
	for answer, rule := range map[string]string{"deny": "allow write_file(notes/*)", "approve": "deny write_file(notes/*)"} {
		t.Run(answer, func(t *testing.T) {
			p := newProject(t, map[string]string{"notes.worker": notesWorker, "turns.yaml": oneWrite, "notes/a.md": "old\n"})
			run, id := p.deferred("run", "--defer", "notes.worker", "Write.")
			for _, args := range [][]string{{answer, id, "--note", "As I said."}, {"rules", "add", rule}, {"resume", run}} {
				if out, err := p.assent(args...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
			}
			p.has("notes/a.md", "old\n")
		})
	}
}
