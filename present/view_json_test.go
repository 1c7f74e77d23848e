package present

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestViewJSONForm(t *testing.T) {
	tests := map[string]struct {
		view View
		json string
	}{
		"bare":          {View{Kind: KindText}, `{"type":"text","content":""}`},
		"language":      {View{Kind: KindFile, Content: "a\n", Language: "go"}, `{"type":"file_content","content":"a\n","language":"go"}`},
		"empty facts":   {View{Kind: KindDiff, Content: "+a", Facts: Facts{}}, `{"type":"diff","content":"+a"}`},
		"facts":         {View{Kind: KindCommand, Content: "ls", Facts: Facts{TextFact("cwd", "notes")}}, `{"type":"command","content":"ls","metadata":{"cwd":"notes"}}`},
		"original":      {View{Kind: KindCommand, Content: "a && b", Original: "a;\n b"}, `{"type":"command","content":"a \u0026\u0026 b","original":"a;\n b"}`},
		"not UTF-8":     {View{Kind: KindStructured, Content: "\xff\x00"}, `{"type":"structured","content_base64":"/wA="}`},
		"replacement":   {View{Kind: KindText, Content: "\uFFFD"}, `{"type":"text","content":"` + "\uFFFD" + `"}`},
		"control bytes": {View{Kind: KindText, Content: "\x00\x1b"}, `{"type":"text","content":"\u0000\u001b"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(tt.view)
			if err != nil {
				t.Fatal(err)
			}
			if string(data) != tt.json {
				t.Errorf("got  %s\nwant %s", data, tt.json)
			}
			var back View
			if err := json.Unmarshal(data, &back); err != nil || !back.Equal(tt.view) {
				t.Errorf("read back %+v, %v", back, err)
			}
		})
	}
}

func TestViewJSONAcceptsSpaceAndOrder(t *testing.T) {
	const in = " {\n\"metadata\" : { \"size\" : 3 } , \"content\"\t: \"abc\", \"type\": \"text\" } \n"
	var got View
	if err := got.UnmarshalJSON([]byte(in)); err != nil {
		t.Fatal(err)
	}
	want := View{Kind: KindText, Content: "abc", Facts: Facts{NumberFact(FactSize, 3)}}
	if !got.Equal(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestViewJSONRefuses(t *testing.T) {
	tests := map[string]struct{ json, want string }{
		"unknown type":    {`{"type":"html","content":""}`, `unknown type "html"`},
		"type by case":    {`{"type":"TEXT","content":""}`, `unknown type "TEXT"`},
		"missing type":    {`{"content":""}`, `"type" is missing`},
		"null type":       {`{"type":null,"content":""}`, `"type": want a string`},
		"missing content": {`{"type":"text"}`, `"content" is missing`},
		"null content":    {`{"type":"text","content":null}`, `"content": want a string`},
		"number content":  {`{"type":"text","content":1}`, `"content": want a string`},
		"both contents":   {`{"type":"text","content":"a","content_base64":"YQ=="}`, "both"},
		"both, empty":     {`{"type":"text","content_base64":"","content":""}`, "both"},
		"bad base64":      {`{"type":"text","content_base64":"/x"}`, `"content_base64": illegal base64`},
		"loose base64":    {`{"type":"text","content_base64":"/x=="}`, `"content_base64": illegal base64`},
		"unknown key":     {`{"type":"text","content":"","title":"x"}`, `"title": unknown key`},
		"key by case":     {`{"type":"text","Content":""}`, `"Content": unknown key`},
		"key twice":       {`{"type":"text","content":"a","content":"b"}`, `"content": key comes twice`},
		"null original":   {`{"type":"text","content":"","original":null}`, `"original": want a string`},
		"null language":   {`{"type":"text","content":"","language":null}`, `"language": want a string`},
		"null metadata":   {`{"type":"text","content":"","metadata":null}`, `"metadata": want a JSON object`},
		"bad metadata":    {`{"type":"text","content":"","metadata":{"a":[]}}`, `"metadata": "a": want`},
		"null":            {`null`, "want a JSON object"},
		"array":           {`[]`, "want a JSON object"},
		"not UTF-8":       {"{\"type\":\"text\",\"content\":\"\xff\"}", "not valid UTF-8"},
		"cut off":         {`{"type":"text","content":""`, "EOF"},
		"comma":           {`{"type":"text","content":"",}`, "invalid character"},
		"trailing":        {`{"type":"text","content":""} {}`, "follows"},
		"empty":           {``, "EOF"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := View{Kind: KindDiff, Content: "before"}
			v := before
			wantError(t, v.UnmarshalJSON([]byte(tt.json)), tt.want)
			if !v.Equal(before) {
				t.Errorf("view changed to %+v", v)
			}
		})
	}
}

func TestZeroViewIsOmitted(t *testing.T) {
	data, err := json.Marshal(struct {
		View View `json:"view,omitzero"`
	}{})
	if err != nil || string(data) != "{}" {
		t.Errorf("got %s, %v", data, err)
	}
}

func TestViewJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := anyView(t)
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var back View
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		if !back.Equal(v) {
			t.Fatalf("wrote %+v\n  read %+v", v, back)
		}
	})
}

// anyView draws a valid view: half of the contents are arbitrary bytes.
func anyView(t *rapid.T) View {
	content := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()),
		func(b []byte) string { return string(b) }))
	return View{
		Kind:     rapid.SampledFrom([]Kind{KindText, KindDiff, KindFile, KindCommand, KindStructured}).Draw(t, "kind"),
		Content:  content.Draw(t, "content"),
		Language: rapid.String().Draw(t, "language"),
		Facts:    anyFacts(t),
		Original: rapid.String().Draw(t, "original"),
	}
}

func anyFacts(t *rapid.T) (fs Facts) {
	plain := rapid.String().Filter(func(s string) bool { return s != "" && SafeLine(s) == s })
	for _, name := range rapid.SliceOfDistinct(plain, rapid.ID[string]).Draw(t, "names") {
		fs = append(fs, rapid.OneOf(
			rapid.Map(rapid.String(), func(s string) Fact { return TextFact(name, s) }),
			rapid.Map(rapid.Int64(), func(n int64) Fact { return NumberFact(name, n) }),
			rapid.Map(rapid.Bool(), func(b bool) Fact { return FlagFact(name, b) }),
		).Draw(t, "fact"))
	}
	return fs
}
