package system

import "github.com/assent-dev/assent/tool/shell/analysis"

var _ analysis.Reader = (*World)(nil)

// maxText is how much of a file may be asked for.
const maxText = 64 << 10

// Text returns what a file says; not ok if it is large, no regular file or not readable.
func (w *World) Text(path string) (text string, ok bool) {
	content, _, ok := readRegular(path, maxText)
	return string(content), ok
}
