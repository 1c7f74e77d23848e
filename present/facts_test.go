package present

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
)

func TestFactHoldsOneType(t *testing.T) {
	tests := map[string]struct {
		fact               Fact
		text, number, flag bool
		value, log         string
	}{
		"text":   {TextFact("a", "x\n"), true, false, false, "x\n", `"a": "x\n"`},
		"number": {NumberFact("a", -3), false, true, false, "-3", `"a": -3`},
		"flag":   {FlagFact("a", true), false, false, true, "true", `"a": true`},
		"none":   {Fact{}, false, false, false, "", `"": `},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, text := tt.fact.Text()
			_, number := tt.fact.Number()
			_, flag := tt.fact.Flag()
			if text != tt.text || number != tt.number || flag != tt.flag {
				t.Errorf("text %t, number %t, flag %t", text, number, flag)
			}
			if tt.fact.Value() != tt.value || tt.fact.String() != tt.log {
				t.Errorf("value %q, string %s", tt.fact.Value(), tt.fact)
			}
		})
	}
	one, same := TextFact("a", "1"), TextFact("a", "1")
	if TextFact("a", "") == FlagFact("a", false) || one != same {
		t.Error("facts do not compare by type and value")
	}
}

func TestFactsGet(t *testing.T) {
	fs := Facts{TextFact("cwd", "notes"), NumberFact("size", 3)}
	if f, ok := fs.Get("size"); !ok || f != fs[1] || f.Name() != "size" {
		t.Errorf("got %v, %t", f, ok)
	}
	if f, ok := fs.Get("Size"); ok || f != (Fact{}) {
		t.Errorf("a name that is not there: %v, %t", f, ok)
	}
}

func TestFactsWith(t *testing.T) {
	a, b, c := TextFact("a", "1"), NumberFact("b", 2), FlagFact("c", true)
	fs := append(make(Facts, 0, 10), a, b) // room to spare: append could write into it

	first, second := fs.With(c), fs.With(FlagFact("d", true))
	if !slices.Equal(first, Facts{a, b, c}) || second[2].Name() != "d" {
		t.Errorf("appended: %v and %v", first, second)
	}
	if got := fs.With(TextFact("a", "new")); !slices.Equal(got, Facts{TextFact("a", "new"), b}) {
		t.Errorf("replaced: %v", got)
	}
	if got := Facts(nil).With(a); !slices.Equal(got, Facts{a}) {
		t.Errorf("from nil: %v", got)
	}
	if !slices.Equal(fs, Facts{a, b}) {
		t.Errorf("receiver changed: %v", fs)
	}
}

func TestFactsJSONKeepsOrderAndType(t *testing.T) {
	tests := map[string]struct {
		json  string
		facts Facts
	}{
		"three types": {`{"old_size":12,"cwd":"notes","truncated":true}`,
			Facts{NumberFact(FactOldSize, 12), TextFact(FactCwd, "notes"), FlagFact(FactTruncated, true)}},
		"other order": {`{"truncated":false,"cwd":"12","new_size":0}`,
			Facts{FlagFact(FactTruncated, false), TextFact(FactCwd, "12"), NumberFact(FactNewSize, 0)}},
		"ends of int64": {`{"lines":9223372036854775807,"size":-9223372036854775808}`,
			Facts{NumberFact(FactLines, math.MaxInt64), NumberFact(FactSize, math.MinInt64)}},
		"quotes": {`{"a\"b":"\"\\\n"}`, Facts{TextFact(`a"b`, "\"\\\n")}},
		"none":   {`{}`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got Facts
			if err := json.Unmarshal([]byte(tt.json), &got); err != nil || !slices.Equal(got, tt.facts) {
				t.Errorf("read %v, %v", got, err)
			}
			if data, err := json.Marshal(tt.facts); err != nil || string(data) != tt.json {
				t.Errorf("wrote %s, %v", data, err)
			}
		})
	}
}

func TestFactsJSONRefuses(t *testing.T) {
	tests := map[string]struct{ json, want string }{
		"name twice":      {`{"a":1,"a":1}`, `"a": key comes twice`},
		"same by escape":  {`{"a":1,"\u0061":1}`, `"a": key comes twice`},
		"object":          {`{"a":{}}`, `"a": want a string, a whole number`},
		"array":           {`{"a":[1]}`, `"a": want a string, a whole number`},
		"null":            {`{"a":null}`, `"a": want a string, a whole number`},
		"fraction":        {`{"a":1.5}`, `"a": number 1.5 is not`},
		"whole fraction":  {`{"a":1.0}`, `"a": number 1.0 is not`},
		"exponent":        {`{"a":1e3}`, `"a": number 1e3 is not`},
		"above int64":     {`{"a":9223372036854775808}`, `"a": number 9223372036854775808 is not`},
		"below int64":     {`{"a":-9223372036854775809}`, `"a": number -9223372036854775809 is not`},
		"empty name":      {`{"":1}`, "empty name"},
		"name not plain":  {`{"a\n":1}`, "name is not plain"},
		"not an object":   {`[]`, "want a JSON object"},
		"null for all":    {`null`, "want a JSON object"},
		"missing value":   {`{"a":}`, "invalid character"},
		"key not a text":  {`{1:1}`, "invalid character"},
		"something after": {`{}{}`, "follows"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			fs := Facts{TextFact("before", "")}
			wantError(t, fs.UnmarshalJSON([]byte(tt.json)), tt.want)
			if !slices.Equal(fs, Facts{TextFact("before", "")}) {
				t.Errorf("facts changed to %v", fs)
			}
		})
	}
}
