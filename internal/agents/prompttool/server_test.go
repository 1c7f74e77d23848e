package prompttool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents/hook"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// options are those of a server in a place of its own, with rules.
func options(t *testing.T) Options {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, config := filepath.Join(top, "project"), filepath.Join(top, "config")
	for _, folder := range []string{dir, config} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text := "rules:\n  - deny shell(git push)\n  - allow shell(npm test)\n"
	if err := os.WriteFile(filepath.Join(config, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Options{Session: "s", Dir: dir, Hook: hook.Options{
		Places:  setup.Places{State: filepath.Join(top, "state"), Config: config, Admin: filepath.Join(top, "none")},
		Environ: []string{"PATH=/usr/bin:/bin", "HOME=" + top},
	}}
}

// connect returns a client of the server.
func connect(t *testing.T, o Options) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	s, err := o.server().Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "claude-code"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Wait() })
	return c
}

// ask calls the tool as Claude Code does, and returns its answer.
func ask(t *testing.T, c *mcp.ClientSession, arguments string) (behavior string, answer map[string]any) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: Name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	text, ok := r.Content[0].(*mcp.TextContent)
	if !ok || len(r.Content) != 1 || r.IsError {
		t.Fatalf("the answer is %+v, want one block of text", r)
	}
	if err := json.Unmarshal([]byte(text.Text), &answer); err != nil {
		t.Fatalf("%v: %s", err, text.Text)
	}
	behavior, _ = answer["behavior"].(string)
	return behavior, answer
}

func TestAnswers(t *testing.T) {
	for arguments, want := range map[string][2]string{
		`{"tool_name":"Bash","input":{"command":"npm test","timeout":1},"tool_use_id":"t"}`: {"allow", `"updatedInput":{"command":"npm test","timeout":1}`},
		`{"tool_name":"Bash","input":{"command":"pwd"},"tool_use_id":"t","more":[1]}`:       {"allow", `"updatedInput":{"command":"pwd"}`},
		// Claude Code does not say which folder of the project its shell is in.
		`{"tool_name":"Bash","input":{"command":"cat k"},"tool_use_id":"t"}`:    {"deny", "the file is not known"},
		`{"tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t"}`:       {"deny", "the file is not known"},
		`{"tool_name":"Write","input":{"file_path":"k","content":""}}`:          {"deny", "nothing says to which folder"},
		`{"tool_name":"Bash","input":{"command":"git push"},"tool_use_id":"t"}`: {"deny", "rule deny shell(git push)"},
		`{"tool_name":"Bash","input":{"command":"make"},"tool_use_id":"t"}`:     {"deny", "there is no one to ask"},
		`{"tool_name":"Teleport","input":{},"tool_use_id":"t"}`:                 {"deny", "there is no one to ask"},
		`{"tool_name":"Bash","input":{"command":"if then"},"tool_use_id":"t"}`:  {"deny", "cannot be parsed"},
		`{"tool_name":"Bash","input":{"command":7}}`:                            {"deny", "command must be a string"},
		`{"tool_name":"Bash"}`:             {"deny", "tool_input is missing"},
		`{"input":{"command":"ls"}}`:       {"deny", "tool_name is missing"},
		`{"tool_name":"Bash","input":"x"}`: {"deny", "must be a JSON object"},
		`{}`:                               {"deny", "tool_name is missing"},
	} {
		behavior, answer := ask(t, connect(t, options(t)), arguments)
		text, err := json.Marshal(answer)
		if err != nil || behavior != want[0] || !strings.Contains(string(text), want[1]) {
			t.Errorf("%s:\n got %s\nwant %s and %s", arguments, text, want[0], want[1])
		}
	}
}

func TestWhatGoesWrongIsANo(t *testing.T) {
	for name, spoil := range map[string]func(*Options){
		"a config that cannot be read": func(o *Options) { o.Hook.Places.Config = filepath.Join(o.Hook.Places.State, "\x00") },
		"a state that is no folder":    func(o *Options) { o.Hook.Places.State = filepath.Join(o.Hook.Places.Config, "config.yaml") },
		"a folder that is not known":   func(o *Options) { o.Dir = "" },
		"no session":                   func(o *Options) { o.Session = "" },
		"no time":                      func(o *Options) { o.Hook.Deadline = 1 },
	} {
		o := options(t)
		spoil(&o)
		if behavior, answer := ask(t, connect(t, o), `{"tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t"}`); behavior != "deny" || answer["message"] == "" {
			t.Errorf("%s: %v", name, answer)
		}
	}
}

// TestInbox has a person answer in another process, as far as the store is concerned.
func TestInbox(t *testing.T) {
	o := options(t)
	s, err := store.Open(t.Context(), o.Hook.Places.State, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.BeginSession(t.Context(), sessions.Session{ID: "inbox", Kind: sessions.KindInbox, Owner: store.ThisProcess()}); err != nil {
		t.Fatal(err)
	}
	posted := make(chan struct{}, 100)
	stop := s.NotifyRequests(func() { posted <- struct{}{} })
	defer stop()
	go func() {
		for range posted {
			open, err := s.Open(t.Context(), "")
			if err != nil {
				return // the test is over
			}
			for _, p := range open {
				if err := s.Answer(t.Context(), p.Request.Approve("")); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	behavior, answer := ask(t, connect(t, o), `{"tool_name":"Bash","input":{"command":"make"},"tool_use_id":"t"}`)
	if behavior != "allow" {
		t.Errorf("a person said yes, and the answer is %v", answer)
	}
	for r, err := range s.Records(t.Context(), approval.RecordFilter{}) {
		if err != nil || r.Event.State != policy.StateApproved || r.Event.CallID != "t" || r.Event.Session != "s" {
			t.Errorf("recorded %+v (%v)", r.Event, err)
		}
	}
}
