package analysis

import "fmt"

// A command is read before it runs: what it would start, and what that would do.
func ExampleRead() {
	script, err := Read("P=.env; cd src &&   cat ../$P > copy", "/w", project())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(script.Text)
	fmt.Println(described(script.Parts))
	// Output:
	// P=.env; cd src && cat ../$P > copy
	// run cd src
	// run cat ../.env @/w/src
	// write> /w/src/copy
	// read /w/.env
}
