package hook

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/agents"
)

// quietly has an event answered where the user chose the quiet policy. Why is why no sandbox
// works; empty if one does.
func (p *place) quietly(why, event string) agents.Reply {
	p.t.Helper()
	o := p.options(claude(p.t), event)
	o.Sandbox = func(context.Context) string { return why }
	return Run(p.t.Context(), o)
}

func toolCall(id, name string, input map[string]string) string {
	data, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return event("PreToolUse", id, name, string(data))
}

func TestQuiet(t *testing.T) {
	write := func(path string) string {
		return toolCall(path, "Write", map[string]string{"file_path": "$TOP/" + path, "content": "x"})
	}
	for name, c := range map[string]struct{ event, quiet, careful string }{
		"an edit":            {toolCall("t", "Edit", map[string]string{"file_path": "$TOP/project/main.go", "old_string": "main", "new_string": "x"}), "allow", "ask"},
		"a new file":         {write("project/src/new.go"), "allow", "ask"},
		"a file outside":     {write("elsewhere/b.txt"), "ask", "ask"},
		"a secret":           {write("project/.env"), "ask", "ask"},
		"settings of hooks":  {write("project/.claude/settings.json"), "ask", "ask"},
		"what rules deny":    {bash("t", "git push"), "deny", "deny"},
		"what is protected":  {write("project/.git/config"), "deny", "deny"},
		"a reading command":  {bash("t", "cat main.go"), "allow", "allow"},
		"a writing command":  {bash("t", "echo x > new.txt"), "ask", "ask"},
		"a removing command": {bash("t", "rm main.go"), "ask", "ask"},
		"a commit":           {bash("t", "git commit -m x"), "ask", "ask"},
		"an unknown command": {bash("t", "make"), "ask", "ask"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, shell := range []string{"", "shell: judge, "} {
				p := newPlace(t)
				p.write("config/config.yaml", rules+"hook: {"+shell+"policy: quiet}\n")
				wantDecision(t, p.quietly("", c.event), c.quiet)
				p = newPlace(t)
				p.write("config/config.yaml", rules+"hook: {"+shell+"policy: quiet}\n")
				r := p.quietly("there is no bubblewrap", c.event)
				wantDecision(t, r, c.careful)
				if want := "assent: careful, although your config.yaml says hook.policy: quiet, because no sandbox holds: there is no bubblewrap\n"; r.Stderr != want {
					t.Errorf("it says %q, want %q", r.Stderr, want)
				}
			}
			p := newPlace(t) // nothing was chosen
			if r := p.quietly("there is no bubblewrap", c.event); r.Stderr != "" {
				t.Errorf("it says %q", r.Stderr)
			} else {
				wantDecision(t, r, c.careful)
			}
		})
	}
}

// A command that the agent runs by itself, on a machine where others are staged, is still not held.
func TestQuietWhereACommandIsNotStaged(t *testing.T) {
	for command, want := range map[string]string{"echo x > new.txt": "ask", "rm main.go": "ask", "cat main.go": "allow", "make": "ask",
		"git add -A": "ask", "git commit -m x": "ask", "git branch x": "ask", "git tag v1": "ask"} {
		p := newPlace(t)
		p.write("config/config.yaml", "hook: {shell: stage, policy: quiet}\n")
		wantDecision(t, p.quietly("", bash("t", command)), want)
	}
}

// In the home folder lies what shells and agents run and obey tomorrow: it is not one project.
func TestQuietIsNotForTheHomeFolder(t *testing.T) {
	edit := toolCall("t", "Write", map[string]string{"file_path": "$TOP/project/main.go", "content": "x"})
	for home, want := range map[string]string{"project": "ask", "project/notes": "ask", "elsewhere": "allow"} {
		p := newPlace(t)
		p.write("config/config.yaml", "hook: {policy: quiet}\n")
		t.Setenv("HOME", p.top+"/"+home)
		r := p.quietly("", edit)
		wantDecision(t, r, want)
		if (want == "ask") != strings.Contains(r.Stderr, "your home folder") {
			t.Errorf("%s: it says %q", home, r.Stderr)
		}
	}
	p := newPlace(t)
	p.write("config/config.yaml", "hook: {policy: quiet}\n")
	p.link("project", "link")
	t.Setenv("HOME", p.top+"/link")
	wantDecision(t, p.quietly("", edit), "ask")
	t.Setenv("HOME", p.top+"/elsewhere")
	p.state = p.project + "/state"
	wantDecision(t, p.quietly("", strings.Replace(edit, `"t"`, `"t2"`, 1)), "ask")
}

// A policy of the project's own holds, and one that nobody has trusted makes nothing quiet.
func TestQuietIsForProjectsWithoutAPolicy(t *testing.T) {
	p := newPlace(t)
	p.write("config/config.yaml", "hook: {policy: quiet}\n")
	p.write("project/.assent/policy.yaml", "rules: [deny read_file(x)]\n")
	edit := toolCall("t", "Write", map[string]string{"file_path": "$TOP/project/main.go", "content": "x"})
	wantDecision(t, p.quietly("", edit), "ask")
}

func TestExplainTellsWhichPolicyHolds(t *testing.T) {
	p := newPlace(t)
	p.write("config/config.yaml", "hook: {policy: quiet}\n")
	edit := strings.ReplaceAll(toolCall("t", "Write", map[string]string{"file_path": "$TOP/project/main.go", "content": "x"}), "$TOP", p.top)
	for why, want := range map[string][2]string{
		"":           {"allow", "assent's quiet policy (hook.policy in config.yaml)"},
		"no kernel.": {"ask", "careful, although your config.yaml says hook.policy: quiet, because no sandbox holds: no kernel."},
	} {
		o := p.options(claude(t), "")
		o.Sandbox = func(context.Context) string { return why }
		answer, err := Explain(t.Context(), o, []byte(edit))
		if err != nil || answer.Outcome != want[0] || answer.Policy != want[1] {
			t.Errorf("%q: %v, %s, %q; want %v", why, err, answer.Outcome, answer.Policy, want)
		}
	}
}
