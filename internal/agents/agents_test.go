package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
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

// TestEveryToolIsKnown compares with the tools that a version of each agent offers its model. What
// is new must be looked at: does it run shell text, or touch files?
func TestEveryToolIsKnown(t *testing.T) {
	files, err := filepath.Glob("testdata/tools/*.txt")
	if err != nil || len(files) != 3 {
		t.Fatalf("there are the lists %q (%v), want one each of Claude Code, Codex and Gemini CLI", files, err)
	}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), "@")
		agent, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			for _, tool := range strings.Fields(line) {
				if agent.tools[tool] == nil {
					t.Errorf("%s: %s is not mapped", filepath.Base(file), tool)
				}
			}
		}
	}
}

// Every tool that runs shell text is our shell, whatever it is called.
func TestToolsThatRunShellText(t *testing.T) {
	for _, c := range []struct {
		agent       *Agent
		tool, input string
		shell       bool
	}{
		{&claudeCode, "Bash", `{"command":"git push"}`, true},
		{&claudeCode, "Monitor", `{"command":"git push","description":"d","timeout_ms":1}`, true},
		{&claudeCode, "Monitor", `{"ws":{"url":"wss://a.example"},"description":"d","timeout_ms":1}`, false},
		{&codex, "exec_command", `{"cmd":"git push"}`, true},
		{&codex, "shell", `{"command":["bash","-lc","git push"]}`, true},
		{&gemini, "run_shell_command", `{"command":"git push"}`, true},
		{&cursor, "Shell", `{"command":"git push"}`, true},
	} {
		w, err := c.agent.Call(Event{Session: "s", Dir: "/p", Tool: c.tool, Input: json.RawMessage(c.input)})
		var in struct{ Command string }
		if err == nil {
			err = json.Unmarshal(w.Call.Arguments, &in)
		}
		if got := w.Call.Connector == "" && w.Call.Tool == policy.ActShell && in.Command == "git push"; err != nil || got != c.shell || w.Own {
			t.Errorf("%s %s is %s %s, own %t (%v)", c.tool, c.input, w.Call.Name(), w.Call.Arguments, w.Own, err)
		}
	}
	if _, err := claudeCode.Call(Event{Session: "s", Dir: "/p", Tool: "Monitor", Input: json.RawMessage(`{"command":"ls","ws":{"url":"wss://a.example"}}`)}); err == nil {
		t.Error("a command beside a socket is accepted")
	}
}

// A command that Codex applies as a patch is the edits of the patch, in exactly the forms that it
// applies; all others are commands.
func TestAPatchInACommand(t *testing.T) {
	const patch = "*** Begin Patch\n*** Add File: a.txt\n+$(touch x)\n*** End Patch\n"
	for command, dir := range map[string]string{
		"apply_patch <<'END'\n" + patch + "END":                            "/p",
		"\n applypatch << \"END\"\n" + patch + "END\n \n":                  "/p",
		"cd sub && apply_patch <<'END'\n" + patch + "END\n":                "/p/sub",
		"cd '/q/a b' && apply_patch <<'END'\n" + patch + "END\n":           "/q/a b",
		"apply_patch <<END\n" + patch + "END\n":                            "", // a shell would expand it
		"apply_patch <<'END' && touch x\n" + patch + "END\n":               "",
		"apply_patch <<'END' > x\n" + patch + "END\n":                      "",
		"apply_patch <<'END'\n" + patch + "END\ntouch x\n":                 "",
		"apply_patch <<'END'\n" + patch + "END\n" + patch + "touch x\nEND": "",
		"apply_patch <<'END'\n" + patch:                                    "",
		"cd $HOME && apply_patch <<'END'\n" + patch + "END\n":              "",
		"cd \"$(touch x)\" && apply_patch <<'END'\n" + patch + "END\n":     "",
		"cd sub; apply_patch <<'END'\n" + patch + "END\n":                  "",
		"touch x && apply_patch <<'END'\n" + patch + "END\n":               "",
		"./apply_patch <<'END'\n" + patch + "END\n":                        "",
		"apply_patch x <<'END'\n" + patch + "END\n":                        "",
	} {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		w, err := codex.Call(Event{Session: "s", Dir: "/p", Tool: "Bash", Input: input})
		if err != nil {
			t.Fatal(err)
		}
		var in struct{ Patch, Dir string }
		if err := json.Unmarshal(w.Call.Arguments, &in); err != nil {
			t.Fatal(err)
		}
		if want := "edit_file"; dir != "" && (w.Call.Tool != want || in.Patch != patch || in.Dir != dir) || dir == "" && w.Call.Tool != policy.ActShell {
			t.Errorf("%q is %s %s", command, w.Call.Name(), w.Call.Arguments)
		}
		w, err = claudeCode.Call(Event{Session: "s", Dir: "/p", Tool: "Bash", Input: input})
		if err != nil || w.Call.Tool != policy.ActShell {
			t.Errorf("no other agent applies patches: %s, %v", w.Call.Name(), err)
		}
	}
}

// Gemini CLI leaves a question unanswered, without an end, where nobody is in front of it; claude -p
// denies it.
func TestWhoIsUnseen(t *testing.T) {
	node := []string{"/usr/bin/node", "--max-old-space-size=12052", "/usr/lib/node_modules/.bin/gemini"}
	for name, c := range map[string]struct {
		args     []string
		terminal bool
		environ  []string
		want     bool
	}{
		"in a terminal":              {nil, true, nil, false},
		"with a prompt":              {[]string{"--prompt", "Go."}, true, nil, true},
		"with a prompt, in short":    {[]string{"-p", "Go."}, true, nil, true},
		"with a prompt and a sign":   {[]string{"--prompt=Go."}, true, nil, true},
		"with a prompt to begin":     {[]string{"-i", "Go."}, true, nil, false},
		"without a terminal":         {nil, false, nil, true},
		"in CI":                      {nil, true, []string{"CI=true"}, true},
		"below an editor":            {[]string{"--acp"}, false, nil, false},
		"with a prompt to begin, CI": {[]string{"-i", "Go."}, true, []string{"CI=true"}, false},
	} {
		chain := func() []Process {
			return []Process{{Args: []string{"bash", "-c", "assent-hook gemini -p"}}, {Args: append(node[:3:3], c.args...), Terminal: c.terminal}}
		}
		if got := gemini.Unseen(chain, c.environ); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
		if claudeCode.Unseen(chain, c.environ) {
			t.Errorf("%s: nothing says that it is claude -p", name)
		}
	}
	if gemini.Unseen(func() []Process { return []Process{{Args: []string{"assent", "verify", "gemini"}}} }, nil) || gemini.Unseen(nil, nil) {
		t.Error("something else tries the hook")
	}
}
