package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/internal/team/bridgetest"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// A teamDoor is a way in for a call that two people of the team decide about.
type teamDoor struct {
	name string
	// writes starts to write a file, which is asked about, and returns how to wait for the end: for what was said then.
	writes func(s *teamScene, file string) (wait func() string)
}

// teamDoors are the real programs, each as its callers start it.
func teamDoors() []teamDoor {
	return []teamDoor{
		{"call", func(s *teamScene, file string) func() string {
			return s.starts(s.command("call", "write_file", writes(file)), "")
		}},
		{"run", func(s *teamScene, file string) func() string {
			return s.starts(s.command("run", "--model", s.script(file), "w.worker", "Go on."), "")
		}},
		{"chat", func(s *teamScene, file string) func() string {
			return s.starts(s.command("chat", "--model", s.script(file), "w.worker"), "Go on.\n")
		}},
		{"mcp", (*teamScene).gateway},
		{"resume", func(s *teamScene, file string) func() string {
			out, _ := s.run("run", "--defer", "--model", s.script(file), "w.worker", "Go on.") // its status says that it waits
			run := runID.FindStringSubmatch(out)
			if run == nil {
				s.Fatalf("it was not put aside:\n%s", out)
			}
			return func() string {
				s.taken(s.known[len(s.known)-1])
				out, _ := s.run("resume", run[1])
				return out
			}
		}},
		{"hook", func(s *teamScene, file string) func() string {
			event, err := json.Marshal(map[string]any{
				"session_id": "one", "hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": filepath.Join(s.top, "project"),
				"tool_input": map[string]string{"file_path": s.path(file), "content": "x"},
			})
			if err != nil {
				s.Fatal(err)
			}
			c := s.command("claude-code")
			c.Path = filepath.Join(filepath.Dir(s.program), "assent-hook")
			c.Args[0] = c.Path
			wait := s.starts(c, string(event))
			return func() string {
				said := wait()
				if strings.Contains(said, `"allow"`) { // the agent does it itself
					s.put("project/"+file, "x")
				}
				return said
			}
		}},
		{"open", func(s *teamScene, file string) func() string {
			c := s.command("post")
			c.Path = s.embedder()
			return s.starts(c, fmt.Sprintf(`{"id":"c1","tool":"write_file","arguments":%s}`, writes(file)))
		}},
	}
}

// writes are the arguments of a call that writes a file.
func writes(file string) string { return fmt.Sprintf(`{"path":%q,"content":"x"}`, file) }

func (s *teamScene) path(file string) string { return filepath.Join(s.top, "project", file) }

func (s *teamScene) put(name, text string) {
	s.Helper()
	file := filepath.Join(s.top, name)
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err != nil {
		s.Fatal(err)
	}
}

// starts starts a program that gets this input, and nothing more.
func (s *teamScene) starts(c *exec.Cmd, input string) (wait func() string) {
	s.Helper()
	var said bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &said, &said
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	s.said = &said
	return func() string {
		_ = c.Wait() // a refusal has a status of its own
		return said.String()
	}
}

// script is a model that writes a file.
func (s *teamScene) script(file string) string {
	turns := "turns:\n  - calls: [{tool: write_file, args: %s}]\n  - say: That was all.\n"
	s.put("project/turns.yaml", fmt.Sprintf(turns, writes(file)))
	return "script:" + s.path("turns.yaml")
}

