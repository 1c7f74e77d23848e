package canonical

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzCanonicalArguments(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"b":[1,{"d":"\u00e9","c":null}],"a":1e5}`, `{"a":1,"\u0061":2}`, `{"a":"\ud83d\ude00\ud800"}`,
		"{\"a\":\"\xff\"}", `{"a":-0.0E-1}`, `[{}]`, ` { "x" : [ ] } `, `{"":{"":{"":[[]]}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Arguments(bytes.Clone(data))
		if err != nil || len(data) == 0 {
			return
		}
		want, err := decode(data)
		if err != nil || !json.Valid(data) {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		value, err := decode(got)
		if err != nil {
			t.Fatalf("%s is no JSON: %v", got, err)
		}
		if diff := cmp.Diff(want, value); diff != "" {
			t.Fatalf("another value (-sent +canonical):\n%s", diff)
		}
		for name, same := range map[string][]byte{
			"itself": got, "indented": indent(t, data), "sorted by encoding/json": marshal(t, want),
		} {
			again, err := Arguments(same)
			if err != nil || !bytes.Equal(again, got) {
				t.Fatalf("%s becomes %s, %v; want %s", name, again, err, got)
			}
		}
	})
}

func indent(t *testing.T, data []byte) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, data, " ", "\t"); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func marshal(t *testing.T, v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
