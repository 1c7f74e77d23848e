package terminal

import (
	"strings"
	"testing"
)

func TestProse(t *testing.T) {
	const said = "one two three four five six seven\n\nlast\x1b[2J\tline"
	want := "agent: one two three\n       four five six\n       seven\n\n       last\\x1b[2J  line"
	if got := Prose("agent: "+said, 24, "       "); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := Prose(strings.Repeat("word ", 100), 0, ""); strings.Contains(got, "\n") {
		t.Errorf("a line without end is broken: %q", got)
	}
}
