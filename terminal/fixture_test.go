package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// fakeTool is what a call of the fixture would do.
type fakeTool func(call policy.Call) approval.Proposal

func (f fakeTool) Prepare(_ context.Context, call policy.Call) (approval.Proposal, error) {
	return f(call), nil
}

func show(v present.View) func(context.Context) (present.View, error) {
	return func(context.Context) (present.View, error) { return v, nil }
}

const oldReport = "# Weekly Report\n\n## Summary\n\n- Completed feature X\n- Fixed bug Y\n"
const newReport = "# Weekly Report\n\n## Executive Summary\n\nKey findings from this week:\n\n- Completed feature X\n- Fixed bug Z\n"

var goFile = "package main\n\nimport \"fmt\"\n\n// main greets.\nfunc main() {\n\tfor i := range 3 {\n\t\tfmt.Println(\"hello\", i, 0x2a)\n\t}\n}\n"

// proposals are the fixtures, by the argument "case".
var proposals = map[string]func(call policy.Call) approval.Proposal{
	"diff": func(policy.Call) approval.Proposal {
		return approval.Proposal{
			Acts:    []policy.Act{{Name: "write_file", Target: policy.PathTarget("notes/report.md"), Verdict: policy.VerdictAsk, Why: "notes asks for writes (policy.yaml:7)"}},
			Summary: "Edit notes/report.md (+4 −2 lines)",
			View:    show(present.DiffView(present.Side{Name: "notes/report.md", Text: oldReport}, present.Side{Name: "notes/report.md", Text: newReport})),
			Edit:    approval.Editable{Argument: "content", Suffix: ".md"},
		}
	},
	"file": func(policy.Call) approval.Proposal {
		return approval.Proposal{
			Acts:    []policy.Act{{Name: "write_file", Target: policy.PathTarget("src/main.go"), Verdict: policy.VerdictAsk}},
			Summary: "Create src/main.go (129 bytes, 10 lines)",
			View: show(present.View{Kind: present.KindFile, Language: "go", Content: goFile, Facts: present.Facts{
				present.NumberFact(present.FactSize, int64(len(goFile))), present.NumberFact(present.FactLines, 10)}}),
		}
	},
	"command": func(policy.Call) approval.Proposal {
		return approval.Proposal{
			Acts: []policy.Act{
				{Name: "shell", Target: policy.CommandTarget("git", "status"), Dir: ".", Prefix: 2, Verdict: policy.VerdictFree, Known: true, Why: "shell.rules (policy.yaml:12)"},
				{Name: "shell", Target: policy.CommandTarget("git", "push", "origin", "main"), Dir: ".", Prefix: 2, Verdict: policy.VerdictAsk, Known: true},
				{Name: "write_file", Target: policy.PathTarget("out/log.txt"), ByName: true, Verdict: policy.VerdictAsk},
			},
			Summary: "Run a shell command",
			View: show(present.View{Kind: present.KindCommand, Language: "bash", Facts: present.Facts{present.TextFact(present.FactCwd, "/home/user/project")},
				Content: `git status && git push origin main > out/log.txt && echo "a rather long message that has to be wrapped, $HOME and not cut"`}),
			Dir: ".",
		}
	},
	"parts": func(policy.Call) approval.Proposal {
		return approval.Proposal{
			Acts: []policy.Act{
				{Name: "shell", Target: policy.CommandTarget("cd", "src"), Dir: ".", Verdict: policy.VerdictFree, Known: true, Why: "preset readonly"},
				{Name: "shell", Target: policy.CommandTarget("make", "test"), Dir: "src", Prefix: 2, Verdict: policy.VerdictAsk, Known: true},
				{Name: "shell", Target: policy.CommandTarget("cp", "a.txt", "/etc/b\u202e"), Dir: "src", Prefix: 1, Verdict: policy.VerdictAsk, Known: true, Why: "shell.rules at policy.yaml:14"},
				{Name: "read_file", Target: policy.PathTarget("src/a.txt"), Cause: 3, Verdict: policy.VerdictFree, Known: true, Why: "root . says read: allow at policy.yaml:3"},
				{Name: "write_file", Target: policy.PathTarget("/etc/b\u202e"), Cause: 3, ByName: true, Verdict: policy.VerdictAsk, Known: true, Why: "outside every root"},
				{Name: "shell", Target: policy.CommandTarget("sh", "-c", "$CODE"), Dir: "src", PersonOnly: true, Verdict: policy.VerdictAsk, Why: "its code cannot be read"},
			},
			Summary: "Execute: cd src && make test && cp a.txt /etc/b\u202e && sh -c \"$CODE\"",
			View: show(present.View{Kind: present.KindCommand, Language: "bash", Facts: present.Facts{present.TextFact(present.FactCwd, ".")},
				Content: "cd src && make test && cp a.txt /etc/b\u202e && sh -c \"$CODE\"", Original: "cd   src&&make test\\\n&&cp a.txt /etc/b\u202e;\tsh -c \"$CODE\""}),
			Dir: ".",
		}
	},
	"move": func(policy.Call) approval.Proposal {
		return approval.Proposal{
			Acts: []policy.Act{
				{Name: "delete_file", Target: policy.PathTarget("notes/old.md"), Verdict: policy.VerdictAsk, Known: true, Why: "root notes says delete: ask at policy.yaml:5"},
				{Name: "write_file", Target: policy.PathTarget("drafts/old.md"), Verdict: policy.VerdictFree, Known: true, Why: "root drafts says write: allow at policy.yaml:9"},
			},
			Summary: "Move notes/old.md to drafts/old.md (2 bytes, 1 line)",
			View:    show(present.View{Kind: present.KindFile, Content: "a\n", Facts: present.Facts{present.NumberFact(present.FactSize, 2), present.NumberFact(present.FactLines, 1)}}),
		}
	},
	"binary": func(policy.Call) approval.Proposal {
		head := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x06\x00\x00\x00\x5c\x72\xa8\x66")
		return approval.Proposal{
			Acts:    []policy.Act{{Name: "write_file", Target: policy.PathTarget("img/logo.png"), Verdict: policy.VerdictAsk}},
			Summary: "Replace img/logo.png (48213 bytes, binary)",
			View: show(present.View{Kind: present.KindText, Content: present.HexDump(head), Facts: present.Facts{
				present.TextFact("type", "image/png"), present.NumberFact(present.FactSize, 48213),
				present.TextFact("digest", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
				present.NumberFact(present.FactOldSize, 40000),
				present.TextFact("old_digest", "sha256:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"),
				present.FlagFact(present.FactTruncated, true), present.NumberFact(present.FactFullSize, 48213)}}),
		}
	},
	"json": func(call policy.Call) approval.Proposal {
		return approval.Proposal{
			Acts:    []policy.Act{{Connector: "crm", Name: "create_user", Target: policy.ArgumentsTarget(call.Arguments), Verdict: policy.VerdictAsk, Why: "a connector's tool asks"}},
			Summary: "Tool call: crm:create_user",
		}
	},
	"bare": func(call policy.Call) approval.Proposal {
		return approval.Proposal{
			Acts:    []policy.Act{{Connector: "crm", Name: "logout", Target: policy.ArgumentsTarget(call.Arguments), Verdict: policy.VerdictAsk, Why: "a connector's tool asks"}},
			Summary: "Tool call: crm:logout",
			View:    show(present.View{Kind: present.KindStructured, Content: "{}", Language: "json"}),
		}
	},
	"text": func(policy.Call) approval.Proposal {
		return approval.Proposal{
			Acts:    []policy.Act{{Name: "notify", Target: policy.TextTarget("#general"), Verdict: policy.VerdictAsk}},
			Summary: "Send to #general",
			View:    show(present.View{Kind: present.KindText, Content: "Build completed! 構建完成 — e\u0301te\u0301 \u202eevil\u202c \x1b[31mred\x1b[m\ttab\nsecond line that is long enough to be wrapped at forty columns"}),
		}
	},
	"long": func(policy.Call) approval.Proposal {
		return approval.Proposal{
			Acts:    []policy.Act{{Name: "write_file", Target: policy.PathTarget("data/export.txt"), Verdict: policy.VerdictAsk}},
			Summary: "Create data/export.txt",
			View:    show(present.View{Kind: present.KindFile, Content: numbered(900)}),
		}
	},
	"person": func(policy.Call) approval.Proposal {
		return approval.Proposal{
			Acts:    []policy.Act{{Name: "delete_file", Target: policy.PathTarget("/"), PersonOnly: true, Verdict: policy.VerdictAsk, Why: "it deletes a root"}},
			Summary: "Delete /",
			View:    show(present.View{Kind: present.KindText, Content: "everything"}),
		}
	},
	"bash": func(policy.Call) approval.Proposal {
		return approval.Proposal{
			Acts:    []policy.Act{{Name: "shell", Target: policy.CommandTarget("bash", "x.sh"), Dir: ".", Prefix: 1, Verdict: policy.VerdictAsk, Known: true}},
			Summary: "Run bash x.sh",
			View:    show(present.View{Kind: present.KindCommand, Content: "bash x.sh"}),
			Choices: []approval.Choice{{ID: "net", Label: "with network"}},
		}
	},
	"script": func(policy.Call) approval.Proposal { // a summary and a command that fill many screens
		long := strings.Repeat("echo a line of a very long script that goes on; ", 700)
		return approval.Proposal{
			Acts: []policy.Act{
				{Name: "shell", Target: policy.CommandTarget("echo", "a"), Dir: ".", Verdict: policy.VerdictFree, Known: true, Why: "preset readonly"},
				{Name: "shell", Target: policy.CommandTarget("rm", "-rf", "build"), Dir: ".", Prefix: 1, Verdict: policy.VerdictAsk, Known: true, Why: "it deletes a folder"},
				{Name: "shell", Target: policy.CommandTarget("sh", "-c", long), Dir: ".", Verdict: policy.VerdictAsk, Known: true, Why: "its code is not read"},
			},
			Summary: "Execute: " + long,
			View:    show(present.View{Kind: present.KindCommand, Language: "bash", Content: long + "rm -rf build"}),
			Dir:     ".",
		}
	},
	"many": func(policy.Call) approval.Proposal { // more acts that ask than a screen has rows
		p := approval.Proposal{Summary: "Execute: " + strings.Repeat("x", 40000), Dir: "."}
		for i := range 40 {
			p.Acts = append(p.Acts, policy.Act{Name: "shell", Target: policy.CommandTarget("rm", fmt.Sprint("file", i)), Dir: ".", Prefix: 1, Verdict: policy.VerdictAsk, Known: true})
		}
		p.View = show(present.View{Kind: present.KindCommand, Content: "rm …"})
		return p
	},
	"panics": func(policy.Call) approval.Proposal {
		return approval.Proposal{
			Acts:    []policy.Act{{Name: "write_file", Target: policy.PathTarget("p"), Verdict: policy.VerdictAsk}},
			Summary: "Write p",
			View:    func(context.Context) (present.View, error) { panic("the view is broken") },
		}
	},
	"broken": func(policy.Call) approval.Proposal {
		return approval.Proposal{
			Acts:    []policy.Act{{Name: "write_file", Target: policy.PathTarget("b"), Verdict: policy.VerdictAsk}},
			Summary: "Write b",
			View:    func(context.Context) (present.View, error) { return present.View{}, errors.New("disk on fire") },
		}
	},
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of many\n", i+1)
	}
	return b.String()
}

