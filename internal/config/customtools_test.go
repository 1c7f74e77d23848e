package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/command"
)

// readCustomTools reads a mapping of custom tools.
func readCustomTools(t *testing.T, text string) ([]command.Config, error) {
	t.Helper()
	r := &report{file: "x.worker"}
	root, err := r.parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	tools := r.customTools(root)
	return tools, r.err()
}

func TestCustomTools(t *testing.T) {
	got, err := readCustomTools(t, `
slack_notify:
  command: [python3, tools/notify.py]
  description: Sends a message.
  parameters:
    type: object
    properties:
      channel: {type: string}
      message: {type: string, maxLength: 4000}
    required: [channel, message]
  approval: ask
  describe: "Send to {{.channel}}: {{.message | cut 50}}"
  view: {type: file, content: "{{.message}}", language: markdown}
  target: "{{.channel}}"
  timeout: 30s
  env: [SLACK_TOKEN]
calculate_stats:
  approval: required
send_notification:
  approval: none
format_output: {}
plain:
never: {blocked: true, blockReason: not here, timeout: 5}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []command.Config{
		{
			Name: "slack_notify", Command: []string{"python3", "tools/notify.py"}, Description: "Sends a message.",
			Parameters: []byte(`{"properties":{"channel":{"type":"string"},"message":{"maxLength":4000,"type":"string"}},"required":["channel","message"],"type":"object"}`),
			Approval:   tool.WordAsk, Describe: "Send to {{.channel}}: {{.message | cut 50}}",
			View:   command.View{Type: "file", Content: "{{.message}}", Language: "markdown"},
			Target: "{{.channel}}", Timeout: 30 * time.Second, Env: []string{"SLACK_TOKEN"}, Source: "x.worker:2",
		},
		{Name: "calculate_stats", Approval: tool.WordAsk, Source: "x.worker:17"},
		{Name: "send_notification", Approval: tool.WordAllow, Source: "x.worker:19"},
		{Name: "format_output", Source: "x.worker:21"},
		{Name: "plain", Source: "x.worker:22"},
		{Name: "never", Approval: tool.WordDeny, Reason: "not here", Timeout: 5 * time.Second, Source: "x.worker:23"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCustomToolsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"x: {comand: [a]}":                             `unknown key "comand" in custom_tools.x; did you mean "command"?`,
		"x: {command: rm -rf}":                         "command must be a list",
		"x: {command: []}":                             "command is empty",
		"x: {parameters: [a]}":                         "a JSON schema",
		"x: {parameters: {type: string}}":              "type: object",
		"x: {describe: '{{.a'}":                        "describe",
		"x: {target: '{{nope .a}}'}":                   "target",
		"x: {view: {type: html, content: a}}":          "view.type",
		"x: {view: {type: text}}":                      "view.content",
		"x: {view: {type: text, content: a, lang: b}}": `unknown key "lang"`,
		"x: {timeout: soon}":                           "a time such as 30s",
		"x: {timeout: -1s}":                            "a time such as 30s",
		"x: {env: [LD_PRELOAD]}":                       "LD_PRELOAD",
		"x: {approval: maybe}":                         "maybe",
		"'x*': {}":                                     "invalid tool name",
		"'../x': {}":                                   "invalid tool name",
		"[a]":                                          "must be a mapping",
	} {
		_, err := readCustomTools(t, text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.worker:1:") {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

func TestAToolFile(t *testing.T) {
	got, err := LoadToolFile("tools/x.yaml", []byte("description: Does x.\nparameters: {type: object, properties: {a: {type: integer}}}\n"))
	if err != nil || got.Description != "Does x." || string(got.Parameters) != `{"properties":{"a":{"type":"integer"}},"type":"object"}` {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := LoadToolFile("tools/x.yaml", []byte("desc: x\n")); err == nil || !strings.Contains(err.Error(), "tools/x.yaml:1:1") {
		t.Errorf("error %v", err)
	}
	if _, err := LoadToolFile("tools/x.yaml", nil); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}
