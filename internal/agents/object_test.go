package agents

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzObject wants an object read if package json reads it, with the same fields, unless
// one of them stands twice.
func FuzzObject(f *testing.F) {
	for _, text := range []string{`{"a":1}`, `{"a":1,}`, `{"a" 1}`, ` {"a":{"b":[1,2]},"c":"d"} `, `{,}`, `{}`, `{"a":1}}`, `{"a":1,"a":2}`, `{"a":1} {}`, `[1]`, `null`, ``} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readObject([]byte(text), "it")
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal([]byte(text), &want)
		valid := wantErr == nil && want != nil && utf8.ValidString(text)
		switch {
		case err == nil && (!valid || len(got) != len(want)):
			t.Fatalf("%q is read as %v; package json reads %v, %v", text, got, want, wantErr)
		case err != nil && valid && !strings.Contains(err.Error(), "twice"):
			t.Fatalf("%q: %v", text, err)
		}
		for name := range got {
			if string(got[name]) != string(want[name]) {
				t.Fatalf("%q: %q is %s, package json reads %s", text, name, got[name], want[name])
			}
		}
	})
}