// prepare looks the fixture up; a case may have a suffix behind a slash that is not part
// of its name, and "note" in the arguments names another target.
func prepare(call policy.Call) approval.Proposal {
	var args struct{ Case string }
	_ = json.Unmarshal(call.Arguments, &args)
	name, _, _ := strings.Cut(args.Case, "/")
	if p, ok := proposals[name]; ok {
		return p(call)
	}
	return approval.Proposal{
		Acts:    []policy.Act{{Name: "write_file", Target: policy.PathTarget("notes/" + name), Verdict: policy.VerdictAsk}},
		Summary: "Write notes/" + name,
		View:    show(present.View{Kind: present.KindText, Content: "content of " + name}),
		Edit:    approval.Editable{Argument: "content", Suffix: ".txt"},
	}
}

func callOf(name string) policy.Call {
	tool, connector := "write_file", ""
	switch name {
	case "command", "parts", "bash", "script", "many":
		tool = "shell"
	case "json":
		tool, connector = "create_user", "crm"
	case "bare":
		tool, connector = "logout", "crm"
	case "text":
		tool = "notify"
	case "person":
		tool = "delete_file"
	case "move":
		tool = "move_file"
	}
	args, _ := json.Marshal(map[string]any{"case": name, "content": "text of " + name, "role": "admin", "n": 12})
	return policy.Call{ID: name, Tool: tool, Connector: connector, Arguments: args, Workers: []string{"main", "helper"},
		Project: "/home/me/shop"}
}

