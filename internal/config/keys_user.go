package config

import (
	"maps"
	"slices"
)

// userKeys are the defaults that a user's config has besides the keys of a policy.
var userKeys = []key{
	{name: "model", about: "for workers that name none, such as anthropic:claude-sonnet-4-5", shape: text},
	{name: "providers", about: "where models are, by provider", shape: mapping([]key{
		{name: "anthropic", about: "Anthropic, or what speaks like it", shape: providerShape},
		{name: "openai", about: "OpenAI, or what speaks like it: Ollama, vLLM, LM Studio, OpenRouter", shape: providerShape},
	})},
	{name: "mode", about: "who answers when nothing remembered does: ask (default), approve-all or strict", shape: oneOf(slices.Concat([]string{"ask", "approve-all", "strict"}, slices.Sorted(maps.Keys(modeSpellings)))...)},
	{name: "approvals", about: "false: what would be asked runs; denies and records stay", shape: yesNo},
	{name: "on_deny", about: "what a denial does to a run: continue (default) or stop", shape: oneOf("continue", "stop")},
	{name: "ask_timeout", about: "silence is a denial after this time, such as 5m; default never", shape: duration},
	{name: "limits", about: "how much is taken", shape: mapping([]key{
		{name: "rules", about: "rules that are kept; default 100", shape: count},
	})},
	{name: "view", about: "how much of a view is shown before it is cut", shape: mapping([]key{
		{name: "lines", about: "default 50", shape: count},
		{name: "chars", about: "default 2000", shape: count},
	})},
	{name: "audit", about: "what the audit log keeps", shape: mapping([]key{
		{name: "keep_arguments", about: "none, redacted (default) or full; of views, notes and traces too", shape: oneOf("none", "redacted", "full")},
		{name: "fsync", about: "decided (default): calls that a person decided wait for the disk; all: every call", shape: oneOf("decided", "all")},
		{name: "keep_days", about: "older events are dropped; default never", shape: count},
		{name: "keep_bytes", about: "the oldest events are dropped beyond this size; default never", shape: count},
	})},
	{name: "notify", about: "a program that is told when a request waits: id, tool and summary, no arguments", shape: texts},
	{name: "notify_after", about: "how long a request waits before that; default 10s", shape: duration},
	{name: "hook", about: "for other agents that ask before their tools run", shape: mapping([]key{
		{name: "ask", about: "who is asked where no inbox is open: agent (its own prompt, default), defer (a run of claude -p ends and is resumed after the answer; elsewhere as agent), inbox (nobody: it is denied) or deny (not even the inbox)", shape: oneOf("agent", "defer", "inbox", "deny")},
		{name: "deadline", about: "a hook that has no answer by then denies", shape: duration},
		{name: "shell", about: "stage: commands run on assent's stage in the sandbox, where the agent takes a changed command; judge (default): the agent runs what was judged", shape: oneOf(HookStage, HookJudge)},
		{name: "policy", about: "what holds where a project has no policy of its own: quiet (commands run held, edits that undo covers are free) or careful (default: changes and commands ask); without a working sandbox it is careful", shape: oneOf(HookQuiet, HookCareful)},
		{name: "observe", about: "answer nothing, and record what would have happened", shape: yesNo},
	})},
	{name: "gateway", about: "for MCP clients", shape: mapping([]key{
		{name: "elicitation", about: "let the user of the client answer, through the client", shape: yesNo},
		{name: "hold", about: "how long a call is held before it returns as pending", shape: duration},
	})},
}

var providerShape = mapping([]key{
	{name: "base_url", about: "where the provider is", shape: text},
	{name: "key_variable", about: "the variable, or account in the keyring, that has the key", shape: text},
	{name: "max_tokens", about: "limits an answer", shape: count},
})

var userShape = file(userKeys...)
