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
		"{shell(ls): maybe}":          `"maybe" is no outcome; write allow, ask or deny`,
		"[shell(ls)]":                 "is no outcome",
		"{shell: ask}":                `"shell" is no call; write TOOL(TARGET)`,
		"{shell(): ask}":              "is no call",
		"{notify(x): ask}":            `which argument of notify is "x" cannot be told; write notify {"argument": …}`,
		"['ask shell {\"command\"}']": "the arguments of shell",
		"7":                           "must be a mapping",
	} {
		_, err := Load("policy.yaml", []byte("expect: "+text+"\n"), "/base")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
