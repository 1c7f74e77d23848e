package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

func withSpec(s tool.Spec) tool.Tool { return &probe{spec: func() tool.Spec { return s }} }

func schemaTool(schema string) tool.Tool {
	return withSpec(tool.Spec{Name: "t", Schema: json.RawMessage(schema)})
}

func TestNewSetRefuses(t *testing.T) {
	type loop struct {
		Next *loop `json:"next"`
	}
	ok := func(context.Context, struct{}) (any, error) { return nil, nil }
	tests := map[string]struct {
		tools []tool.Tool
		want  string
	}{
		"same name":       {[]tool.Tool{frees("a"), frees("a")}, `tool 2: there is a tool "a" already; names that differ in case only are the same`},
		"other case":      {[]tool.Tool{frees("Send"), frees("send")}, `tool 2: there is a tool "send" already`},
		"empty name":      {[]tool.Tool{frees("")}, `tool 1: the name "" is empty`},
		"star":            {[]tool.Tool{frees("send_*")}, `tool 1: the name "send_*" has a character at byte 5 that rules cannot name`},
		"parenthesis":     {[]tool.Tool{frees("send(x)")}, `has a character at byte 4`},
		"colon":           {[]tool.Tool{frees("github:send")}, `has a character at byte 6`},
		"space":           {[]tool.Tool{frees("a b")}, `has a character at byte 1`},
		"new line":        {[]tool.Tool{frees("a\nb")}, `has a character at byte 1`},
		"hidden":          {[]tool.Tool{frees("a\u200bb")}, `has a character at byte 1`},
		"not UTF-8":       {[]tool.Tool{frees("a\xff")}, `the name "a\xff" is not valid UTF-8`},
		"connector":       {[]tool.Tool{withSpec(tool.Spec{Connector: "a:b", Name: "c"})}, `the connector's name "a:b" has a character at byte 1`},
		"nil":             {[]tool.Tool{frees("a"), nil}, `tool 2: it is nil`},
		"wrapped nil":     {tool.NeedsApproval(true, nil), `tool 1: it is nil`},
		"schema no JSON":  {[]tool.Tool{schemaTool(`{`)}, `tool t: schema: `},
		"schema no type":  {[]tool.Tool{schemaTool(`{"type": 7}`)}, `schema: `},
		"schema of text":  {[]tool.Tool{schemaTool(`{"type": "string"}`)}, `schema: arguments are an object, the schema is about type "string"`},
		"schema pattern":  {[]tool.Tool{schemaTool(`{"properties": {"a": {"pattern": "["}}}`)}, `schema: `},
		"schema far away": {[]tool.Tool{schemaTool(`{"$ref": "https://example.com/s.json"}`)}, `schema: `},
		"argument no struct": {[]tool.Tool{tool.Func("f", "", func(context.Context, string) (any, error) { return nil, nil })},
			`tool 1: f: the arguments must be a struct or a map, not string`},
		"argument a pointer": {[]tool.Tool{tool.Func("f", "", func(context.Context, *email) (any, error) { return nil, nil })},
			`f: the arguments must be a struct or a map, not *tool_test.email`},
		"argument without end": {[]tool.Tool{tool.Func("f", "", func(context.Context, loop) (any, error) { return nil, nil })},
			`f: schema of the arguments: `},
		"no function": {[]tool.Tool{tool.Func[struct{}, any]("f", "", nil)}, `f: the function is nil`},
		"wrapped":     {tool.NeedsApproval(true, tool.Func[struct{}, any]("f", "", nil)), `f: the function is nil`},
		"target and payload": {[]tool.Tool{tool.RequireApproval(tool.Func("f", "", ok), tool.Approval[struct{}]{
			Target:  func(struct{}) string { return "" },
			Payload: func(struct{}) any { return nil },
		})}, `f: RequireApproval takes a Target or a Payload, not both`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set, err := tool.NewSet(test.tools...)
			if err == nil || set != nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestNewGateNeedsASet(t *testing.T) {
	if g, err := tool.NewGate(nil, approval.Config{}); err == nil || g != nil {
		t.Errorf("a gate without tools: %v, %v", g, err)
	}
}

func TestSameNameUnderAnotherConnector(t *testing.T) {
	local, foreign := frees("search"), frees("search")
	foreign.spec = func() tool.Spec { return tool.Spec{Connector: "github", Name: "search"} }
	d := newFixture(t, nil, local, foreign)
	tool.Call(context.Background(), d.gate, policy.Call{Connector: "github", Tool: "search"})
	foreign.wantRan(t, "{}")
	local.wantRan(t)
}

func TestFuncSpec(t *testing.T) {
	type args struct {
		To    string          `json:"to" jsonschema:"who receives it"`
		Count int             `json:"count,omitempty"`
		Body  json.RawMessage `json:"body,omitempty"`
	}
	d := newFixture(t, nil, tool.Func("send", "Send it.", func(context.Context, args) (any, error) { return nil, nil }))
	specs := d.gate.Specs()
	if len(specs) != 1 || specs[0].Name != "send" || specs[0].Description != "Send it." {
		t.Fatalf("specs %+v", specs)
	}
	var got map[string]any
	if err := json.Unmarshal(specs[0].Schema, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"type": "object", "required": []any{"to"}, "additionalProperties": false,
		"properties": map[string]any{
			"to": map[string]any{"type": "string", "description": "who receives it"}, "count": map[string]any{"type": "integer"}, "body": true,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	wantText(t, d.call("send", `{"to": "ann", "body": {"a": [1]}}`), "done")
}

func TestDefinitionIgnoresLayout(t *testing.T) {
	a := tool.Spec{Name: "t", Schema: json.RawMessage(`{"type": "object", "required": ["a"]}`)}
	b := tool.Spec{Name: "t", Schema: json.RawMessage(`{"required":["a"],"type":"object"}`)}
	other := tool.Spec{Name: "t", Description: "now with words", Schema: a.Schema}
	da, errA := a.Definition()
	db, errB := b.Definition()
	dc, errC := other.Definition()
	if errA != nil || errB != nil || errC != nil || da != db || da == dc || da.IsZero() {
		t.Errorf("%v %v %v; %v %v %v", da, db, dc, errA, errB, errC)
	}
}
