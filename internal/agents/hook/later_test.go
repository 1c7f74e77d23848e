package hook

import (
	"errors"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// deferred has an event answered as in a run of claude -p.
func (p *place) deferred(input string) agents.Reply {
	p.t.Helper()
	o := p.options(claude(p.t), input)
	o.Defer, o.Environ = true, append(o.Environ, "CLAUDE_CODE_ENTRYPOINT=sdk-cli")
	return Run(p.t.Context(), o)
}

// waiting returns the one request that waits.
func (p *place) waiting(s *store.Store) *approval.Request {
	p.t.Helper()
	open, err := s.Open(p.t.Context(), "")
	if err != nil || len(open) != 1 {
		p.t.Fatalf("%d requests wait, want 1 (%v)", len(open), err)
	}
	return open[0].Request
}

const sessionEnd = `{"session_id":"s","hook_event_name":"SessionEnd","reason":"other"}`

func TestADeferredCallIsAnsweredWhenTheRunIsResumed(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*approval.Request) approval.Decision
		want   string
		state  policy.State
	}{
		"yes": {func(r *approval.Request) approval.Decision { return r.Approve("") }, "allow", policy.StateApproved},
		"no":  {func(r *approval.Request) approval.Decision { return r.Deny("not today") }, "deny", policy.StateDenied},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			deploy := bash("t1", "make deploy")
			wantDecision(t, p.deferred(deploy), "defer")
			p.deferred(sessionEnd) // the run is over, the question is not
			s := p.open()
			r := p.waiting(s)
			wantDecision(t, p.deferred(deploy), "defer") // nobody answered yet
			if again := p.waiting(s); again.ID != r.ID {
				t.Errorf("the question is another: %s, it was %s", again.ID, r.ID)
			}
			if err := s.Answer(t.Context(), c.answer(r)); err != nil {
				t.Fatal(err)
			}
			wantDecision(t, p.deferred(deploy), c.want)
			events := p.events()
			if len(events) != 1 || events[0].State != c.state || events[0].CallID != "t1" {
				t.Errorf("recorded %+v", events)
			}
		})
	}
}

func TestTheAnswerToADeferredCallIsUsedOnce(t *testing.T) {
	p := newPlace(t)
	wantDecision(t, p.deferred(bash("t1", "make deploy")), "defer")
	s := p.open()
	if err := s.Answer(t.Context(), p.waiting(s).Approve("")); err != nil {
		t.Fatal(err)
	}
	wantDecision(t, p.deferred(bash("t2", "make deploy")), "defer")
	wantDecision(t, p.deferred(bash("t3", "make deploy --force")), "defer")
}

func TestADeferredCallThatIsNoLongerWhatWasShownIsAskedAgain(t *testing.T) {
	p := newPlace(t)
	edit := event("PreToolUse", "t1", "Edit", `{"file_path":"$TOP/project/main.go","old_string":"main() {}","new_string":"main() { run() }"}`)
	wantDecision(t, p.deferred(edit), "defer")
	s := p.open()
	r := p.waiting(s)
	if err := s.Answer(t.Context(), r.Approve("")); err != nil {
		t.Fatal(err)
	}
	p.write("project/main.go", "package main\n\nfunc main() {}\n// another\n")
	wantDecision(t, p.deferred(edit), "defer")
	if again := p.waiting(s); again.ID == r.ID || !strings.Contains(again.Why, "no longer what was shown") {
		t.Errorf("the question is %s: %s", again.ID, again.Why)
	}
}

func TestWhatCannotBeDeferredIsAsked(t *testing.T) {
	p := newPlace(t)
	o := p.options(claude(t), bash("t1", "make deploy"))
	o.Defer = true // and somebody sits in front of it
	wantDecision(t, Run(t.Context(), o), "ask")
	codex := p.options(named(t, "codex"), bash("t2", "make deploy"))
	codex.Defer, codex.Environ = true, append(codex.Environ, "CLAUDE_CODE_ENTRYPOINT=sdk-cli")
	wantBlocked(t, Run(t.Context(), codex))
}

func TestASessionWithoutDeferredCallsEnds(t *testing.T) {
	p := newPlace(t)
	deploy := bash("t1", "make deploy")
	wantDecision(t, p.deferred(deploy), "defer")
	s := p.open()
	if err := s.Answer(t.Context(), p.waiting(s).Approve("")); err != nil {
		t.Fatal(err)
	}
	wantDecision(t, p.deferred(deploy), "allow")
	p.deferred(sessionEnd)
	if err := s.EndSession(t.Context(), "s"); !errors.Is(err, sessions.ErrNoSession) {
		t.Errorf("the session outlives the agent's: %v", err)
	}
}

func TestTheConfigCanHaveCallsDeferred(t *testing.T) {
	p := newPlace(t)
	p.write("config/config.yaml", rules+"hook: {ask: defer}\n")
	headless := func(agent *agents.Agent, input string) agents.Reply {
		o := p.options(agent, input)
		o.Environ = append(o.Environ, "CLAUDE_CODE_ENTRYPOINT=sdk-cli")
		return Run(t.Context(), o)
	}
	wantDecision(t, headless(claude(t), bash("t1", "make deploy")), "defer")
	s := p.open()
	if err := s.Answer(t.Context(), p.waiting(s).Approve("")); err != nil {
		t.Fatal(err)
	}
	wantDecision(t, headless(claude(t), bash("t1", "make deploy")), "allow")

	// Where nothing can be deferred it is as with agent.
	wantDecision(t, p.answer(claude(t), bash("t2", "make deploy")), "ask")
	wantBlocked(t, headless(named(t, "codex"), bash("t3", "make deploy")))
	gemini := `{"session_id":"g","cwd":"$TOP/project","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00Z","tool_name":"run_shell_command","tool_input":{"command":"make deploy"}}`
	if reply := headless(named(t, "gemini"), gemini); !strings.Contains(string(reply.Stdout), `"decision":"ask"`) {
		t.Errorf("Gemini CLI is told %+v", reply)
	}
}