// fixture is a gate with a batch that waits.
type fixture struct {
	gate   *approval.Gate
	memory *approval.Memory
	batch  *approval.Batch
}

var start = time.Date(2026, 11, 15, 4, 0, 0, 0, time.UTC)

func newGate(a approval.Approver, clock func() time.Time) (*approval.Gate, *approval.Memory) {
	memory := approval.NewMemory(0)
	n := 0
	gate, err := approval.New(approval.Config{
		Preparer: fakeTool(prepare), Clock: clock, Session: "s", Approver: a, Rules: memory, Grants: memory,
		NewID: func() string { n++; return fmt.Sprint("id", n) },
	})
	if err != nil {
		panic(err)
	}
	return gate, memory
}

func newFixture(t testing.TB, cases ...string) *fixture {
	t.Helper()
	gate, memory := newGate(nil, func() time.Time { return start })
	if slices.Contains(cases, "parts") { // a rule covers one of them
		if err := memory.AddRules(t.Context(), policy.Rule{Effect: policy.EffectAllow, Scope: policy.ScopeTool, Pattern: "shell(make test)", Enabled: true}); err != nil {
			t.Fatal(err)
		}
	}
	var calls []policy.Call
	for _, c := range cases {
		calls = append(calls, callOf(c))
	}
	f := &fixture{gate: gate, memory: memory, batch: gate.Review(t.Context(), calls...)}
	if got := len(f.batch.Pending()); got != len(cases) {
		t.Fatalf("%d requests wait, want %d: %+v", got, len(cases), f.batch.Outcomes())
	}
	return f
}

