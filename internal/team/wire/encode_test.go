package wire

import (
	"encoding/json"
	"testing"

	"github.com/assent-dev/assent/approval"
)

// Arguments come through byte for byte, with all that JSON for web pages spells otherwise.
func TestEncodeKeepsArguments(t *testing.T) {
	want := `{"text":"<a href='x'>&\u2028` + "\u2028\u2029" + `"}`
	data, err := Encode(News{Answers: []Answer{{Decision: &approval.Decision{Arguments: []byte(want)}}}})
	if err != nil {
		t.Fatal(err)
	}
	var got News
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if text := string(got.Answers[0].Decision.Arguments); text != want {
		t.Errorf("%q became %q", want, text)
	}
}
