package present

import (
	"encoding/hex"
	"strings"
)

// HexDump lays data out as hex.Dump does, with an offset of six digits: then a row of 16
// bytes fits into a box on a screen of 80 columns. The data must be shorter than 16 MiB.
func HexDump(data []byte) string {
	var b strings.Builder
	for row := range strings.Lines(hex.Dump(data)) {
		b.WriteString(strings.TrimPrefix(row, "00"))
	}
	return b.String()
}