// grant grants what the second request would do, to another worker.
func (f *fixture) grant(t testing.TB, id string) {
	t.Helper()
	g := policy.Grant{ID: id, Session: "s", Workers: []string{"x"}, Effect: policy.EffectAllow, Act: f.batch.Pending()[1].Acts[0], Reach: policy.ReachExact}
	g.By = policy.Who{User: "ann", Via: policy.ViaTerminal}
	if err := f.memory.AddGrants(t.Context(), g); err != nil {
		t.Fatal(err)
	}
}

// player plays a prompt without a terminal: it feeds keys to a state and carries out the
// effects on a real gate.
type player struct {
	t     testing.TB
	state state
	work  *work
	now   time.Time
	said  []string
	edit  func(r *approval.Request) editedEvent
	pages int
}

// wideBash says that rules for bash are wide.
func wideBash(rule policy.Rule) string {
	if strings.HasPrefix(rule.Pattern, "shell(bash") {
		return "bash runs whatever it is given, so this allows nearly every command"
	}
	return ""
}

func (f *fixture) play(t testing.TB, columns, rows int) *player {
	t.Helper()
	a := NewWith(Config{Grants: f.memory, Wide: wideBash, Clock: func() time.Time { return start }})
	a.Use(f.gate)
	return playDesk(t, a, f.batch, columns, rows)
}

func playDesk(t testing.TB, a *Approver, d Questions, columns, rows int) *player {
	t.Helper()
	p := &player{t: t, work: a.newWork(t.Context(), d), now: start}
	o := p.work.options()
	o.theme, o.lines = noStyles, false
	s, effects := newState(o, columns, rows, d.Pending(), start)
	p.state = s
	p.apply(effects)
	p.wait()
	return p
}

// wait lets the quiet time pass.
func (p *player) wait() {
	p.now = p.now.Add(time.Minute)
	p.event(tickEvent{p.now})
}

func (p *player) event(e event) {
	p.t.Helper()
	var effects []effect
	p.state, effects = p.state.update(e)
	p.apply(effects)
}

func (p *player) apply(effects []effect) {
	p.t.Helper()
	for _, e := range effects {
		switch e := e.(type) {
		case sayEffect:
			p.said = append(p.said, e.line.String())
		case pagerEffect:
			p.pages++
			p.event(pagedEvent{id: e.request.ID, at: p.now})
		case editEffect:
			p.event(p.edit(e.request))
		case tickEffect, clockEffect, bellEffect, quitEffect:
		default:
			ev := p.work.do(e)
			if l, ok := ev.(loadedEvent); ok {
				l.at = p.now
				ev = l
			}
			if s, ok := ev.(settledEvent); ok {
				s.at = p.now
				ev = s
			}
			p.event(ev)
		}
	}
}

// keys presses keys, each after a quiet while. A word in <> is the name of a key.
func (p *player) keys(keys ...string) {
	p.t.Helper()
	for _, k := range keys {
		p.wait()
		if name, ok := strings.CutPrefix(k, "<"); ok && len(k) > 1 {
			p.event(keyEvent{name: strings.TrimSuffix(name, ">"), at: p.now})
			continue
		}
		for _, r := range k {
			p.event(keyEvent{name: string(r), text: string(r), at: p.now})
		}
	}
}

func (p *player) screen() string { return p.state.render() }

func (p *player) wants(words ...string) {
	p.t.Helper()
	flat := strings.Join(strings.Fields(strings.NewReplacer("│", "", "\n", " ").Replace(p.screen())), " ")
	for _, w := range words {
		if !strings.Contains(flat, w) {
			p.t.Fatalf("the screen does not say %q:\n%s", w, p.screen())
		}
	}
}

func (f *fixture) state(i int) policy.State { return f.batch.Outcome(i).State }
