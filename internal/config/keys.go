package config

import (
	"maps"
	"slices"

	"github.com/assent-dev/assent/tool/command"
	"github.com/assent-dev/assent/tool/shell"
)

// The words of consent.
var (
	consentWords = slices.Concat([]string{"allow", "ask", "deny", "once_per_session"}, wordSpellings)
	word         = boolOr(*oneOf(consentWords...))
)

// consentKeys are those of everything that is about one thing: a tool, a command.
var consentKeys = append([]key{
	{name: "approval", about: "allow, ask, deny or once_per_session", shape: word},
	{name: "reason", about: "why it is denied; the model is told", shape: text},
}, olderConsentKeys()...)

var networkShape = boolOr(*mapping([]key{
	{name: "allow", about: "hosts that are free: docs.example.org or *.example.org over https on port 443, " +
		"db.example.org:5432 on that port; others ask", shape: texts},
	{name: "deny", about: "hosts that are refused, whatever else is said, such as evil.example, *.example.org or " +
		"db.example.org:22; without allow the network is on, and others ask", shape: texts},
}))

// pathKeys are those of a root.
var pathKeys = append([]key{
	{name: "root", about: "the folder or file; without it the folder of the path's name beside this file", shape: text},
	{name: "mode", about: "what can be done there at all: ro (default) or rw", shape: oneOf("ro", "rw")},
	{name: "suffixes", about: "endings of the files that can be reached, such as .md", shape: texts},
	{name: "max_file_bytes", about: "the size of the largest file", shape: count},
	{name: "approval", about: "one word, or one for each of read, write and delete", shape: boolOr(shape{
		kinds: aText | aMapping, words: consentWords, keys: []key{
			{name: "read", about: "default allow", shape: word},
			{name: "write", about: "default ask", shape: word},
			{name: "delete", about: "default ask", shape: word},
		},
	})},
	{name: "reason", about: "why it is denied", shape: text},
}, olderPathKeys...)

var (
	pathShape = mapping(pathKeys)

	extraShape = mapping([]key{
		{name: "read", about: "further files and folders that commands may read", shape: texts},
		{name: "write", about: "further files and folders that commands may write", shape: texts},
		{name: "caches", about: "programs that get a folder to cache in",
			shape: listOf(oneOf(slices.Sorted(maps.Keys(Caches))...))},
		{name: "unix_sockets", about: "sockets that commands may use", shape: texts},
	})

	sandboxShape = mapping([]key{
		{name: "paths", about: "the folders that tools may reach, by name", shape: namesTo(pathShape)},
		zonesKey,
		{name: "secrets", about: "patterns of files that ask even where reads are free; ! in front excepts", shape: texts},
		{name: "network", about: "false (default), true (hosts ask), or the hosts that are free and those that are denied",
			shape: networkShape},
		{name: "require_os_sandbox", about: "run nothing where the system has no sandbox", shape: yesNo},
		{name: "git_write", about: "let commands write to .git, without hooks and settings", shape: yesNo},
		{name: "home", about: "the home folder of commands: private (default), or tools, which shows the user's tools, " +
			"read-only, and settings without their secrets", shape: oneOf(homePrivate, homeTools)},
		{name: "extra", about: "what commands need and no tool exposes; only in the user's own config", shape: extraShape},
	})
)

var (
	shellRuleShape = mapping([]key{
		{name: "pattern", about: "the first words of the commands that it is about", shape: text, needed: true},
		{name: "description", about: "what a person is told about such a command", shape: text},
		{name: "sandbox_paths", about: "the rule holds only if every path of the command is in these roots", shape: texts},
	}, consentKeys)

	shellDefaultShape = mapping([]key{
		{name: "approval", about: "allow, ask, deny, or by_effect: as free as the files and hosts it would touch",
			shape: boolOr(*oneOf(slices.Concat([]string{"by_effect"}, consentWords)...))},
		{name: "when_sandboxed", about: "allow: a command that the operating system's sandbox holds runs without a " +
			"question, if every root allows everything, no deny can be met and undo covers it or is off",
			shape: oneOf("allow", "ask")},
	}, consentKeys[1:])

	shellShape = mapping([]key{
		{name: "presets", about: "lists of commands that are free; readonly: programs that only read and print",
			shape: listOf(oneOf(shell.PresetNames()...))},
		{name: "rules", about: "the first that matches decides; a deny wins wherever it stands",
			shape: listOf(shellRuleShape)},
		{name: "default", about: "for commands that nothing names; default ask", shape: shellDefaultShape},
		{name: "env", about: "names of variables that are passed on and may be set without a question", shape: texts},
		{name: "cwd", about: "the folder that commands run in, by its virtual name", shape: text},
		{name: "judge", about: "before: what is known only when a command runs is asked before it runs; running: it is " +
			"judged then, with its real values; default before", shape: oneOf("before", "running")},
		{name: "hold", about: "how long a running command waits for the answer to a question that came up, such as 60s",
			shape: duration},
	}, olderShellKeys)
)

