package present

import (
	"strings"
	"testing"
)

func FuzzViewJSON(f *testing.F) {
	f.Add([]byte(`{"type":"text","content":"a"}`))
	f.Add([]byte(`{"type":"diff","content_base64":"/wA=","language":"go"}`))
	f.Add([]byte(`{"type":"command","content":"ls","metadata":{"cwd":"notes","size":-1,"truncated":true}}`))
	f.Add([]byte(`{"type":"text","content":"\ud800\u0000","metadata":{"a":"\uFFFD"}} `))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v, back View
		if v.UnmarshalJSON(data) != nil {
			return
		}
		again, err := v.MarshalJSON()
		if err != nil {
			t.Fatalf("%s decodes, but: %v", data, err)
		}
		if err := back.UnmarshalJSON(again); err != nil || !back.Equal(v) {
			t.Fatalf("%s\ndecodes to %+v\n    then to %+v, %v", data, v, back, err)
		}
	})
}

func FuzzCut(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, 1, 3)
	}
	f.Fuzz(func(t *testing.T, s string, lines, chars int) {
		cut := View{Kind: KindText, Content: s}.Cut(Limit{Lines: lines, Chars: chars})
		shown := cut.View.Content
		rest, ok := strings.CutPrefix(s, shown)
		if !ok {
			t.Fatalf("%q is no head of %q", shown, s)
		}
		if n := len([]rune(shown)); chars > 0 && n > chars || n+cut.Chars != len([]rune(s)) {
			t.Errorf("%d characters shown, %d not, limit %d, whole %q", n, cut.Chars, chars, s)
		}
		// Every line either begins in what is shown or is counted as not shown.
		if n := len(lineList(shown)); lines > 0 && n > lines || n+cut.Lines != len(lineList(s)) {
			t.Errorf("%d lines shown, %d not, limit %d, whole %q", n, cut.Lines, lines, s)
		}
		full := chars > 0 && len([]rune(shown)) == chars || lines > 0 && strings.Count(shown, "\n") == lines
		if rest != "" && !full || (rest == "") != (cut.Note() == "") {
			t.Errorf("cut %q off %q for no reason, or silently: %q", rest, s, cut.Note())
		}
	})
}

// lineList returns the lines of s, each with its newline; the last may have none.
func lineList(s string) []string {
	parts := strings.SplitAfter(s, "\n")
	if parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}
