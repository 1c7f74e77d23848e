package agents

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestArgumentsAreReadByTheirExactNames(t *testing.T) {
	in := object{"Command": json.RawMessage(`"ls"`), "command": json.RawMessage(`"git push"`)}
	w, err := running("command")(in, "/p")
	if err != nil || !strings.Contains(string(w.Call.Arguments), "git push") {
		t.Errorf("%s (%v)", w.Call.Arguments, err)
	}
}

func TestTwoNamesForOneArgumentMustAgree(t *testing.T) {
	both := func(a, b string) object {
		return object{"file_path": json.RawMessage(a), "path": json.RawMessage(b), "content": json.RawMessage(`""`)}
	}
	if _, err := writing("content")(both(`"/a"`, `"/b"`), "/p"); err == nil || !strings.Contains(err.Error(), "disagree") {
		t.Errorf("two paths: %v", err)
	}
	if _, err := writing("content")(both(`"/a"`, `"/a"`), "/p"); err != nil {
		t.Errorf("one path twice: %v", err)
	}
}

func TestChanged(t *testing.T) {
	e := Event{Session: "s", Dir: "/p", Tool: "Bash", Input: json.RawMessage(`{"command":"a","description":"d"}`)}
	w, err := claudeCode.Call(e)
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Changed(e, json.RawMessage(`{"command":"b","cwd":"/p"}`))
	if err != nil || string(got) != `{"command":"b","description":"d"}` {
		t.Errorf("%s (%v)", got, err)
	}
	if got, err := w.Changed(e, json.RawMessage(`{"command":"b","cwd":"/other"}`)); err == nil {
		t.Errorf("another folder cannot be told, and it is %s", got)
	}
}

func TestTheZeroAnswerDenies(t *testing.T) {
	for _, a := range All() {
		for hook, moment := range a.moments {
			if !moment.Decides() {
				continue
			}
			reply := a.Reply(Event{Hook: hook, Moment: moment}, Answer{})
			if !strings.Contains(string(reply.Stdout), `"deny"`) || !strings.Contains(string(reply.Stdout), "denied by assent") {
				t.Errorf("%s, %s: %s", a.Name, hook, reply.Stdout)
			}
		}
	}
}

// FuzzEvent wants whatever arrives to be an error, or an event whose call has a tool and
// arguments.
func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"a","old_string":"b","new_string":"c"}}`))
	f.Add([]byte(`{"session_id":"s","cwd":"/p","hook_event_name":"BeforeTool","tool_name":"replace","tool_input":{"file_path":"a","old_string":"b","new_string":"c","expected_replacements":2}}`))
	f.Add([]byte(`{"conversation_id":"s","workspace_roots":["/p"],"hook_event_name":"beforeMCPExecution","tool_name":"x","tool_input":"{}","mcp_server_name":"m"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, a := range All() {
			e, err := a.Read(data)
			if err != nil || e.Moment == Ending {
				continue
			}
			w, err := a.Call(e)
			if err == nil && (w.Call.Tool == "" || !json.Valid(w.Call.Arguments) || w.Call.Session == "") {
				t.Errorf("%s: %+v", a.Name, w.Call)
			}
		}
	})
}

// Gemini CLI and Codex call some tools as we do, with arguments of their own.
func TestASampleHasTheAgentsOwnArguments(t *testing.T) {
	for _, c := range []struct {
		agent      *Agent
		tool, args string
	}{{&gemini, "read_file", `{"file_path":"/x/a"}`}, {&gemini, "write_file", `{"file_path":"/x/a","content":"n"}`}, {&codex, "read_file", `{"path":"/x/a"}`}} {
		data, err := c.agent.Sample("/p", c.tool, []byte(c.args))
		if err != nil {
			t.Errorf("%s %s: %v", c.agent.Name, c.args, err)
			continue
		}
		e, err := c.agent.Read(data)
		if err != nil || string(e.Input) != c.args {
			t.Errorf("%s %s: %s, %v", c.agent.Name, c.args, e.Input, err)
		}
	}
}
