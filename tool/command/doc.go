// Package command makes tools from programs, in any language, that somebody names in
// config: custom tools.
//
// A [Config] says what the program is and how its calls are put to a person. The arguments
// of a call go to the program's standard input as JSON, and what it prints is the result.
// No shell is involved, and the program knows nothing of our environment but what it is
// allowed to know.
//
//	notify, err := command.New(command.Config{
//		Name:       "slack_notify",
//		Command:    []string{"./tools/notify.py"},
//		Parameters: json.RawMessage(`{"type":"object","properties":{"channel":{"type":"string"},"message":{"type":"string"}}}`),
//		Describe:   "Send to {{.channel}}: {{.message | cut 50}}",
//		Target:     "{{.channel}}",
//	}, command.Options{Runner: runner, Dir: folder})
//
// Templates are those of text/template over the arguments, with one more function: cut N
// shortens a text. A template chooses what is said first, and cannot hide anything: an
// argument that the view does not show in full is shown beside it.
//
// A tool of this kind asks unless config says otherwise. It runs only what was trusted: the
// content of the program, of every file that its command line names, and of its definition is
// bound when the tool is made (or was bound when somebody trusted it, see [Config.Trusted]),
// looked at again in every call, and once more before the program starts. If a file has
// changed the call is blocked. Files that programs write while they work, such as databases and
// logs, are bound to an answer only: if one of them changes between the answer and the call,
// the call is asked again.
package command