// gateway has an MCP client write the file.
func (s *teamScene) gateway(file string) (wait func() string) {
	c := s.command("mcp", "--tools", "files")
	in, err := c.StdinPipe()
	if err != nil {
		s.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	s.said = new(bytes.Buffer)
	c.Stderr = s.said
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	client := &mcpClient{t: s.T, in: in, out: bufio.NewReader(out)}
	client.ask("initialize", hello)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	client.send("tools/call", fmt.Sprintf(`{"name":"write_file","arguments":%s}`, writes(file)))
	return func() string {
		said := string(client.receive())
		in.Close()
		if err := c.Wait(); err != nil {
			s.Errorf("the gateway: %v\n%s", err, s.said)
		}
		return said
	}
}

// embedder is a program outside the module that opens the library, with the administrator's file of the scene.
func (s *teamScene) embedder() string {
	program := filepath.Join(s.top, "bin", "embedder")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err == nil {
		err = reexec.BuildOutside(s.TempDir(), root, filepath.Join(root, "testdata", "embedder", "main.go.txt"), program,
			"-buildvcs=false", "-ldflags", "-s -w -X github.com/assent-dev/assent/internal/setup.Administrator="+s.admin())
	}
	if err != nil {
		s.Fatal(err)
	}
	return program
}

// signed is an answer to a request as the server gives it, with votes of these people.
func (s *teamScene) signed(r *approval.Request, d approval.Decision, votes ...approval.Vote) wire.Answer {
	return wire.Answer{Request: r.ID, State: d.Settled().State, Decision: &d, Votes: votes}
}

// yes is what somebody signs who approves a request.
func (s *teamScene) yes(person string, r *approval.Request) approval.Vote {
	return s.team.Vote(person, r, r.Approve(""))
}

// stored waits until the store of the machine has what f looks for in a request.
func (s *teamScene) stored(r *approval.Request, f func(p approval.Posted) bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	kept := s.store()
	defer kept.Close()
	changed := make(chan struct{}, 1)
	defer kept.NotifyRequests(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for {
		p, err := kept.Posted(ctx, r.ID)
		if err != nil {
			s.Fatalf("%v; the call says %q", err, s.said)
		}
		if f(p) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			s.Fatalf("request %s stays as it is: %+v", r.ID, p.Settled)
		}
	}
}

// taken waits until the answer of the team is in the store of the machine.
func (s *teamScene) taken(r *approval.Request) {
	s.Helper()
	s.stored(r, func(p approval.Posted) bool { return p.Settled != nil })
}

func (s *teamScene) store() *store.Store {
	s.Helper()
	kept, err := store.Open(s.Context(), s.state, store.Options{})
	if err != nil {
		s.Fatal(err)
	}
	return kept
}

// refused waits until the machine has told the server that an answer to a request does not count.
func (s *teamScene) refused(r *approval.Request, times int) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	if !s.server.Wait(ctx.Done(), func(v bridgetest.View) bool {
		n := 0
		for _, e := range v.Ended() {
			if e.Request == r.ID && e.State == policy.StatePending && e.Why != "" {
				n++
			}
		}
		return n >= times
	}) {
		log, _ := os.ReadFile(filepath.Join(s.state, "team", "bridge.log"))
		s.Fatalf("the server does not hear of refusal %d; the bridge says %q", times, log)
	}
}

// Through every door a call that two people decide about runs after two signed votes, is refused by one no, and runs for
// no answer that they have not signed.
func TestATeamAnswersAtEveryDoor(t *testing.T) {
	s := newTeamScene(t)
	s.put("project/w.worker", "---\nmodel: script:none.yaml\nsandbox:\n  paths:\n    .: {root: ., mode: rw}\n---\nYou work.\n")
	s.must("trust", "--yes", "w.worker")
	s.twoOfThree()
	s.join()
	for _, d := range teamDoors() {
		t.Run(d.name, func(t *testing.T) {
			in := *s
			in.T = t
			defer func() { s.known = in.known }()
			in.throughDoor(d)
		})
	}
}

func (s *teamScene) throughDoor(d teamDoor) {
	none := func(file, said string) {
		s.Helper()
		if _, err := os.Stat(s.path(file)); err == nil {
			s.Errorf("%s is there:\n%s", file, said)
		}
	}
	// Two votes.
	yes := d.name + "-yes.txt"
	wait := d.writes(s, yes)
	r := s.asked()
	if need := r.Routing.Need.String(); !strings.Contains(need, "2 of sre") {
		s.Errorf("it is for %s", need)
	}
	none(yes, "before anybody voted")
	s.server.Answer(s.signed(r, r.Approve(""), s.yes("bob", r), s.yes("cleo", r)))
	if said := wait(); !s.wrote(yes) {
		s.Errorf("after two votes it did not run:\n%s", said)
	}

	// A yes and a no.
	no := d.name + "-no.txt"
	wait = d.writes(s, no)
	first := s.asked()
	denial := first.Deny("too late in the day")
	s.server.Answer(s.signed(first, denial, s.yes("bob", first), s.team.Vote("cleo", first, denial)))
	if said := wait(); !strings.Contains(said, "too late in the day") {
		s.Errorf("after a no it says\n%s", said)
	}
	none(no, "after a no")

	// The same again, with answers that are not theirs: the bridge takes none to the gate, and the gate takes none that
	// was put into its store in another way.
	wait = d.writes(s, no)
	r = s.asked()
	forged := map[string][]approval.Vote{
		"one vote":                   {s.yes("bob", r)},
		"the sponsor's vote":         {s.yes("bob", r), s.yes("ann", r)},
		"one person's vote twice":    {s.yes("bob", r), s.yes("bob", r)},
		"votes for another request":  {s.yes("bob", first), s.yes("cleo", first)},
		"a vote for another request": {s.yes("bob", r), s.yes("cleo", first)},
		"no votes":                   nil,
	}
	kept := s.store()
	defer kept.Close()
	for i, name := range slices.Sorted(maps.Keys(forged)) {
		s.server.Answer(s.signed(r, r.Approve(""), forged[name]...))
		s.refused(r, i+1)
		none(no, name)
		if d.name == "resume" || len(forged[name]) == 0 { // nobody waits who could refuse it; no store takes it
			continue
		}
		past := r.Approve("")
		past.Votes, past.By.Via = forged[name], policy.ViaTeam
		past.Note = name
		if err := kept.Answer(s.Context(), past); err != nil {
			s.Fatalf("%s: %v", name, err)
		}
		s.stored(r, func(p approval.Posted) bool { return p.Settled == nil && p.Problem != "" })
		none(no, name)
	}
	s.server.Answer(s.signed(r, r.Deny("enough"), s.team.Vote("bob", r, r.Deny("enough"))))
	said := wait()
	none(no, said)
}

