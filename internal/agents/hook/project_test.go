package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/policy"
)

// in is what an agent sends about a command in a folder of the place.
func in(hook, session, folder, id, command string) string {
	data, err := json.Marshal(map[string]any{
		"session_id": session, "cwd": "$TOP/" + folder, "hook_event_name": hook, "tool_name": "Bash", "tool_use_id": id,
		"tool_input": map[string]string{"command": command},
	})
	if err != nil {
		panic(err)
	}
	return string(data)
}

// withPrivate is a place whose project denies a folder.
func withPrivate(t *testing.T) *place {
	p := newPlace(t)
	p.write("project/private/k", "secret\n")
	p.write("project/.assent/policy.yaml", "rules:\n  - deny read_file(private/**)\n")
	return p
}

// The rules of a project are those of the project, whichever of its folders a command runs in.
func TestTheRootIsTheProject(t *testing.T) {
	for name, c := range map[string]struct {
		agent   string
		environ []string
		first   string // the folder of the session's first event
	}{
		"Claude Code names it":               {"claude-code", []string{"CLAUDE_PROJECT_DIR=$TOP/project"}, "project/private"},
		"the first event names it":           {"claude-code", nil, "project"},
		"another agent's variable":           {"claude-code", []string{"GEMINI_PROJECT_DIR=$TOP/project/private"}, "project"},
		"Claude Code names a link to it":     {"claude-code", []string{"CLAUDE_PROJECT_DIR=$TOP/link"}, "project/private"},
		"Codex starts its hooks there":       {"codex", nil, "project/private"},
		"Codex, with Claude Code's variable": {"codex", []string{"CLAUDE_PROJECT_DIR=$TOP/project/private"}, "project/private"},
	} {
		t.Run(name, func(t *testing.T) {
			p := withPrivate(t)
			p.link("project", "link")
			answer := func(folder, id, command string) agents.Reply {
				o := p.options(named(t, c.agent), in("PreToolUse", "s", folder, id, command))
				for _, v := range c.environ {
					o.Environ = append(o.Environ, strings.ReplaceAll(v, "$TOP", p.top))
				}
				return Run(t.Context(), o)
			}
			allowed := func(r agents.Reply) bool {
				return r.Exit == 0 && (string(r.Stdout) == "{}\n" || strings.Contains(string(r.Stdout), `"allow"`))
			}
			if r := answer(c.first, "1", "pwd"); !allowed(r) {
				t.Errorf("pwd: %s%s", r.Stdout, r.Stderr)
			}
			wantBlocked(t, answer("project/private", "2", "cat k"), "deny read_file(private/**)")
			wantBlocked(t, answer("project", "3", "cat private/k"), "deny read_file(private/**)")
			for _, command := range []string{"cd ..", "cat ../main.go"} {
				if r := answer("project/private", command, command); !allowed(r) {
					t.Errorf("%s stays in the project: %s%s", command, r.Stdout, r.Stderr)
				}
			}
			if r := answer("elsewhere", "4", "cat b.txt"); allowed(r) {
				t.Errorf("a folder outside the project is free: %s", r.Stdout)
			}
		})
	}
}

// Gemini CLI and Cursor name the project too.
func TestTheProjectOfOtherAgents(t *testing.T) {
	p := withPrivate(t)
	o := p.options(named(t, "gemini"), `{"session_id":"g","cwd":"$TOP/project/private","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"cat k"}}`)
	o.Environ = append(o.Environ, "GEMINI_PROJECT_DIR="+p.project)
	wantBlocked(t, Run(t.Context(), o), "deny read_file(private/**)")
	wantBlocked(t, p.answer(named(t, "cursor"), `{"conversation_id":"c","workspace_roots":["$TOP/project"],"hook_event_name":"beforeShellExecution","command":"cat k","cwd":"$TOP/project/private"}`), "deny read_file(private/**)")
}

