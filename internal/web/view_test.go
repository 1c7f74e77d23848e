package web

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/present"
)

func TestFactsCountInWords(t *testing.T) {
	got := strings.Join(factTexts(present.Facts{present.NumberFact(present.FactAdded, 1),
		present.NumberFact(present.FactRemoved, 2), present.NumberFact(present.FactSize, 1)}), ", ")
	if got != "1 line added, 2 lines removed, 1 byte" {
		t.Error(got)
	}
}