var (
	toolsShape = namesTo(mapping(consentKeys))

	viewShape = mapping([]key{
		{name: "type", about: "how it is drawn", shape: oneOf(append(command.Types(), "file_content")...), needed: true},
		{name: "content", about: "a template over the arguments", shape: text, needed: true},
		{name: "language", about: "for highlighting", shape: text},
	})

	customToolShape = mapping([]key{
		{name: "command", about: "the program and its arguments; without it an executable of this name in tools/",
			shape: texts},
		{name: "description", about: "for the model", shape: text},
		{name: "parameters", about: "the JSON schema of the arguments", shape: namesTo(anything)},
		{name: "describe", about: "a template for the summary of a call", shape: text},
		{name: "view", about: "how a call is shown", shape: viewShape},
		{name: "target", about: "a template for what a call is about: what is remembered and logged", shape: text},
		{name: "timeout", about: "ends the program, such as 30s", shape: duration},
		{name: "env", about: "names of variables that the program gets", shape: texts},
	}, consentKeys)

	toolFileShape = mapping([]key{*customToolShape.find("description"), *customToolShape.find("parameters")})

	connectorShape = mapping([]key{
		{name: "command", about: "starts an MCP server that talks over standard input and output", shape: texts},
		{name: "env", about: "variables of its process", shape: namesTo(text)},
		{name: "sandboxed", about: "run it inside the profile of commands", shape: yesNo},
		{name: "url", about: "an MCP server over HTTP", shape: text},
		{name: "headers", about: "sent with every request", shape: namesTo(text)},
		{name: "targets", about: "for each tool the argument that rules match as its target", shape: namesTo(text)},
		{name: "trust_annotations", about: "let what the server says about its tools make them free", shape: yesNo},
	})
)

var undoShape = oneOf("on", "off")

// policyKeys are those of every file that decides about calls.
var policyKeys = append([]key{
	{name: "version", about: "of this format: 1", shape: count},
	{name: "sandbox", about: "the folders and hosts that tools may reach", shape: sandboxShape},
	{name: "shell", about: "the operator's word on commands; gives agents the shell", shape: shellShape},
	{name: "tools", about: "the operator's word on tools by name; globs work", shape: toolsShape},
	{name: "custom_tools", about: "programs as tools, by name", shape: namesTo(customToolShape)},
	{name: "connectors", about: "MCP servers whose tools are offered, by name", shape: namesTo(connectorShape)},
	{name: "undo", about: "on (default): what file tools and commands replace is kept for assent undo; off: it is not",
		shape: undoShape},
	{name: "rules", about: "such as: deny read_file(**/.env)", shape: texts},
	{name: "except", about: "what the denies of this file do not mean", shape: texts},
	{name: "expect", about: "calls and what must happen to them: allow, ask or deny", shape: &shape{
		kinds: aMapping | aList, values: oneOf("allow", "ask", "deny"), items: text,
	}},
}, olderPolicyKeys...)

// file is the shape of a file that decides about calls and has further keys.
func file(more ...key) *shape {
	s := mapping(more, policyKeys)
	s.refused = refusedKeys
	return s
}

// policyShape has the key of the administrator too: such a file is checked before it is put in its place.
var policyShape = file(teamKey)

