package approval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/assent-dev/assent/approval"
)

// readStrictly is another reader of a statement, which shares nothing with [approval.ParseStatement]: it goes from token to
// token, and takes each key as it is written, once.
func readStrictly(text string) (map[string]any, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8")
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := readValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after it")
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("it is not an object")
	}
	return object, nil
}

func readValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := readValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		object := map[string]any{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name := key.(string)
			if _, twice := object[name]; twice {
				return nil, fmt.Errorf("%q is there twice", name)
			}
			if object[name], err = readValue(d); err != nil {
				return nil, err
			}
		}
		_, err = d.Token()
		return object, err
	}
	return token, nil
}

// What was signed is read by programs that have nothing in common with ours: in a browser, by an auditor, by a later
// version. Whatever the gate takes, another reader takes too, and reads the same in it.
func FuzzStatement(f *testing.F) {
	team := newTeam()
	r := requestOf(team)
	for _, d := range []approval.Decision{r.Approve(""), r.Approve("<é\u2028>"), r.Respond("\x00\U0001F600"), r.Deny("no"),
		r.Approve("").ForSession("tool")} {
		f.Add(team.Vote(r, d, "ann").Proof.Statement)
	}
	good := team.Vote(r, r.Approve(""), "ann").Proof.Statement
	for _, s := range [][2]string{
		{`"answer":`, `"Answer":"deny","answer":`}, {`"answer":`, `"answer":"deny","\u0061nswer":`}, {`"answer"`, `"an\u017fwer"`},
		{`"stop":false`, `"stop":null`}, {`"serial":7`, `"serial":7.0`}, {`"remember":{}`, `"remember":{"Keep":"always"}`},
		{`"remember":{}`, `"remember":{"for":1e3}`}, {`"version":1`, `"version":1,"x":0`}, {`{"version"`, "\ufeff{\"version\""},
		{`"choice":""`, `"choice":"\ud800"`}, {`"nonce":"`, "\"nonce\":\"\xff"}, {`"sha256:`, `"SHA256:`},
	} {
		if !strings.Contains(good, s[0]) {
			f.Fatalf("a statement has no %s: %s", s[0], good)
		}
		f.Add(strings.Replace(good, s[0], s[1], 1))
	}
	f.Add(good + " ")
	f.Add(good + good)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := approval.ParseStatement(text)
		if err != nil {
			return
		}
		got, err := readStrictly(text)
		if err != nil {
			t.Fatalf("the gate takes what another reader does not: %v: %s", err, text)
		}
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		want, err := readStrictly(string(again))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%#v", ordered(got)) != fmt.Sprintf("%#v", ordered(want)) {
			t.Fatalf("the gate reads %s in %s", again, text)
		}
	})
}

// ordered has the members of objects in one order.
func ordered(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = ordered(v[i])
		}
		return out
	case map[string]any:
		var out []any
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, k, ordered(v[k]))
		}
		return out
	}
	return v
}
