package analysis

import "testing"

// FuzzRead: no text makes the analysis panic or run out of bounds, and the canonical form of
// a canonical text is itself.
func FuzzRead(f *testing.F) {
	for _, text := range append(append([]string{"()0"}, spellings...), hidden...) {
		f.Add(text)
	}
	world := project()
	f.Fuzz(func(t *testing.T, text string) {
		script, err := read(text, "/w", world, (*walker).script)
		if err != nil {
			return
		}
		again, err := read(script.Text.String(), "/w", world, (*walker).script)
		if err != nil {
			t.Fatalf("the canonical text %q is refused: %v", script.Text, err)
		}
		if again.Text.String() != script.Text.String() {
			t.Fatalf("canonical %q becomes %q", script.Text, again.Text)
		}
		checkParts(t, script)
	})
}

// checkParts: every part is whole, and stands behind what causes it.
func checkParts(t *testing.T, script *Script) {
	if len(script.Parts) > maxParts+1 {
		t.Fatalf("%q has %d parts", script.Text, len(script.Parts))
	}
	for i, p := range script.Parts {
		switch {
		case p.Kind == 0:
			t.Fatalf("part %d of %q has no kind", i, script.Text)
		case p.Cause > i || p.Cause < 0:
			t.Fatalf("part %d of %q has cause %d", i, script.Text, p.Cause)
		case p.Kind == Runs && len(p.Words) == 0:
			t.Fatalf("part %d of %q runs no words", i, script.Text)
		}
	}
}
