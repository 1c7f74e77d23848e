package connector

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestOnlyUsualCallsAreTakenAsTheyCame(t *testing.T) {
	cases := map[string]bool{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":[1,"}"]}}}`:                     true,
		` { "id" : "x" , "params" : { "arguments" : {"a":[1,"}"]} , "name" : "echo" } , "method":"tools/call","jsonrpc":"2.0"}`: true,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":[1,"}"]},"task":{}}}`:           true,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"other"}}`:                                false,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","argument\u0073":{}}}`:                           false,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ech\u006f"}}`:                                          false,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`:                                                    false,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":5}}`:                                     false,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`:                                                            false,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:                                                                        false,
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"echo"}}`:                                        false,
		`{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"echo"}}`:                                             false,
		`{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"echo"}}`:                                            false,
		`{"jsonrpc":"2.0","id":"\u0031","method":"tools/call","params":{"name":"echo"}}`:                                        false,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}`:                                                      false,
		`{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"echo"}}`:                                               false,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"name":"echo"}}`:                                               false,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"extra":1}`:                                     false,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}`:                                                false,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"}}":                               false,
	}
	for line, want := range cases {
		e, usual := openEnvelope([]byte(line))
		var call ToolCall
		if usual {
			call, usual = e.toolCall()
		}
		if usual != want {
			t.Errorf("%s: usual is %v", line, usual)
		}
		if want && (call.Name != "echo" || string(call.Arguments) != `{"a":[1,"}"]}`) {
			t.Errorf("%s: read as %+v", line, call)
		}
	}
}

// FuzzMembers compares the members of an object with what a real decoder finds.
func FuzzMembers(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `null`, ` { "a" : 1 , "b":[{"c":"]"}] } `, `{"a":"\\\"","b":-1.5e3,"c":true,"d":{},"e":""}`, `{"a":{"b":[1,2,{"c":null}]},"":0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want map[string]json.RawMessage
		if !json.Valid(data) || json.Unmarshal(data, &want) != nil {
			return
		}
		got := map[string][]byte{}
		for name, value := range members(data) {
			var text string
			if err := json.Unmarshal([]byte(`"`+string(name)+`"`), &text); err != nil {
				t.Fatalf("%q is no name: %v", name, err)
			}
			got[text] = value
		}
		if len(got) != len(want) {
			t.Fatalf("%s has the members %q, want %q", data, got, want)
		}
		for name, value := range want {
			if !bytes.Equal(got[name], value) {
				t.Errorf("%s: %q is %s, want %s", data, name, got[name], value)
			}
		}
	})
}

// A server cannot hide what its result is from us, and show it to the client.
func TestAResultIsReadAsAnyClientMay(t *testing.T) {
	for _, raw := range []string{
		`{"resultType":"later"}`, `{"result\u0054ype":"later"}`, `{"ResultType":"later"}`, `{"resultType":"complete","resultType":"later"}`,
	} {
		if _, err := readResult([]byte(raw)); err == nil {
			t.Errorf("%s is taken for a result", raw)
		}
	}
	for _, raw := range []string{`{"isError":true}`, `{"is\u0045rror":true}`, `{"iserror":true}`, `{"content":[],"isError" : true}`} {
		if failed, err := readResult([]byte(raw)); err != nil || !failed {
			t.Errorf("%s has not failed: %v", raw, err)
		}
	}
}
