package canonical

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/assent-dev/assent/internal/rounds"
)

func TestCanonicalArgumentsHasOneSpelling(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"none", ``, `{}`},
		{"white space", " {\t\"a\" :\r\n[ 1 , 2 ] } \n", `{"a":[1,2]}`},
		{"key order", `{"b":1,"a":2}`, `{"a":2,"b":1}`},
		{"nested key order", `{"x":[{"b":{"d":1,"c":2},"a":3}],"w":{}}`, `{"w":{},"x":[{"a":3,"b":{"c":2,"d":1}}]}`},
		{"keys by bytes, not by length", `{"b":1,"aa":2,"":3,"é":4,"z":5}`, `{"":3,"aa":2,"b":1,"z":5,"é":4}`},
		{"escapes", `{"\u0061":"\u00e9\/\u000a\ud83d\ude00"}`, `{"a":"é/\n😀"}`},
		{"escapes that stay", `{"a":"\"\\\b\f\n\r\t\u0001\u001F\u007f"}`, "{\"a\":\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\"}"},
		{"escaped key sorts as what it means", `{"\u0062":1,"a":2}`, `{"a":2,"b":1}`},
		{"number text", `{"a":[9007199254740993,1,1.0,1e0,1E+0,-0,0.10]}`, `{"a":[9007199254740993,1,1.0,1e0,1E+0,-0,0.10]}`},
		{"literals", `{"a":[true,false,null,"true",{},[],[[]]]}`, `{"a":[true,false,null,"true",{},[],[[]]]}`},
		{"empty containers with space", `{"a":[ ],"b":{ } }`, `{"a":[],"b":{}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Arguments([]byte(c.in))
			if err != nil || string(got) != c.want {
				t.Fatalf("CanonicalArguments(%s) = %s, %v; want %s", c.in, got, err, c.want)
			}
			again, err := Arguments(got)
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("the canonical form changes to %s, %v", again, err)
			}
		})
	}
}

func TestCanonicalArgumentsKeepsDifferentValuesApart(t *testing.T) {
	seen := map[string]string{}
	for _, v := range []string{`9007199254740993`, `9007199254740992`, `1`, `1.0`, `1e0`, `10e-1`, `true`, `"1"`, `"true"`, `null`, `"null"`, `0`, `-0`, `""`, `[]`, `{}`, `[1]`} {
		got, err := Arguments([]byte(`{"a":` + v + `}`))
		if err != nil {
			t.Fatalf("%s: %v", v, err)
		}
		if other, ok := seen[string(got)]; ok {
			t.Errorf("%s and %s are both %s", v, other, got)
		}
		seen[string(got)] = v
	}
}

func TestCanonicalArgumentsRefuses(t *testing.T) {
	nested := func(n int) string { return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}` }
	for _, c := range []struct {
		name, in string
		want     error
		offset   int
	}{
		{"duplicate key", `{"a":1,"b":2,"a":1}`, ErrDuplicateKey, 13},
		{"duplicate through an escape", `{"a":1,"\u0061":2}`, ErrDuplicateKey, 7},
		{"duplicate inside", `{"x":[{"a":{},"a":{}}]}`, ErrDuplicateKey, 14},
		{"duplicate empty key", `{"":1,"":2}`, ErrDuplicateKey, 6},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", ErrInvalidUTF8, 6},
		{"invalid UTF-8 in a key", "{\"\xc3\":1}", ErrInvalidUTF8, 2},
		{"overlong UTF-8", "{\"a\":\"\xc0\xaf\"}", ErrInvalidUTF8, 6},
		{"surrogate as UTF-8", "{\"a\":\"\xed\xa0\x80\"}", ErrInvalidUTF8, 6},
		{"lone high surrogate", `{"a":"\ud800"}`, ErrInvalidUTF8, 7},
		{"lone low surrogate", `{"a":"\udc00"}`, ErrInvalidUTF8, 7},
		{"high surrogate twice", `{"a":"\ud800\ud800"}`, ErrInvalidUTF8, 7},
		{"array", `[1]`, ErrNotAnObject, 0},
		{"null", ` null`, ErrNotAnObject, 1},
		{"text", `"a"`, ErrNotAnObject, 0},
		{"only white space", ` `, ErrMalformedJSON, 1},
		{"unclosed", `{"a":1`, ErrMalformedJSON, 6},
		{"text after the end", `{} {}`, ErrMalformedJSON, 3},
		{"trailing comma", `{"a":1,}`, ErrMalformedJSON, 7},
		{"trailing comma in an array", `{"a":[1,]}`, ErrMalformedJSON, 8},
		{"leading zero", `{"a":01}`, ErrMalformedJSON, 6},
		{"plus", `{"a":+1}`, ErrMalformedJSON, 5},
		{"no fraction", `{"a":1.}`, ErrMalformedJSON, 7},
		{"NaN", `{"a":NaN}`, ErrMalformedJSON, 5},
		{"single quotes", `{'a':1}`, ErrMalformedJSON, 1},
		{"line break in a text", "{\"a\":\"\n\"}", ErrMalformedJSON, 6},
		{"unknown escape", `{"a":"\x41"}`, ErrMalformedJSON, 7},
		{"short escape", `{"a":"\u00"}`, ErrMalformedJSON, 7},
		{"escape at the end", `{"a":"\`, ErrMalformedJSON, 7},
		{"byte order mark", "\ufeff{}", ErrMalformedJSON, 0},
		{"zero byte", "{}\x00", ErrMalformedJSON, 2},
		{"1001 levels", nested(1001), ErrTooDeep, 1004},
		{"10,000 levels", nested(10_000), ErrTooDeep, 1004},
		{"10,000 objects", strings.Repeat(`{"a":`, 10_000), ErrTooDeep, 5000},
		{"one byte too many", `{"a":"` + strings.Repeat("x", MaxBytes-7) + `"}`, ErrTooLarge, MaxBytes},
		{"32 MB", strings.Repeat(" ", 32<<20), ErrTooLarge, MaxBytes},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Arguments([]byte(c.in))
			var fault *Error
			if got != nil || !errors.Is(err, c.want) || !errors.As(err, &fault) || fault.Offset != c.offset {
				t.Errorf("got %.40s, %v; want %v at byte %d", got, err, c.want, c.offset)
			}
		})
	}
}

func TestCanonicalArgumentsTakesWhatIsJustSmallEnough(t *testing.T) {
	size := rounds.N(1<<20, 15<<20)
	for name, in := range map[string]string{
		"1000 levels":            `{"a":` + strings.Repeat("[", 999) + strings.Repeat("]", 999) + `}`,
		"16 MiB":                 `{"a":"` + strings.Repeat("x", MaxBytes-8) + `"}`,
		"short escapes":          `{"a":"` + strings.Repeat(`\b`, size/2) + `"}`,
		"many objects":           `{"a":[` + strings.Repeat(`{},`, size/3) + `{"b":1,"a":2}]}`,
		"deep and out of order":  deepUnsorted(1000, size),
		"many keys in bad order": manyKeys(size / 20),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Arguments([]byte(in))
			if err != nil || len(got) > len(in) {
				t.Fatalf("got %d bytes from %d: %v", len(got), len(in), err)
			}
			again, err := Arguments(got)
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("the canonical form is not its own canonical form: %v", err)
			}
		})
	}
}

func deepUnsorted(levels, size int) string {
	return strings.Repeat(`{"b":`, levels-1) + `{"z":"` + strings.Repeat("x", size) + `","a":"\n"}` + strings.Repeat(`,"a":1}`, levels-1)
}

func manyKeys(n int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		fmt.Fprintf(&b, `"k%d":%d,`, n-i, i)
	}
	return b.String() + `"":0}`
}

// oracle writes JSON canonically in another way: through a tree.
func oracle(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var members []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			members = append(members, oracle(k)+":"+oracle(v[k]))
		}
		return "{" + strings.Join(members, ",") + "}"
	case []any:
		var items []string
		for _, x := range v {
			items = append(items, oracle(x))
		}
		return "[" + strings.Join(items, ",") + "]"
	case json.Number:
		return v.String()
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(out.String(), "\n"))
}

func decode(data []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

func genJSON(depth int) *rapid.Generator[string] {
	space := rapid.SampledFrom([]string{"", "", " ", "\n\t"})
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "é", `\u0061`, `\n`, `\b`, `\"`, `\\`, `\/`, `\ud83d\ude00`, `\u0000`, "<", "😀"}), 0, 4),
		func(parts []string) string { return `"` + strings.Join(parts, "") + `"` })
	scalar := rapid.OneOf(text, rapid.SampledFrom([]string{"1", "1.0", "-0", "1e5", "9007199254740993", "true", "false", "null"}))
	if depth == 0 {
		return scalar
	}
	wrap := func(open, end string, item *rapid.Generator[string]) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			sp := func() string { return space.Draw(t, "space") }
			items := rapid.SliceOfN(item, 0, 4).Draw(t, "items")
			return open + sp() + strings.Join(items, sp()+","+sp()) + sp() + end
		})
	}
	member := rapid.Custom(func(t *rapid.T) string {
		return text.Draw(t, "key") + space.Draw(t, "space") + ":" + space.Draw(t, "space") + genJSON(depth-1).Draw(t, "value")
	})
	return rapid.OneOf(scalar, wrap("[", "]", genJSON(depth-1)), wrap("{", "}", member))
}

func TestCanonicalArgumentsEqualsAnOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := `{"x":` + genJSON(3).Draw(t, "json") + `}`
		got, err := Arguments([]byte(in))
		if errors.Is(err, ErrDuplicateKey) {
			return
		}
		v, decodeErr := decode([]byte(in))
		if err != nil || decodeErr != nil {
			t.Fatalf("%s: %v, encoding/json says %v", in, err, decodeErr)
		}
		if want := oracle(v); string(got) != want {
			t.Fatalf("CanonicalArguments(%s)\n got %s\nwant %s", in, got, want)
		}
	})
}
