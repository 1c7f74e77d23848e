package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/command"
)

// Document 000, story 4: a tool that notifies, with words of its own.
func TestACustomToolAsksInItsOwnWords(t *testing.T) {
	dir := t.TempDir()
	sent := filepath.Join(dir, "sent")
	program := script(t, filepath.Join(dir, "notify.sh"), "#!/bin/sh\ncat > "+sent+"\necho Sent\n")
	var a answerer
	gate := a.gate(t, newTool(t, notify(program), dir))
	r := tool.Call(t.Context(), gate, policy.Call{ID: "1", Tool: "slack_notify", Arguments: json.RawMessage(`{"message":"Build completed!","channel":"general"}`)})
	if r.Err != nil || r.Text != "Sent" || len(a.asked) != 1 {
		t.Fatalf("%+v", r)
	}
	if got := a.asked[0].Summary; got != "Send to #general: Build completed!" {
		t.Errorf("summary %q", got)
	}
	if got := r.Outcome.Acts[0]; got.String() != "slack_notify(general)" || !strings.Contains(got.Why, "notes.worker:7") {
		t.Errorf("act %s, why %q", got, got.Why)
	}
	if data, err := os.ReadFile(sent); err != nil || string(data) != `{"channel":"general","message":"Build completed!"}`+"\n" {
		t.Errorf("the program read %q, %v", data, err)
	}
}

func TestNothingRunsBeforeTheAnswer(t *testing.T) {
	dir := t.TempDir()
	program := script(t, filepath.Join(dir, "x"), "#!/bin/sh\ntouch ran\n")
	a := answerer{answer: func(r *approval.Request) approval.Decision {
		if _, err := r.View(t.Context()); err != nil {
			t.Error(err)
		}
		return r.Deny("no")
	}}
	r := tool.Call(t.Context(), a.gate(t, newTool(t, notify(program), dir)), policy.Call{ID: "1", Tool: "slack_notify", Arguments: json.RawMessage(`{"channel":"a","message":"b"}`)})
	if _, err := os.Stat(filepath.Join(dir, "ran")); r.Stage != approval.StageRefused || !os.IsNotExist(err) {
		t.Errorf("%s, %v", r.Stage, err)
	}
}

func TestWhatConfigSaysAboutACustomTool(t *testing.T) {
	dir := t.TempDir()
	program := script(t, filepath.Join(dir, "x"), "#!/bin/sh\n")
	for word, want := range map[tool.Word]policy.Verdict{
		"": policy.VerdictAsk, "ask": policy.VerdictAsk, "allow": policy.VerdictFree, "preApproved": policy.VerdictFree,
		"deny": policy.VerdictBlock, "once_per_session": policy.VerdictAsk,
	} {
		c := notify(program)
		c.Approval, c.Reason = word, "not here"
		p, err := prepare(t, newTool(t, c, dir), `{"channel":"a","message":"b"}`)
		if err != nil || len(p.Acts) != 1 || p.Acts[0].Verdict != want || p.Once != (word == tool.WordOnce) {
			t.Errorf("%q: %+v, %v", word, p, err)
		}
		if want == policy.VerdictBlock && p.Acts[0].Why != "not here" {
			t.Errorf("why %q", p.Acts[0].Why)
		}
	}
}

func TestASessionGrantIsForTheTarget(t *testing.T) {
	dir := t.TempDir()
	program := script(t, filepath.Join(dir, "x"), "#!/bin/sh\n")
	a := answerer{answer: func(r *approval.Request) approval.Decision {
		d := r.Approve("")
		d.Remember.Keep = approval.KeepSession
		return d
	}}
	gate := a.gate(t, newTool(t, notify(program), dir))
	for i, args := range []string{`{"channel":"a","message":"1"}`, `{"channel":"a","message":"2"}`, `{"channel":"b","message":"1"}`} {
		if r := tool.Call(t.Context(), gate, policy.Call{ID: "1", Tool: "slack_notify", Arguments: json.RawMessage(args)}); r.Err != nil {
			t.Fatalf("call %d: %v", i, r.Err)
		}
	}
	if len(a.asked) != 2 {
		t.Errorf("asked %d times", len(a.asked))
	}
}

