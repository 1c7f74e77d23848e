package present_test

import (
	"fmt"
	"testing"

	"github.com/assent-dev/assent/present"
)

func TestHexDumpFitsIntoABox(t *testing.T) {
	const columns, borders = 80, 4
	row := present.HexDump([]byte("0123456789abcdef"))
	if len(row) != columns-borders+1 {
		t.Errorf("a row has %d cells, want %d: %q", len(row)-1, columns-borders, row)
	}
}

func ExampleHexDump() {
	fmt.Print(present.HexDump([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR!")))
	// Output:
	// 000000  89 50 4e 47 0d 0a 1a 0a  00 00 00 0d 49 48 44 52  |.PNG........IHDR|
	// 000010  21                                                |!|
}