func TestAVariableThatNamesNoFolderIsIgnored(t *testing.T) {
	p := withPrivate(t)
	for _, value := range []string{"", "project", p.top + "/nowhere", p.project + "/main.go"} {
		session := "s" + value
		for folder, want := range map[string]string{"project": "allow", "project/private": "deny"} {
			if want == "deny" {
				p.answer(claude(t), in("PreToolUse", session, "project", "0", "pwd"))
			}
			o := p.options(claude(t), in("PreToolUse", session, folder, folder, "cat k k"))
			if want == "allow" {
				o = p.options(claude(t), in("PreToolUse", session, folder, folder, "cat main.go"))
			}
			o.Environ = append(o.Environ, "CLAUDE_PROJECT_DIR="+value)
			reply := Run(t.Context(), o)
			wantDecision(t, reply, want)
			if !strings.Contains(reply.Stderr, "CLAUDE_PROJECT_DIR is ignored") {
				t.Errorf("%q is ignored without a word: %q", value, reply.Stderr)
			}
		}
	}
}

// The prompt of Claude Code has the folder of the server that it asks, should the variable be wrong.
func TestThePromptHasAProject(t *testing.T) {
	p := withPrivate(t)
	o := p.options(agents.Prompt(), `{"session_id":"s","cwd":"$TOP/project","hook_event_name":"permission_prompt","tool_name":"Read","tool_input":{"file_path":"$TOP/project/private/k"}}`)
	o.Environ = append(o.Environ, "CLAUDE_PROJECT_DIR=nowhere")
	wantBlocked(t, Run(t.Context(), o), "deny read_file(private/**)", "CLAUDE_PROJECT_DIR is ignored")
}

// Hooks that fire at once at the beginning of a session agree on one project.
func TestOneOfTheFirstEventsDecides(t *testing.T) {
	p := newPlace(t)
	const n = 8
	got := make(chan string, n)
	for i := range n {
		dir := filepath.Join(p.project, string(rune('a'+i)))
		a := &answering{Options: p.options(claude(t), "")}
		go func() {
			project, _, err := a.project(agents.Event{Session: "s", Dir: dir})
			if err != nil {
				t.Error(err)
			}
			got <- project
		}()
	}
	var all []string
	for range n {
		all = append(all, <-got)
	}
	if slices.Sort(all); all[0] != all[n-1] || all[0] == "" {
		t.Errorf("the projects are %q", all)
	}
}

// A new session of the agent may have another project.
func TestTheProjectGoesWithItsSession(t *testing.T) {
	p := withPrivate(t)
	wantDecision(t, p.answer(claude(t), in("PreToolUse", "s", "project", "1", "cat main.go")), "allow")
	wantDecision(t, p.answer(claude(t), in("PreToolUse", "s", "elsewhere", "2", "cat b.txt")), "ask")
	p.answer(claude(t), `{"session_id":"s","hook_event_name":"SessionEnd","reason":"exit"}`)
	wantDecision(t, p.answer(claude(t), in("PreToolUse", "s", "elsewhere", "3", "cat b.txt")), "allow")
}