// wrote reports whether a file was written.
func (s *teamScene) wrote(file string) bool {
	_, err := os.Stat(s.path(file))
	return err == nil
}

// At a terminal the person sees whose answers a call waits for, can deny it there and nothing else, and leave with Ctrl-C: the
// server hears how it ended.
func TestATeamAnswersAtATerminal(t *testing.T) {
	s := newTeamScene(t)
	s.put("project/w.worker", "---\nmodel: script:none.yaml\nsandbox:\n  paths:\n    .: {root: ., mode: rw}\n---\nYou work.\n")
	s.must("trust", "--yes", "w.worker")
	s.twoOfThree()
	s.join()
	at := func(t *testing.T, args ...string) (*tty, *approval.Request) {
		t.Helper()
		c := s.command(args...)
		c.Env = append(c.Env, "TERM=xterm-256color", "PAGER=cat", "EDITOR=false")
		x := start(t, 100, 30, c)
		if args[0] == "chat" {
			x.sees("you:")
			x.types("Go on.\r")
		}
		x.asked("write_file", "Waiting for the team: 2 of sre, with a device", "Here you can only deny it.", "![y]")
		return x, s.asked()
	}
	ways := map[string]func(file string) []string{
		"call": func(file string) []string { return []string{"call", "write_file", writes(file)} },
		"run":  func(file string) []string { return []string{"run", "--model", s.script(file), "w.worker", "Go on."} },
		"chat": func(file string) []string { return []string{"chat", "--model", s.script(file), "w.worker"} },
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			x, r := at(t, way(name+"-yes.txt")...)
			x.types("y")
			x.sees("Nobody at this machine can approve this")
			s.server.Answer(s.signed(r, r.Approve(""), s.yes("bob", r), s.yes("cleo", r)))
			x.sees("approved by bob, cleo")
			if name == "chat" {
				x.until("the next line", func() bool { return strings.Count(x.screen.Flat(), "you:") == 2 })
				x.types("\x04")
			}
			x.ends(0)
			if !s.wrote(name + "-yes.txt") {
				t.Errorf("it did not run:\n%s", x.screen)
			}

			x, r = at(t, way(name+"-no.txt")...)
			x.types("n")
			x.sees("denied")
			s.hears(r, policy.StateDenied)
			if name == "chat" {
				x.until("the next line", func() bool { return strings.Count(x.screen.Flat(), "you:") == 2 })
				x.types("\x04")
			}
			x.until("the end", func() bool { return x.over })

			x, r = at(t, way(name+"-left.txt")...)
			x.types("\x03")
			s.hears(r, policy.StateDismissed)
			x.until("the end", func() bool { return x.over })
			for _, file := range []string{name + "-no.txt", name + "-left.txt"} {
				if s.wrote(file) {
					t.Errorf("%s is there:\n%s", file, x.screen)
				}
			}
		})
	}
}

// hears waits until the server has heard that a request ended so.
func (s *teamScene) hears(r *approval.Request, state policy.State) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	var last []wire.Ended
	if !s.server.Wait(ctx.Done(), func(v bridgetest.View) bool {
		last = v.Ended()
		return slices.ContainsFunc(last, func(e wire.Ended) bool { return e.Request == r.ID && e.State == state })
	}) {
		s.Fatalf("the server does not hear that %s is %s: %+v", r.ID, state, last)
	}
}

// twoOfThree has two people of the team decide about every write, other than the one behind the agent.
func (s *teamScene) twoOfThree() {
	s.team.Bundle.Deciders = []bundle.Decider{{Acts: []string{"write_file"}, Need: []bundle.From{{From: "sre", Count: 2}},
		Not: []string{approval.NotSponsor}, Proof: approval.StrengthDevice}}
}
