package present

import (
	"strings"
	"testing"
)

func TestViewValidate(t *testing.T) {
	for _, kind := range []Kind{KindText, KindDiff, KindFile, KindCommand, KindStructured} {
		if err := (View{Kind: kind, Content: "\xff"}).Validate(); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	tests := map[string]struct {
		view View
		want string // part of the error
	}{
		"zero view":        {View{}, `unknown type ""`},
		"unknown kind":     {View{Kind: "html"}, `unknown type "html"`},
		"kind by case":     {View{Kind: "Text"}, `unknown type "Text"`},
		"language":         {View{Kind: KindText, Language: "\xff"}, "language"},
		"original":         {View{Kind: KindCommand, Original: "\xff"}, "original"},
		"fact text":        {View{Kind: KindText, Facts: Facts{TextFact("cwd", "\xff")}}, `fact "cwd": text`},
		"fact name":        {View{Kind: KindText, Facts: Facts{TextFact("a\xff", "")}}, "name is not plain"},
		"hidden fact name": {View{Kind: KindText, Facts: Facts{TextFact("a\u200bb", "")}}, "name is not plain"},
		"empty fact name":  {View{Kind: KindText, Facts: Facts{FlagFact("", true)}}, "empty name"},
		"zero fact":        {View{Kind: KindText, Facts: Facts{{}}}, "no value"},
		"same fact twice":  {View{Kind: KindText, Facts: Facts{TextFact("a", "1"), NumberFact("a", 2)}}, "twice"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			wantError(t, tt.view.Validate(), tt.want)
			_, err := tt.view.MarshalJSON()
			wantError(t, err, tt.want)
		})
	}
}

func TestViewIsZero(t *testing.T) {
	if !(View{}).IsZero() || !(View{Facts: Facts{}}).IsZero() {
		t.Error("the zero View is not zero")
	}
	for _, v := range []View{
		{Kind: KindText}, {Content: "a"}, {Language: "go"}, {Facts: Facts{FlagFact("a", false)}}, {Original: "a"},
	} {
		if v.IsZero() {
			t.Errorf("%+v is zero", v)
		}
	}
}

func TestViewEqual(t *testing.T) {
	one := View{Kind: KindFile, Content: "a", Language: "go", Facts: Facts{NumberFact("size", 1)}}
	if !one.Equal(one) || !(View{Facts: Facts{}}).Equal(View{}) {
		t.Error("same views are not equal")
	}
	for _, other := range []View{
		{Kind: KindDiff, Content: "a", Language: "go", Facts: one.Facts},
		{Kind: KindFile, Content: "b", Language: "go", Facts: one.Facts},
		{Kind: KindFile, Content: "a", Language: "c", Facts: one.Facts},
		{Kind: KindFile, Content: "a", Language: "go", Facts: Facts{TextFact("size", "1")}},
		{Kind: KindFile, Content: "a", Language: "go", Facts: one.Facts, Original: "a"},
	} {
		if one.Equal(other) {
			t.Errorf("%+v equals %+v", one, other)
		}
	}
}

func TestViewSafe(t *testing.T) {
	facts := Facts{TextFact("cwd", "a\nb"), TextFact("x\t", "\x1b"), NumberFact("size", 7), FlagFact("truncated", true)}
	in := View{Kind: "te\u202ext", Content: "a\n\tb\x1b[2J", Language: "go\n", Facts: facts, Original: "c\n\x1b"}
	want := View{
		Kind:     `te\u{202e}xt`,
		Content:  "a\n\tb" + `\x1b[2J`,
		Language: `go\n`,
		Facts: Facts{TextFact("cwd", `a\nb`), TextFact(`x\t`, `\x1b`),
			NumberFact("size", 7), FlagFact("truncated", true)},
		Original: "c\n" + `\x1b`,
	}
	if got := in.Safe(); !got.Equal(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if facts[0] != TextFact("cwd", "a\nb") {
		t.Error("Safe changed the facts of its receiver")
	}
}

// wantError fails unless err is an error whose text contains part.
func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", part)
	}
	if !strings.Contains(err.Error(), part) {
		t.Errorf("error %q, want one with %q", err, part)
	}
}
