package undo

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/files"
)

// Nothing in a file or a path acts on the terminal.
func TestPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "\n", "\t", "\r", "\x1b[2J", "\u202e", "\x9b31m", "\x00", "\xff", "漢"}))
		text := strings.Join(parts.Draw(t, "text"), "")
		var b strings.Builder
		showRestoration(&b, &files.Restoration{Summary: []string{text}, Views: []present.View{{Kind: present.KindDiff, Content: text}}})
		for _, r := range b.String() {
			if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%U reaches the terminal in %q", r, b.String())
			}
		}
	})
}
