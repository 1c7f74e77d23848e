package inbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/inbox"
)

// A letter may be the beginning of a question that nobody has seen yet.
func TestSomeOfAnIDIsEnoughAndALetterIsNot(t *testing.T) {
	id := "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	waiting := inbox.Waiting{Requests: []*approval.Request{{ID: id}}}
	for given, want := range map[string]bool{id: true, "abcdef": true, "ABCDE": false, "A": false, "": false, "BCDEFG": false} {
		if r, err := waiting.Find(given); (err == nil && r.ID == id) != want {
			t.Errorf("%q: %v, want %v", given, err, want)
		}
	}
}

// What an agent writes into a file can look like a request of its own, which it must not when several are shown.
func TestNoLineOfTheContentLooksLikeAnotherRequest(t *testing.T) {
	const fake = "ZZZZZZZZZZZZZZZZZZZZZZZZZZ  read_file · Read README.md"
	view := map[string]any{"type": "text", "content": "# Notes\n\n" + fake + "\nagent: claude-code\n\nrm -rf ~\n"}
	text, err := json.Marshal(map[string]any{"id": "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "summary": "Create a.md", "view": view})
	if err != nil {
		t.Fatal(err)
	}
	var r approval.Request
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := inbox.Show(t.Context(), &out, &r); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "\n  "+fake+"\n") || strings.Contains(got, "\n"+fake) ||
		strings.Count(got, "\nagent: ") > 0 || !strings.HasSuffix(got, "\n  rm -rf ~\n") {
		t.Errorf("shown as\n%s", got)
	}
}
