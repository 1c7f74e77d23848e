package agents

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"time"
)

// gemini is Gemini CLI 0.61: hooks in settings.json, 60 seconds a hook unless the
// settings say otherwise, in milliseconds.
var gemini = Agent{
	Name: "gemini", Title: "Gemini CLI", Patience: 55 * time.Second, project: "GEMINI_PROJECT_DIR", replaces: true,
	prompts: []string{"BeforeTool"},
	moments: map[string]Moment{"BeforeTool": Before, "AfterTool": After, "SessionEnd": Ending},
	read:    readGemini,
	reply:   replyGemini,
	tools:   geminiTools,
	like:    map[string]string{"shell": "run_shell_command", "read_file": "read_file", "write_file": "write_file"},
	unseen:  unseenGemini,
	lifts:   true,
}

// unseenGemini finds out as Gemini CLI does whether nobody is in front of it. A question that a
// hook then leaves to it is never answered, and the run never ends.
func unseenGemini(chain []Process, environ []string) bool {
	i := slices.IndexFunc(chain, func(p Process) bool { return isGemini(p.Args) })
	if i < 0 {
		return false // something else tries the hook
	}
	p := chain[i]
	has := func(names ...string) bool {
		return slices.ContainsFunc(p.Args, func(arg string) bool {
			name, _, _ := strings.Cut(arg, "=")
			return slices.Contains(names, name)
		})
	}
	switch {
	case has("--acp", "--experimental-acp"): // an editor shows the question
		return false
	case !p.Terminal:
		return true
	case has("-i", "--prompt-interactive"):
		return false
	}
	return has("-p", "--prompt") || slices.Contains(environ, "CI=true") ||
		slices.Contains(environ, "GITHUB_ACTIONS=true")
}

// isGemini reports whether a command line is that of Gemini CLI, alone or as a script of an
// interpreter.
func isGemini(args []string) bool {
	for i, arg := range args {
		name := path.Base(arg)
		if strings.HasPrefix(name, "gemini") {
			return true
		}
		if i == 0 && !slices.Contains([]string{"node", "nodejs", "bun", "deno"}, name) ||
			i > 0 && !strings.HasPrefix(arg, "-") {
			return false
		}
	}
	return false
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
	Decision string `json:"decision"`
	Reason   string `json:"reason,omitempty"`
	// Shown is what its user sees beside a question. The reason is for the model alone.
	Shown  string        `json:"systemMessage,omitempty"`
	Output *geminiOutput `json:"hookSpecificOutput,omitempty"`
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
	if a.Verdict == Ask {
		d.Shown = a.Reason
	}
	if a.Input != nil {
		d.Output = &geminiOutput{Event: e.Hook, Input: a.Input}
	}
	return printed(d)
}
