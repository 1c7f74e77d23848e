package present_test

import (
	"fmt"

	"github.com/assent-dev/assent/present"
)

func ExampleDiffView() {
	view := present.DiffView(
		present.Side{Name: "notes/a.md", Text: "# Plan\nMeet at noon.\n"},
		present.Side{Name: "notes/a.md", Text: "# Plan\nMeet at one.\nBring tea.\n"},
	)
	fmt.Print(view.Safe().Content)
	// Output:
	// --- a/notes/a.md
	// +++ b/notes/a.md
	// @@ -1,2 +1,3 @@
	//  # Plan
	// -Meet at noon.
	// +Meet at one.
	// +Bring tea.
}

func ExampleParseDiff() {
	d, err := present.ParseDiff("--- a/f\n+++ b/f\n@@ -8 +8 @@\n-Meet at noon.\n+Meet at one.\n")
	if err != nil {
		panic(err)
	}
	fmt.Println("Edit f (" + d.Stats().String() + ")")
	for _, l := range d.Hunks[0].Lines {
		for _, m := range l.Marks {
			fmt.Println(l.Old, l.New, present.SafeLine(l.Text[m.Start:m.End]))
		}
	}
	// Output:
	// Edit f (+1 −1 lines)
	// 8 0 noon
	// 0 8 one
}
