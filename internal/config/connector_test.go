package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConnectors(t *testing.T) {
	p := load(t, `
connectors:
  github: {command: [npx, server-github], env: {TOKEN: "${GITHUB_TOKEN}"}, targets: {create_issue: repo}, sandboxed: true}
  docs: {url: "https://docs.example.org/mcp", headers: {Authorization: x}, trust_annotations: true}
  local: {url: "http://127.0.0.1:8080/mcp"}
`)
	want := []Connector{
		{Name: "github", Command: []string{"npx", "server-github"}, Env: map[string]string{"TOKEN": "${GITHUB_TOKEN}"}, Targets: map[string]string{"create_issue": "repo"}, Sandboxed: true, Source: "policy.yaml:3"},
		{Name: "docs", URL: "https://docs.example.org/mcp", Headers: map[string]string{"Authorization": "x"}, TrustAnnotations: true, Source: "policy.yaml:4"},
		{Name: "local", URL: "http://127.0.0.1:8080/mcp", Source: "policy.yaml:5"},
	}
	if diff := cmp.Diff(want, p.Connectors); diff != "" {
		t.Error(diff)
	}
}

func TestConnectorProblems(t *testing.T) {
	for text, want := range map[string]string{
		"{x: {}}":              "connectors.x needs a command or a url",
		"{x: {command: []}}":   "needs a command or a url",
		"{x: {command: ['']}}": "the command is empty",
		"{x: {command: [a], url: 'https://a.example'}}": "has a command and a url; keep one",
		"{x: {url: 'http://a.example'}}":                "would travel unencrypted",
		"{x: {url: 'ftp://a.example'}}":                 "write it as https://HOST/PATH",
		"{x: {url: 'https://u:hunter2@a.example'}}":     "takes no user and password",
		"{x: {url: 'https://a.example', env: {A: b}}}":  "env and sandboxed belong to a command",
		"{x: {command: [a], headers: {A: b}}}":          "headers belong to a url",
		"{a__b: {command: [a]}}":                        "a name has letters, digits, - and single _",
		"{'a:b': {command: [a]}}":                       "a name has letters",
		"{x: {comand: [a]}}":                            `did you mean "command"?`,
		"{x: {command: npx server}}":                    "must be a list",
		"{x: {command: [a], env: {A: 1}}}":              "must be text",
		"[x]":                                           "must be a mapping",
	} {
		_, err := Load("policy.yaml", []byte("connectors: "+text+"\n"), "/base")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "policy.yaml:1:") {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("a secret is repeated: %v", err)
		}
	}
}
