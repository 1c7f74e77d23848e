// Package prompttool is an MCP server with one tool: the one that Claude Code calls in place
// of its prompt, with --permission-prompt-tool.
//
//	claude -p --mcp-config mcp.json --permission-prompt-tool mcp__assent__permission …
//
// A call is taken through the same gate as a hook's event, by [hook.Run]. There is no prompt
// behind this one: what must be asked goes to the inbox, or is denied. The answer is always a
// text that Claude Code can read; what goes wrong is a no in that text.
//
// It is apart from package hook, so that the small program of the hooks has no MCP in it.
package prompttool
