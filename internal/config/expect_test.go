package config

import (
	"strings"
	"testing"
)

func TestExpectations(t *testing.T) {
	for text, want := range map[string]string{
		"{shell(git status): allow}":                                `allow shell {"command":"git status"}`,
		"{'shell(echo (a) && ls)': ask}":                            `ask shell {"command":"echo (a) && ls"}`,
		"[deny read_file(a/.env)]":                                  `deny read_file {"path":"a/.env"}`,
		"{write_file(a.md): ask}":                                   `ask write_file {"content":"example\n","path":"a.md"}`,
		"{'http_request(POST https://a.example/x)': ask}":           `ask http_request {"method":"POST","url":"https://a.example/x"}`,
		"{'http_request(https://a.example/x)': ask}":                `ask http_request {"method":"GET","url":"https://a.example/x"}`,
		`["ask github:create_issue {\"repo\": \"a/b\", \"n\": 1}"]`: `ask github:create_issue {"n":1,"repo":"a/b"}`,
	} {
		p := load(t, "expect: "+text+"\n")
		e := p.Expect[0]
		if got := e.Outcome + " " + e.Tool + " " + string(e.Args); got != want || e.Source != "policy.yaml:1" {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestExpectationProblems(t *testing.T) {
	for text, want := range map[string]string{
		"{shell(ls): maybe}":          `unknown outcome "maybe"; write allow, ask or deny`,
		"[shell(ls)]":                 "unknown outcome",
		"{shell: ask}":                `"shell" is not a call; write TOOL(TARGET)`,
		"{shell(): ask}":              "is not a call",
		"{notify(x): ask}":            `the meaning of "x" is unclear; write notify {"argument": …}`,
		"['ask shell {\"command\"}']": "the arguments of shell",
		"7":                           "must be a mapping",
	} {
		_, err := Load("policy.yaml", []byte("expect: "+text+"\n"), "/base")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
