package config

import (
	"testing"

	"github.com/assent-dev/assent/tool"
)

// What editors are told to take is taken.
func TestSpelledWordsAreRead(t *testing.T) {
	for _, text := range consentWords {
		if _, err := tool.ParseWord(text); err != nil {
			t.Error(err)
		}
	}
}
