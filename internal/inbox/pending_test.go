package inbox_test

import (
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
