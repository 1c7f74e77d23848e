package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/trust"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// event is what Claude Code sends about a call.
func event(hook, id, tool, input string) string {
	return `{"session_id":"s","cwd":"$TOP/project","hook_event_name":"` + hook + `","tool_name":"` + tool +
		`","tool_use_id":"` + id + `","tool_input":` + input + `}`
}

func bash(id, command string) string {
	data, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		panic(err)
	}
	return event("PreToolUse", id, "Bash", string(data))
}

func claude(t *testing.T) *agents.Agent { return named(t, "claude-code") }

func named(t *testing.T, name string) *agents.Agent {
	t.Helper()
	a, err := agents.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// wantBlocked wants the call blocked, in whatever form.
func wantBlocked(t *testing.T, r agents.Reply, parts ...string) {
	t.Helper()
	text := string(r.Stdout) + r.Stderr
	if r.Exit != 2 && !strings.Contains(text, `"deny"`) {
		t.Fatalf("it is not blocked: exit %d, %s", r.Exit, text)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
}

func wantDecision(t *testing.T, r agents.Reply, want string) {
	t.Helper()
	if r.Exit != 0 || !strings.Contains(string(r.Stdout), `"permissionDecision":"`+want+`"`) {
		t.Errorf("exit %d, %s%s; want %s", r.Exit, r.Stdout, r.Stderr, want)
	}
}

// open opens the store of the place, as another process would.
func (p *place) open() *store.Store {
	p.t.Helper()
	s, err := store.Open(p.t.Context(), p.state, store.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { s.Close() })
	return s
}

// events returns what was recorded.
func (p *place) events() []approval.Event {
	p.t.Helper()
	var out []approval.Event
	for r, err := range p.open().Records(p.t.Context(), approval.RecordFilter{}) {
		if err != nil {
			p.t.Fatal(err)
		}
		out = append(out, r.Event)
	}
	return out
}

func TestEveryAnswerIsRecorded(t *testing.T) {
	for command, want := range map[string]struct {
		state policy.State
		stage approval.Stage
	}{
		"ls":          {policy.StateFree, approval.StageReleased},
		"npm test":    {policy.StateAutoApproved, approval.StageReleased},
		"git push":    {policy.StateAutoDenied, approval.StageRefused},
		"make deploy": {policy.StateHandedOver, approval.StageReleased},
		"if then":     {policy.StateInvalid, approval.StageFailed},
	} {
		p := newPlace(t)
		p.answer(claude(t), bash("t1", command))
		events := p.events()
		if len(events) != 1 {
			t.Errorf("%s: %d events, want 1", command, len(events))
			continue
		}
		if e := events[0]; e.State != want.state || e.Stage != want.stage || e.Session != "s" || e.CallID != "t1" || e.Tool != "shell" {
			t.Errorf("%s: recorded %+v", command, e)
		}
	}
}

func TestObserveRecordsWhatWouldHaveHappened(t *testing.T) {
	p := newPlace(t)
	for _, command := range []string{"git push", "make deploy", "ls"} {
		o := p.options(claude(t), bash(command, command))
		o.Observe = true
		if r := Run(t.Context(), o); r.Exit != 0 || len(r.Stdout) > 0 {
			t.Errorf("%s: the agent was told %d %s", command, r.Exit, r.Stdout)
		}
	}
	var states []policy.State
	for _, e := range p.events() {
		states = append(states, e.State)
		if e.Stage != approval.StageReleased || !strings.Contains(e.Note, "only observed") {
			t.Errorf("%s is recorded as %s: %s", e.CallID, e.Stage, e.Note)
		}
	}
	if len(states) != 3 || states[0] != policy.StateAutoDenied || states[1] != policy.StateHandedOver || states[2] != policy.StateFree {
		t.Errorf("states %q", states)
	}
}

// panics is input on which reading panics.
type panics struct{}

func (panics) Read([]byte) (int, error) { panic("a bug") }

// waits is input that never comes.
type waits struct{ context.Context }

func (w waits) Read([]byte) (int, error) {
	<-w.Done()
	return 0, io.EOF
}

func TestWhateverGoesWrongBlocks(t *testing.T) {
	t.Run("a panic", func(t *testing.T) {
		o := newPlace(t).options(claude(t), "")
		o.Input = panics{}
		wantBlocked(t, Run(t.Context(), o), "panicked")
	})
	t.Run("input that never ends", func(t *testing.T) {
		o := newPlace(t).options(claude(t), "")
		o.Input, o.Deadline = waits{t.Context()}, time.Millisecond
		wantBlocked(t, Run(t.Context(), o), "no answer within")
	})
	t.Run("an interrupt", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		o := newPlace(t).options(claude(t), "")
		o.Input = waits{t.Context()}
		cancel()
		wantBlocked(t, Run(ctx, o))
	})
	t.Run("huge input", func(t *testing.T) {
		p := newPlace(t)
		wantBlocked(t, p.answer(claude(t), bash("t", strings.Repeat("x", maxInput))), "larger than")
	})
	t.Run("a config that cannot be read", func(t *testing.T) {
		p := newPlace(t)
		p.write("config/config.yaml", "rulez: []\n")
		wantBlocked(t, p.answer(claude(t), bash("t", "ls")), "rulez")
	})
	t.Run("a project's policy that cannot be read", func(t *testing.T) {
		p := newPlace(t)
		p.write("project/.assent/policy.yaml", "rules: [deny]\n")
		wantBlocked(t, p.answer(claude(t), bash("t", "ls")), "policy.yaml")
	})
	t.Run("a store that is damaged", func(t *testing.T) {
		p := newPlace(t)
		p.write("state/"+store.FileName, strings.Repeat("not a database ", 1000))
		wantBlocked(t, p.answer(claude(t), bash("t", "ls")), "store")
	})
	t.Run("a state folder that cannot be made", func(t *testing.T) {
		p := newPlace(t)
		p.write("state", "a file")
		wantBlocked(t, p.answer(claude(t), bash("t", "ls")), "state")
	})
}

func TestAStoreThatIsHeldBlocks(t *testing.T) {
	p := newPlace(t)
	lock, err := os.OpenFile(p.open().Path()+"-lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		defer lock.Close()
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	o := p.options(claude(t), bash("t", "ls"))
	o.Deadline = 300 * time.Millisecond
	wantBlocked(t, Run(t.Context(), o))
}

func TestProjectNarrowsUntilItIsTrusted(t *testing.T) {
	p := newPlace(t)
	p.write("project/.assent/policy.yaml", "rules:\n  - deny read_file(notes/**)\n  - allow write_file(main.go)\n")
	read := event("PreToolUse", "r", "Read", `{"file_path":"$TOP/project/notes/a.md"}`)
	write := event("PreToolUse", "w", "Write", `{"file_path":"$TOP/project/main.go","content":"x"}`)
	wantDecision(t, p.answer(claude(t), read), "deny")
	wantDecision(t, p.answer(claude(t), write), "ask")
	p.trust("project/.assent/policy.yaml")
	wantDecision(t, p.answer(claude(t), read), "deny")
	wantDecision(t, p.answer(claude(t), strings.Replace(write, `"w"`, `"w2"`, 1)), "allow")
	p.write("project/.assent/policy.yaml", "rules:\n  - allow write_file(**)\n")
	wantDecision(t, p.answer(claude(t), strings.Replace(write, `"w"`, `"w3"`, 1)), "ask")
}

func (p *place) trust(name string) {
	p.t.Helper()
	f, err := config.Read(filepath.Join(p.top, name), "")
	if err != nil {
		p.t.Fatal(err)
	}
	b, err := trust.Of(f)
	if err == nil {
		err = trust.Folder(filepath.Join(p.state, "trust")).Put(p.t.Context(), trust.Record{Path: b.Path, Parts: b.Parts})
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func TestWhoIsAskedIsConfig(t *testing.T) {
	for ask, want := range map[string]string{"agent": "ask", "inbox": "deny", "deny": "deny"} {
		p := newPlace(t)
		p.write("config/config.yaml", "hook: {ask: "+ask+"}\n")
		wantDecision(t, p.answer(claude(t), bash("t", "make deploy")), want)
	}
}

func TestOneActionThatFiresTwoHooksIsOneRequest(t *testing.T) {
	p := newPlace(t)
	cursor := named(t, "cursor")
	base := `{"conversation_id":"c","generation_id":"g","workspace_roots":["$TOP/project"],"hook_event_name":`
	before := base + `"preToolUse","tool_name":"Shell","tool_input":{"command":"make deploy"},"tool_use_id":"t"}`
	shell := base + `"beforeShellExecution","command":"make deploy","cwd":"$TOP/project"}`
	first, second := p.answer(cursor, before), p.answer(cursor, shell)
	if string(first.Stdout) != string(second.Stdout) {
		t.Errorf("two answers: %s and %s", first.Stdout, second.Stdout)
	}
	if n := len(p.events()); n != 1 {
		t.Errorf("%d events for one action, want 1", n)
	}
	p.answer(cursor, before)
	if n := len(p.events()); n != 2 {
		t.Errorf("%d events for two actions, want 2", n)
	}
}

func TestWhatRanIsCompared(t *testing.T) {
	p := newPlace(t)
	after := func(id, command string) string {
		return strings.Replace(bash(id, command), "PreToolUse", "PostToolUse", 1)
	}
	p.answer(claude(t), bash("t1", "ls"))
	p.answer(claude(t), after("t1", "ls"))
	if n := len(p.events()); n != 1 {
		t.Fatalf("%d events, want 1: what ran is what was answered", n)
	}
	p.answer(claude(t), after("t1", "ls -a"))
	p.answer(claude(t), bash("t2", "git push"))
	p.answer(claude(t), after("t2", "git push"))
	var why []string
	for _, e := range p.events() {
		if e.Kind == approval.EventDiffered {
			why = append(why, e.Why)
		}
	}
	if len(why) != 2 || !strings.Contains(why[0], "not asked") || !strings.Contains(why[1], "although it was denied") {
		t.Errorf("differences %q", why)
	}
}

// TestInbox asks a person in another process, as far as the store is concerned.
func TestInbox(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*approval.Request) approval.Decision
		want   string
		says   string
	}{
		"yes":     {func(r *approval.Request) approval.Decision { return r.Approve("") }, "allow", ""},
		"no":      {func(r *approval.Request) approval.Decision { return r.Deny("not today") }, "deny", "not today"},
		"changed": {changedTo(`{"command":"make test","cwd":"$TOP/project"}`), "allow", `"updatedInput":{"command":"make test"`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			s := p.inbox()
			got := make(chan agents.Reply, 1)
			go func() { got <- p.answer(claude(t), bash("t", "make deploy")) }()
			r := p.next(s)
			d := c.answer(r)
			d.Arguments = json.RawMessage(strings.ReplaceAll(string(d.Arguments), "$TOP", p.top))
			if len(d.Arguments) == 0 {
				d.Arguments = nil
			}
			d.By = policy.Who{User: "u", Via: policy.ViaInbox}
			if err := s.Answer(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			if name == "changed" { // the person is shown the changed call
				d = p.next(s).Approve("")
				d.By = policy.Who{User: "u", Via: policy.ViaInbox}
				if err := s.Answer(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
			reply := <-got
			wantDecision(t, reply, c.want)
			if !strings.Contains(string(reply.Stdout), c.says) {
				t.Errorf("%s does not say %s", reply.Stdout, c.says)
			}
		})
	}
}

func changedTo(args string) func(*approval.Request) approval.Decision {
	return func(r *approval.Request) approval.Decision { return r.Change(json.RawMessage(args), "") }
}

// inbox opens an inbox in the place.
func (p *place) inbox() *store.Store {
	p.t.Helper()
	s := p.open()
	err := s.BeginSession(p.t.Context(), sessions.Session{ID: "inbox", Kind: sessions.KindInbox, Owner: store.ThisProcess()})
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// next waits for a request that is open.
func (p *place) next(s *store.Store) *approval.Request {
	p.t.Helper()
	changed := make(chan struct{}, 1)
	stop := s.NotifyRequests(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer stop()
	for {
		open, err := s.Open(p.t.Context(), "")
		if err != nil {
			p.t.Fatal(err)
		}
		if len(open) > 0 {
			return open[0].Request
		}
		<-changed
	}
}

func TestInboxIsShownADiffBoundToTheFile(t *testing.T) {
	p := newPlace(t)
	s := p.inbox()
	got := make(chan agents.Reply, 1)
	go func() {
		got <- p.answer(claude(t), event("PreToolUse", "t", "Edit", `{"file_path":"$TOP/project/main.go","old_string":"main() {}","new_string":"main() { run() }"}`))
	}()
	r := p.next(s)
	v, err := r.View(t.Context())
	if err != nil || v.Kind != present.KindDiff || !strings.Contains(v.Content, "+func main() { run() }") {
		t.Errorf("the view is %s: %s (%v)", v.Kind, v.Content, err)
	}
	p.write("project/main.go", "package main\n\nfunc main() {}\n// another\n")
	if err := s.Answer(t.Context(), r.Approve("")); err != nil {
		t.Fatal(err)
	}
	again := p.next(s)
	if again.ID == r.ID || !strings.Contains(again.Why, "asked again") {
		t.Errorf("the file changed and the question is %s: %s", again.ID, again.Why)
	}
	if err := s.Answer(t.Context(), again.Deny("")); err != nil {
		t.Fatal(err)
	}
	wantDecision(t, <-got, "deny")
}

// A file that changes while the person reads is asked again as often as in every other way
// in, and then given up.
func TestAFileThatKeepsChanging(t *testing.T) {
	for changes, want := range map[int]string{9: `"permissionDecision":"allow"`, 10: approval.ErrKeepsChanging.Error()} {
		p := newPlace(t)
		s := p.inbox()
		posted := make(chan struct{}, 1)
		defer s.NotifyRequests(func() {
			select {
			case posted <- struct{}{}:
			default:
			}
		})()
		got := make(chan agents.Reply, 1)
		go func() {
			got <- p.answer(claude(t), event("PreToolUse", "t", "Edit", `{"file_path":"$TOP/project/main.go","old_string":"main() {}","new_string":"main() { run() }"}`))
		}()
		asked := 0
		for answered := false; !answered; {
			select {
			case reply := <-got:
				answered = true
				if said := string(reply.Stdout) + reply.Stderr; !strings.Contains(said, want) || asked != 10 {
					t.Errorf("%d changes: asked %d times, and told %s", changes, asked, said)
				}
			case <-posted:
				open, err := s.Open(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				for _, waits := range open {
					if asked++; asked <= changes {
						p.write("project/main.go", fmt.Sprintf("package main\n\nfunc main() {}\n// change %d\n", asked))
					}
					if err := s.Answer(t.Context(), waits.Request.Approve("")); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

func TestAGrantHoldsForTheAgentsSession(t *testing.T) {
	p := newPlace(t)
	s := p.inbox()
	got := make(chan agents.Reply, 1)
	go func() { got <- p.answer(claude(t), bash("t1", "make deploy")) }()
	d := p.next(s).Approve("").ForSession(policy.ReachExact)
	if err := s.Answer(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	wantDecision(t, <-got, "allow")
	wantDecision(t, p.answer(claude(t), bash("t2", "make deploy")), "allow")
	p.answer(claude(t), `{"session_id":"s","hook_event_name":"SessionEnd","reason":"exit"}`)
	if err := s.EndSession(t.Context(), "s"); !errors.Is(err, sessions.ErrNoSession) {
		t.Errorf("the session outlives the agent's: %v", err)
	}
	if _, err := os.Stat(memoFolder(p.state, "s")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what its hooks were told outlives the session: %v", err)
	}
}

func TestNobodyAnswersTheInboxInTime(t *testing.T) {
	p := newPlace(t)
	p.inbox()
	p.write("config/config.yaml", "hook: {deadline: 500ms}\n")
	o := p.options(claude(t), bash("t", "make deploy"))
	o.Deadline = time.Minute // a machine that is busy does not end the wait before
	wantBlocked(t, Run(t.Context(), o), "nobody answered in time")
}

func TestWhatOldSessionsWereToldGoes(t *testing.T) {
	p := newPlace(t)
	p.answer(claude(t), bash("t", "ls"))
	old := memoFolder(p.state, "s")
	long := time.Now().Add(-2 * sessions.Idle)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	p.answer(claude(t), strings.Replace(bash("t", "ls"), `"s"`, `"another"`, 1))
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
