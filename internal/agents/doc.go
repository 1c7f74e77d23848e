// Package agents speaks the hook contracts of other agents: what Claude Code, Codex,
// Gemini CLI and Cursor say to a program before one of their tools runs, and what they
// take for an answer.
//
// An [Agent] turns what arrives on standard input into an [Event], an event into a call
// under our own names with [Agent.Call], and an [Answer] into a [Reply]: bytes for standard
// output, words for standard error, and the exit status. Nothing here decides anything.
//
//	agent, err := agents.Named("claude-code")
//	event, err := agent.Read(input)
//	want, err := agent.Call(event)    // Bash {"command": …} is shell {"command": …}
//	reply := agent.Reply(event, agents.Answer{Verdict: agents.Deny, Reason: "…"})
//
// Two things carry the package. These agents run the tool when a hook fails, so there is
// one form that blocks whatever went wrong: [Blocked], exit status 2 with the reason on
// standard error. And a model chooses the arguments of its tools: they are read by their
// exact names, and two spellings of one argument that disagree are an error, because it
// could not be told which of them the agent will use.
package agents
