package present

import (
	"strconv"
	"strings"
)

// noNewline follows a line that ends a text without a newline.
const noNewline = `\ No newline at end of file` + "\n"

// lineSigns are what lines start with in unified text, by kind.
var lineSigns = [...]byte{ContextLine: ' ', RemovedLine: '-', AddedLine: '+'}

// String returns d as unified text, as git writes it and as git apply and patch
// read it: the two names, then each hunk. The zero LineDiff is "".
func (d LineDiff) String() string {
	if d.IsZero() {
		return ""
	}
	var b strings.Builder
	b.Grow(d.textSize())
	b.WriteString(oldHeader(d.Old))
	b.WriteString(newHeader(d.New))
	for _, h := range d.Hunks {
		b.WriteString(h.header())
		for _, l := range h.Lines {
			l.write(&b)
		}
	}
	return b.String()
}

// textSize returns about how long the text is, so that it is allocated once.
func (d LineDiff) textSize() int {
	size := 2 * (len(d.Old) + len(d.New) + 16)
	for _, h := range d.Hunks {
		size += 64 + len(h.Section)
		for _, l := range h.Lines {
			size += len(l.Text) + 2
		}
	}
	return size + 2*len(noNewline)
}

// header returns the line that a hunk starts with.
func (h Hunk) header() string {
	text := "@@ -" + h.Old.String() + " +" + h.New.String() + " @@"
	if h.Section != "" {
		text += " " + h.Section
	}
	return text + "\n"
}

// String returns the range as it stands in unified text.
func (r Range) String() string {
	if r.Count == 1 {
		return strconv.Itoa(r.Start)
	}
	return strconv.Itoa(r.Start) + "," + strconv.Itoa(r.Count)
}

func (l Line) write(b *strings.Builder) {
	b.WriteByte(lineSigns[l.Kind])
	b.WriteString(l.Text)
	b.WriteByte('\n')
	if l.NoNewline {
		b.WriteString(noNewline)
	}
}