func TestAViewHidesNothing(t *testing.T) {
	dir := t.TempDir()
	program := script(t, filepath.Join(dir, "x"), "#!/bin/sh\n")
	c := notify(program)
	c.View = command.View{Type: "file", Language: "markdown", Content: "# {{.channel}}\n\n{{.message}}"}
	long := "a message that is long enough"
	for name, tt := range map[string]struct {
		content, args string
		want          present.Facts
	}{
		"all is shown, short ones twice": {c.View.Content, `{"channel":"ops","message":"` + long + `"}`, present.Facts{present.TextFact("channel", "ops")}},
		"one that is not mentioned":      {c.View.Content, `{"channel":"ops","message":"` + long + `","urgent":true}`, present.Facts{present.TextFact("channel", "ops"), present.TextFact("urgent", "true")}},
		"one that is cut":                {"{{.message | cut 5}}", `{"channel":"ops","message":"` + long + `"}`, present.Facts{present.TextFact("channel", "ops"), present.TextFact("message", long)}},
		"one by accident":                {"a true story", `{"channel":"a","message":"","urgent":true}`, present.Facts{present.TextFact("channel", "a"), present.TextFact("message", ""), present.TextFact("urgent", "true")}},
		"one without a name to show":     {"x", `{"channel":"a","message":"b","\u202eevil":{"n":9007199254740993}}`, present.Facts{present.TextFact("arguments", "{\"channel\":\"a\",\"message\":\"b\",\"\u202eevil\":{\"n\":9007199254740993}}")}},
	} {
		t.Run(name, func(t *testing.T) {
			c := c
			c.View.Content = tt.content
			args, err := canonical.Arguments(json.RawMessage(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			p, err := prepare(t, newTool(t, c, dir), string(args))
			if err != nil {
				t.Fatal(err)
			}
			v, err := p.View(t.Context())
			if err != nil || v.Kind != present.KindFile || v.Language != "markdown" || v.Validate() != nil {
				t.Fatalf("%+v, %v", v, err)
			}
			if !(present.View{Facts: v.Facts}).Equal(present.View{Facts: tt.want}) {
				t.Errorf("facts %v, want %v", v.Facts, tt.want)
			}
		})
	}
}

func TestTemplates(t *testing.T) {
	dir := t.TempDir()
	program := script(t, filepath.Join(dir, "x"), "#!/bin/sh\n")
	for _, c := range []struct{ template, args, want string }{
		{"{{.message | cut 3}}", `{"channel":"c","message":"äöüß"}`, "äöü…"},
		{"{{cut 4 .message}}", `{"channel":"c","message":"äöüß"}`, "äöüß"},
		{"{{.message}}{{if .urgent}} now{{end}}", `{"channel":"c","message":"m","urgent":true}`, "m now"},
		{"{{.message}}{{if .urgent}} now{{end}}", `{"channel":"c","message":"m"}`, "m"},
		{"{{.n}}", `{"channel":"c","message":"m","n":9007199254740993}`, "9007199254740993"},
		{"{{.n | cut 2}}", `{"channel":"c","message":"m","n":12345}`, "12…"},
		{"{{range .list}}{{.}},{{end}}", `{"channel":"c","message":"m","list":["a","b"]}`, "a,b,"},
		{"  {{.message}}\n", `{"channel":"c","message":"m"}`, "m"},
	} {
		cfg := notify(program)
		cfg.Describe = c.template
		p, err := prepare(t, newTool(t, cfg, dir), c.args)
		if err != nil || p.Summary != c.want {
			t.Errorf("%s: %q, want %q; error %v", c.template, p.Summary, c.want, err)
		}
	}
}

// A template that does not fit is told to the model. Nobody is asked, and nothing ends.
func TestABrokenTemplateIsAToolError(t *testing.T) {
	dir := t.TempDir()
	program := script(t, filepath.Join(dir, "x"), "#!/bin/sh\n")
	for name, change := range map[string]func(*command.Config){
		"an unknown argument":   func(c *command.Config) { c.Describe = "{{.nobody}}" },
		"a wrong type":          func(c *command.Config) { c.Target = "{{range .channel.x}}{{end}}" },
		"an empty target":       func(c *command.Config) { c.Target = "{{if .urgent}}now{{end}} " },
		"a view that is cut":    func(c *command.Config) { c.View = command.View{Type: "text", Content: "{{cut -1 .channel}}"} },
		"a diff that is none":   func(c *command.Config) { c.View = command.View{Type: "diff", Content: "{{.message}}"} },
		"one that never ends":   func(c *command.Config) { c.Describe = `{{define "a"}}x{{template "a"}}{{end}}{{template "a"}}` },
		"one that is too large": func(c *command.Config) { c.Describe = `{{range 10000000}}0123456789{{end}}` },
	} {
		t.Run(name, func(t *testing.T) {
			c := notify(program)
			change(&c)
			var a answerer
			gate := a.gate(t, newTool(t, c, dir))
			r := tool.Call(t.Context(), gate, policy.Call{ID: "1", Tool: "slack_notify", Arguments: json.RawMessage(`{"channel":"c","message":"m"}`)})
			if r.Outcome.State != policy.StateInvalid || len(a.asked) != 0 || !strings.Contains(r.Text, "custom tool slack_notify (notes.worker:7): the template") {
				t.Errorf("%s: %s", r.Outcome.State, r.Text)
			}
		})
	}
}

func TestConfigsThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*command.Config)
		says   string
	}{
		"no command":            {func(c *command.Config) { c.Command = nil }, "tools/"},
		"a NUL":                 {func(c *command.Config) { c.Command = []string{"x", "a\x00b"} }, "NUL"},
		"a template":            {func(c *command.Config) { c.Describe = "{{.a" }, "describe"},
		"an unknown function":   {func(c *command.Config) { c.Target = "{{exec .a}}" }, "target"},
		"a type of view":        {func(c *command.Config) { c.View = command.View{Type: "html", Content: "x"} }, "text, diff, file, command, structured"},
		"a view without any":    {func(c *command.Config) { c.View = command.View{Type: "text"} }, "view.content"},
		"a view without a type": {func(c *command.Config) { c.View = command.View{Content: "x"} }, "view.type"},
		"a word":                {func(c *command.Config) { c.Approval = "maybe" }, "maybe"},
		"a variable":            {func(c *command.Config) { c.Env = []string{"LD_PRELOAD"} }, "LD_PRELOAD"},
		"a time":                {func(c *command.Config) { c.Timeout = -1 }, "timeout"},
		"no name":               {func(c *command.Config) { c.Name = "" }, "no name"},
		"parameters":            {func(c *command.Config) { c.Parameters = json.RawMessage(`[`) }, "parameters"},
	} {
		c := notify("/bin/true")
		tt.change(&c)
		if _, err := command.New(c, command.Options{Dir: "/"}); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error %v, want %q", name, err, tt.says)
		}
	}
	if _, err := command.New(notify("/bin/true"), command.Options{Dir: "here"}); err == nil {
		t.Error("a relative folder is taken")
	}
}

func TestAllFaultsAreToldAtOnce(t *testing.T) {
	err := command.Config{Name: "x", Describe: "{{", Target: "{{", Env: []string{"BASH_ENV"}, Approval: "maybe"}.Check()
	for _, says := range []string{"command", "describe", "target", "BASH_ENV", "maybe"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
}