// userKeys are the defaults that a user's config has besides the keys of a policy.
var userKeys = []key{
	{name: "model", about: "for workers that name none, such as anthropic:claude-sonnet-4-5", shape: text},
	{name: "providers", about: "where models are, by provider", shape: mapping([]key{
		{name: "anthropic", about: "Anthropic, or what speaks like it", shape: providerShape},
		{name: "openai", about: "OpenAI, or what speaks like it: Ollama, vLLM, LM Studio, OpenRouter",
			shape: providerShape},
	})},
	{name: "mode", about: "who answers when nothing remembered does: ask (default), approve-all or strict",
		shape: oneOf(slices.Concat([]string{"ask", "approve-all", "strict"}, slices.Sorted(maps.Keys(modeSpellings)))...)},
	{name: "approvals", about: "false: what would be asked runs; denies and records stay", shape: yesNo},
	{name: "on_deny", about: "what a denial does to a run: continue (default) or stop", shape: oneOf("continue", "stop")},
	{name: "ask_timeout", about: "silence is a denial after this time, such as 5m; default never", shape: duration},
	{name: "limits", about: "how much is taken", shape: mapping([]key{
		{name: "rules", about: "rules that are kept; default 1000", shape: count},
	})},
	{name: "view", about: "how much of a view is shown before it is cut", shape: mapping([]key{
		{name: "lines", about: "default 50", shape: count},
		{name: "chars", about: "default 2000", shape: count},
	})},
	{name: "audit", about: "what the audit log keeps", shape: mapping([]key{
		{name: "keep_arguments", about: "none, redacted (default) or full; of views, notes and traces too",
			shape: oneOf("none", "redacted", "full")},
		{name: "fsync", about: "decided (default): calls that a person decided wait for the disk; all: every call",
			shape: oneOf("decided", "all")},
		{name: "keep_days", about: "older events are dropped; default never", shape: count},
		{name: "keep_bytes", about: "the oldest events are dropped beyond this size; default never", shape: count},
	})},
	{name: "notify", about: "a program that is told when a request waits: id, tool and summary, no arguments",
		shape: texts},
	{name: "webhook", about: "an address that is told when a request waits, with a signature: id, tool, project and urgency",
		shape: mapping([]key{
			{name: "url", about: "https://HOST/PATH, or http://localhost:PORT/PATH", shape: text, needed: true},
			{name: "secret_file", about: "the file with the secret (whsec_…), readable by you alone", shape: text, needed: true},
		})},
	{name: "notify_after", about: "how long a request waits before that; default 10s", shape: duration},
	{name: "hook", about: "for other agents that ask before their tools run", shape: mapping([]key{
		{name: "ask", about: "who is asked where no inbox is open: agent (its own prompt, default), defer (a run of " +
			"claude -p ends and is resumed after the answer; elsewhere as agent), inbox (nobody: it is denied) or deny " +
			"(not even the inbox)", shape: oneOf("agent", "defer", "inbox", "deny")},
		{name: "deadline", about: "a hook that has no answer by then denies", shape: duration},
		{name: "shell", about: "stage: commands run on assent's stage in the sandbox, where the agent takes a changed " +
			"command; judge (default): the agent runs what was judged", shape: oneOf(HookStage, HookJudge)},
		{name: "policy", about: "what holds where a project has no policy of its own: quiet (commands run held, edits " +
			"that undo covers are free) or careful (default: changes and commands ask); without a working sandbox it is " +
			"careful", shape: oneOf(HookQuiet, HookCareful)},
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

// workerKeys are those that a worker has besides those of a policy.
var workerKeys = []key{
	{name: "name", about: "how others call it; default the name of the file", shape: text},
	{name: "description", about: "what it is for, in a line", shape: text},
	{name: "instructions", about: "what the model is told; in a .worker file the text below the front matter", shape: text},
	{name: "model", about: "such as anthropic:claude-sonnet-4-5, openai:gpt-5 or script:FILE", shape: text},
	{name: "max_steps", about: "how many turns a run has at most", shape: count},
	{name: "allow_workers", about: "the workers that it may call; none by default, \"*\" for all",
		shape: &shape{kinds: aText | aList, items: text}},
	{name: "attachment_policy", about: "which files it may be given, and may give to others", shape: attachmentShape},
	{name: "input_schema", about: "the JSON schema of its input", shape: namesTo(anything)},
	{name: "output_schema", about: "the JSON schema of its result", shape: namesTo(anything)},
	{name: "manual", about: "tools that the model never sees; assent call runs them", shape: texts},
	{name: "locked", about: "no worker may replace this file", shape: yesNo},
}

var attachmentShape = mapping([]key{
	{name: "max_attachments", about: "how many files; default 4", shape: count},
	{name: "max_total_bytes", about: "how large they are together; default 10 MB", shape: count},
	{name: "allowed_suffixes", about: "endings that are taken, such as .pdf; default any", shape: texts},
	{name: "denied_suffixes", about: "endings that are not taken", shape: texts},
})

var workerShape = file(workerKeys...)
