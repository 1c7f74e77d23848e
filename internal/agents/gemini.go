package agents

import (
	"encoding/json"
	"time"
)

// gemini is Gemini CLI 0.61: hooks in settings.json, 60 seconds a hook unless the
// settings say otherwise, in milliseconds.
var gemini = Agent{
	Name: "gemini", Title: "Gemini CLI", Patience: 55 * time.Second,
	prompts: []string{"BeforeTool"},
	moments: map[string]Moment{"BeforeTool": Before, "AfterTool": After, "SessionEnd": Ending},
	read:    readGemini,
	reply:   replyGemini,
	tools:   geminiTools,
	like:    map[string]string{"shell": "run_shell_command", "read_file": "read_file", "write_file": "write_file"},
}

func readGemini(o object) (Event, error) {
	e, err := readClaude(o)
	if err != nil || !o.has("mcp_context") {
		return e, err
	}
	mcp, err := readObject(o["mcp_context"], "mcp_context")
	if err != nil {
		return e, err
	}
	if e.Server, err = mcp.text("server_name"); err != nil {
		return e, err
	}
	e.Tool, err = mcp.text("tool_name")
	return e, err
}

type geminiDecision struct {
	Decision string        `json:"decision"`
	Reason   string        `json:"reason,omitempty"`
	Output   *geminiOutput `json:"hookSpecificOutput,omitempty"`
}

type geminiOutput struct {
	Event string          `json:"hookEventName"`
	Input json.RawMessage `json:"tool_input"`
}

func replyGemini(e Event, a Answer) Reply {
	if !e.Moment.Decides() || a.Verdict == Nothing {
		return Reply{Stdout: []byte("{}\n")}
	}
	words := map[Verdict]string{Allow: "allow", Ask: "ask", Deny: "deny"}
	d := geminiDecision{Decision: words[a.Verdict], Reason: a.Reason}
	if a.Input != nil {
		d.Output = &geminiOutput{Event: e.Hook, Input: a.Input}
	}
	return printed(d)
}
