package present_test

import (
	"encoding/json"
	"fmt"

	"github.com/assent-dev/assent/present"
)

// A tool builds a view; whoever asks cuts it, makes it safe and prints it.
func Example() {
	view := present.View{
		Kind:    present.KindCommand,
		Content: "echo done\x1b[1A\x1b[2K\necho one\necho two\n",
		Facts:   present.Facts{present.TextFact(present.FactCwd, "notes")},
	}

	cut := view.Cut(present.Limit{Lines: 1})
	shown := cut.View.Safe()
	for _, fact := range shown.Facts {
		fmt.Printf("%s: %s\n", fact.Name(), fact.Value())
	}
	fmt.Print(shown.Content)
	fmt.Println(cut.Note())
	// Output:
	// cwd: notes
	// truncated: true
	// full_size: 36
	// echo done\x1b[1A\x1b[2K
	// … 2 more lines (18 characters)
}

func ExampleSafe() {
	fmt.Println(present.Safe("invoice\u202efdp.exe"))
	fmt.Println(present.Safe("rm -rf ~\rls"))
	// Output:
	// invoice\u{202e}fdp.exe
	// rm -rf ~\x0dls
}

func ExampleSafeLine() {
	fmt.Println(present.SafeLine("notes/a.md\napproved by you"))
	// Output:
	// notes/a.md\napproved by you
}

// The first \x1b was typed by somebody, the second is an escape character.
func ExampleSpans() {
	for _, span := range present.Spans("\\x1b and \x1b") {
		if span.Escaped {
			fmt.Printf("<%s>", span.Text)
		} else {
			fmt.Print(span.Text)
		}
	}
	fmt.Println()
	// Output:
	// \x1b and <\x1b>
}

func ExampleView_MarshalJSON() {
	text := present.View{
		Kind:    present.KindDiff,
		Content: "-old\n+new\n",
		Facts: present.Facts{
			present.NumberFact(present.FactOldSize, 4),
			present.NumberFact(present.FactNewSize, 4),
		},
	}
	binary := present.View{Kind: present.KindFile, Content: "\xff\xfe"}
	for _, view := range []present.View{text, binary, {Kind: "html"}} {
		data, err := json.Marshal(view)
		if err != nil {
			fmt.Println("refused")
			continue
		}
		fmt.Println(string(data))
	}
	// Output:
	// {"type":"diff","content":"-old\n+new\n","metadata":{"old_size":4,"new_size":4}}
	// {"type":"file_content","content_base64":"//4="}
	// refused
}

func ExampleFacts_With() {
	facts := present.Facts{}.
		With(present.NumberFact(present.FactSize, 12)).
		With(present.TextFact(present.FactCwd, "notes")).
		With(present.NumberFact(present.FactSize, 40))
	fmt.Println(facts)
	// Output:
	// ["size": 40 "cwd": "notes"]
}
