// Command benchtable turns the output of `go test -bench -benchmem`, read from standard
// input, into one aligned table. Benchmarks whose names end in /rules=N also get the ratio
// of their time to that of /rules=10 of the same family, so growth with the number of
// rules can be read off one run. What a benchmark measures itself stands in the last column.
//
// It ends with status 1, after the table, if the input says that something failed.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}

// run writes the table to stdout, and the lines about failures to stderr.
func run(stdin io.Reader, stdout, stderr io.Writer) error {
	report, err := parse(stdin)
	if err != nil {
		return fmt.Errorf("reading the benchmarks: %w", err)
	}
	if _, err := io.WriteString(stdout, table(report.results)); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	if !report.failed {
		return nil
	}
	for _, line := range report.other {
		fmt.Fprintln(stderr, line)
	}
	return fmt.Errorf("go test failed; what it said stands above")
}
