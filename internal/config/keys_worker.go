package config

// workerKeys are those that a worker has besides those of a policy.
var workerKeys = []key{
	{name: "name", about: "how others call it; default the name of the file", shape: text},
	{name: "description", about: "what it is for, in a line", shape: text},
	{name: "instructions", about: "what the model is told; in a .worker file the text below the front matter", shape: text},
	{name: "model", about: "such as anthropic:claude-sonnet-4-5, openai:gpt-5 or script:FILE", shape: text},
	{name: "max_steps", about: "how many turns a run has at most", shape: count},
	{name: "allow_workers", about: "the workers that it may call; none by default, \"*\" for all", shape: &shape{kinds: aText | aList, items: text}},
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
