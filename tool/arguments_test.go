package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
)

const orderSchema = `{
	"type": "object", "required": ["to", "items"], "additionalProperties": false,
	"properties": {
		"to": {"type": "string", "minLength": 1},
		"speed": {"enum": ["slow", "fast"]},
		"count": {"type": "integer", "minimum": 1},
		"items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
		"from": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}
	},
	"$defs": {"item": {"type": "object", "required": ["name"], "additionalProperties": false,
		"properties": {"name": {"type": "string"}}}}
}`

func TestArgumentErrorsNameTheField(t *testing.T) {
	order := frees("order")
	order.spec = func() tool.Spec { return tool.Spec{Name: "order", Schema: json.RawMessage(orderSchema)} }
	tests := map[string]struct{ args, field, text string }{
		"missing":        {`{"to": "ann"}`, "items", `argument "items" of order: it is missing`},
		"missing first":  {`{}`, "to", `argument "to" of order: it is missing`},
		"wrong type":     {`{"to": 5, "items": []}`, "to", `argument "to" of order: type: 5 has type "integer", want "string"`},
		"unknown":        {`{"to": "ann", "items": [], "cc": "bob"}`, "cc", `argument "cc" of order: it is not taken; there is count, from, items, speed, to`},
		"enum":           {`{"to": "ann", "items": [], "speed": "warp"}`, "speed", `argument "speed" of order: enum: warp does not equal any of: [slow fast]`},
		"bound":          {`{"to": "ann", "items": [], "count": 0}`, "count", `argument "count" of order: minimum: 0 is less than 1`},
		"no whole":       {`{"to": "ann", "items": [], "count": 1.5}`, "count", `argument "count" of order: type: 1.5 has type "number", want "integer"`},
		"empty":          {`{"to": "", "items": []}`, "to", `argument "to" of order: minLength: "" contains 0 Unicode code points, fewer than 1`},
		"nested":         {`{"to": "ann", "items": [], "from": {"city": 7}}`, "from.city", `argument "from.city" of order: type: 7 has type "integer", want "string"`},
		"nested missing": {`{"to": "ann", "items": [], "from": {}}`, "from.city", `argument "from.city" of order: it is missing`},
		"in a list":      {`{"to": "ann", "items": [{"name": "a"}, {"name": null}]}`, "items[1].name", `argument "items[1].name" of order: type: null has type "null", want "string"`},
		"list unknown":   {`{"to": "ann", "items": [{"name": "a", "x": 1}]}`, "items[0].x", `argument "items[0].x" of order: it is not taken; there is name`},
		"nested case":    {`{"to": "ann", "items": [], "from": {"city": "x", "City": "y"}}`, "from.City", `argument "from.City" of order: write it as "city"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t, yes, order)
			r := d.call("order", test.args)
			wantArgumentError(t, r, test.field, test.text)
			order.wantRan(t)
		})
	}
}

// That arguments fitted says nothing about others, nor about the next schema.
func TestArgumentsThatFittedSayNothingAboutOthers(t *testing.T) {
	order := frees("order")
	schema := `{"type": "object", "properties": {"to": {"type": "string"}}}`
	order.spec = func() tool.Spec { return tool.Spec{Name: "order", Schema: json.RawMessage(schema)} }
	d := newFixture(t, yes, order)
	for range 2 {
		if r := d.call("order", `{"to":"ann"}`); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	wantArgumentError(t, d.call("order", `{"to":5}`), "to", `argument "to" of order: type: 5 has type "integer", want "string"`)
	schema = `{"type": "object", "properties": {"to": {"type": "integer"}}}`
	wantArgumentError(t, d.call("order", `{"to":"ann"}`), "to", `argument "to" of order: type: ann has type "string", want "integer"`)
}

func wantArgumentError(t *testing.T, r tool.Result, field, text string) {
	t.Helper()
	var fault *tool.ArgumentError
	if !errors.As(r.Err, &fault) || !errors.Is(r.Err, approval.ErrInvalid) {
		t.Fatalf("error %v, want an argument error", r.Err)
	}
	if fault.Field != field || fault.Error() != text {
		t.Errorf("field %q: %s\nwant  %q: %s", fault.Field, fault, field, text)
	}
}

// Of several faults it is always the same one that is told.
func TestArgumentErrorsAreDeterministic(t *testing.T) {
	order := frees("order")
	order.spec = func() tool.Spec { return tool.Spec{Name: "order", Schema: json.RawMessage(orderSchema)} }
	d := newFixture(t, yes, order)
	args := `{"to": 5, "items": 7, "speed": "warp", "count": 0, "b": 1, "a": 2, "from": {}}`
	for range 50 {
		wantArgumentError(t, d.call("order", args), "a", `argument "a" of order: it is not taken; there is count, from, items, speed, to`)
	}
}

func TestArgumentsThatGoCannotHold(t *testing.T) {
	type counted struct {
		N int8 `json:"n"`
	}
	d := newFixture(t, yes, tool.Func("f", "", func(_ context.Context, in counted) (int8, error) { return in.N, nil }))
	wantArgumentError(t, d.call("f", `{"n": 300}`), "n", `argument "n" of f: maximum: 300 is greater than 127`)
	wantArgumentError(t, d.call("f", `{"n": 1.0}`), "n", `argument "n" of f: number 1.0 does not fit int8`)
	wantText(t, d.call("f", `{"n": -128}`), "-128")
}

// A decoder that does not mind case could show one thing and do another.
func TestNamesInAnotherCaseAreRefused(t *testing.T) {
	type path struct {
		Path string `json:"path"`
	}
	loose := func() *probe { return frees("write") }
	shown := func(p path) string { return p.Path }
	tests := map[string]struct {
		tool        tool.Tool
		args, field string
	}{
		"Func":                  {tool.Func("write", "", func(context.Context, path) (any, error) { return nil, nil }), `{"path": "a", "Path": "b"}`, "path"},
		"Func, alone":           {tool.Func("write", "", func(context.Context, path) (any, error) { return nil, nil }), `{"Path": "b"}`, "path"},
		"no schema":             {loose(), `{"path": "a", "Path": "b"}`, "path"},
		"no schema, other sign": {loose(), `{"mark": "a", "mar` + "\u212a" + `": "b"}`, "mar\u212a"},
		"RequireApproval":       {tool.RequireApproval(loose(), tool.Approval[path]{Target: shown}), `{"Path": "b"}`, "Path"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t, yes, test.tool)
			r := d.call("write", test.args)
			var fault *tool.ArgumentError
			if !errors.As(r.Err, &fault) || fault.Field != test.field {
				t.Errorf("error %v, want one about %q", r.Err, test.field)
			}
			d.wantAsked(0)
			if p, ok := test.tool.(*probe); ok {
				p.wantRan(t)
			}
		})
	}
}

// Data that an argument carries may have any keys.
func TestKeysOfDataMayDifferInCase(t *testing.T) {
	type put struct {
		Data map[string]any `json:"data"`
	}
	d := newFixture(t, yes, tool.Func("put", "", func(_ context.Context, in put) (int, error) { return len(in.Data), nil }))
	wantText(t, d.call("put", `{"data": {"a": 1, "A": 2}}`), "2")
}