func TestALookKeepsNoProject(t *testing.T) {
	p := withPrivate(t)
	event := strings.ReplaceAll(in("PreToolUse", "s", "project", "1", "cat main.go"), "$TOP", p.top)
	if _, err := Explain(t.Context(), p.options(claude(t), ""), []byte(event)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(p.state); !os.IsNotExist(err) {
		t.Errorf("it made the state folder (%v)", err)
	}
}

func TestTheFolderIsRecorded(t *testing.T) {
	p := newPlace(t)
	p.answer(claude(t), in("PreToolUse", "s", "project", "1", "pwd"))
	p.answer(claude(t), in("PreToolUse", "s", "project/notes", "2", "ls"))
	events := p.events()
	if len(events) != 2 || events[0].Folder != p.project || events[1].Folder != p.project+"/notes" {
		t.Errorf("recorded %+v", events)
	}
	o := p.options(claude(t), in("PreToolUse", "s", "project/notes", "3", "make deploy"))
	o.Defer, o.Environ = true, append(o.Environ, "CLAUDE_CODE_ENTRYPOINT=sdk-cli")
	wantDecision(t, Run(t.Context(), o), "defer")
	sessions, err := p.open().Sessions(t.Context())
	if err != nil || len(sessions) != 1 || sessions[0].Folder != p.project {
		t.Errorf("the sessions are %+v (%v)", sessions, err)
	}
}

// With a rule that allows a command Codex runs it in its own sandbox. That it may leave the
// sandbox is another question.
func TestLeavingTheSandboxIsForAPerson(t *testing.T) {
	p := newPlace(t)
	codex := named(t, "codex")
	if r := p.answer(codex, in("PreToolUse", "s", "project", "1", "npm test")); string(r.Stdout) != "{}\n" || r.Exit != 0 {
		t.Fatalf("a rule allows it: %s%s", r.Stdout, r.Stderr)
	}
	for range 2 { // the answer before does not count, and neither does the first of these
		if r := p.answer(codex, in("PermissionRequest", "s", "project", "", "npm test")); string(r.Stdout) != "{}\n" || r.Exit != 0 {
			t.Errorf("Codex's own prompt does not ask: %s%s", r.Stdout, r.Stderr)
		}
	}
	events := p.events()
	if last := events[len(events)-1]; len(events) != 3 || last.State != policy.StateHandedOver || !strings.Contains(last.Why, "outside its own sandbox") {
		t.Errorf("recorded %+v", events)
	}
	wantBlocked(t, p.answer(codex, in("PermissionRequest", "s", "project", "", "git push")), "deny shell(git push)")

	p = newPlace(t)
	p.write("config/config.yaml", "approvals: false\n")
	if r := p.answer(codex, in("PermissionRequest", "s", "project", "", "npm test")); strings.Contains(string(r.Stdout), `"allow"`) {
		t.Errorf("the master switch answers: %s", r.Stdout)
	}
	for _, args := range []string{`"sandbox_permissions":"require_escalated"`, `"sandbox_permissions":"with_additional_permissions"`, `"with_escalated_permissions":true`} {
		p := newPlace(t)
		wantBlocked(t, p.answer(codex, event("PreToolUse", "1", "shell", `{"command":"npm test",`+args+`}`)), "outside its own sandbox")
	}
	if r := p.answer(codex, event("PreToolUse", "9", "shell", `{"command":"pwd","sandbox_permissions":"use_default"}`)); string(r.Stdout) != "{}\n" {
		t.Errorf("a plain call: %s", r.Stdout)
	}
}

func TestAChangeOfFolderIsNoDifference(t *testing.T) {
	for _, hook := range []string{"PostToolUse", "PostToolUseFailure"} {
		p := newPlace(t)
		p.answer(claude(t), in("PreToolUse", "s", "project", "1", "cd notes"))
		p.answer(claude(t), in(hook, "s", "project/notes", "1", "cd notes"))
		if events := p.events(); len(events) != 1 {
			t.Errorf("recorded %+v", events)
		}
		p.answer(claude(t), in("PreToolUse", "s", "project/notes", "2", "git push"))
		p.answer(claude(t), in(hook, "s", "project", "2", "git push"))   // denied, and ran
		p.answer(claude(t), in(hook, "s", "project", "1", "cat /etc/x")) // another command under a known id
		p.answer(claude(t), in(hook, "s", "project/notes", "7", "cd notes"))
		var got []string
		for _, e := range p.events() {
			if e.Kind == approval.EventDiffered {
				got = append(got, e.Why+" in "+strings.TrimPrefix(e.Folder, p.top+"/"))
			}
		}
		want := []string{
			"the command git push ran although it was denied in project",
			"the command cat /etc/x ran although assent was not asked about it in project",
			"the command cd notes ran although assent was not asked about it in project/notes",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: differences %q, want %q", hook, got, want)
		}
	}
}

// Gemini CLI waits without end for an answer that nobody can give.
func TestAHeadlessGeminiIsDenied(t *testing.T) {
	const deploy = `{"session_id":"g","cwd":"$TOP/project","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"make deploy"}}`
	for _, terminal := range []bool{true, false} {
		p := newPlace(t)
		o := p.options(named(t, "gemini"), deploy)
		o.Chain = func() []agents.Process { return []agents.Process{{Args: []string{"gemini"}, Terminal: terminal}} }
		reply := Run(t.Context(), o)
		want := `"decision":"ask"`
		if !terminal {
			want = `"decision":"deny"`
			wantBlocked(t, reply, "open an inbox")
		}
		if !strings.Contains(string(reply.Stdout), want) {
			t.Errorf("terminal %t: %s", terminal, reply.Stdout)
		}
	}
	if c := chain(); len(c) == 0 || len(c[0].Args) == 0 || c[0].Args[0] == "" {
		t.Errorf("the processes that led here are %+v", c)
	}
}
