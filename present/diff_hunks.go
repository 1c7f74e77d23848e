package present

import (
	"strings"
	"unicode/utf8"
)

// makeHunks groups changes into hunks: those that share lines of context or
// touch with them are in one.
func makeHunks(x, y []string, changes []change, context int) []Hunk {
	b := hunkBuilder{x: x, y: y, context: context}
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && (changes[n].x0-changes[n-1].x1+1)/2 <= context {
			n++
		}
		b.add(changes[:n])
		changes = changes[n:]
	}
	return b.hunks
}

type hunkBuilder struct {
	x, y    []string
	context int
	hunks   []Hunk

	section  string // the last heading above line searched of x
	searched int
}

// add adds the hunk of the changes.
func (b *hunkBuilder) add(changes []change) {
	first, last := changes[0], changes[len(changes)-1]
	before := min(b.context, first.x0)
	after := min(b.context, len(b.x)-last.x1)
	whole := change{first.x0 - before, last.x1 + after, first.y0 - before, last.y1 + after}
	b.hunks = append(b.hunks, Hunk{
		Old:     makeRange(whole.x0, whole.x1),
		New:     makeRange(whole.y0, whole.y1),
		Section: b.sectionAbove(whole.x0),
		Lines:   b.lines(whole, changes),
	})
}

// makeRange turns positions counted from 0 into a range.
func makeRange(start, end int) Range {
	if start == end {
		return Range{Start: start}
	}
	return Range{Start: start + 1, Count: end - start}
}

// first returns the position of the range counted from 0.
func (r Range) first() int {
	if r.Count == 0 {
		return r.Start
	}
	return r.Start - 1
}

// lines returns the lines of a hunk.
func (b *hunkBuilder) lines(whole change, changes []change) []Line {
	size := whole.x1 - whole.x0
	for _, c := range changes {
		size += c.y1 - c.y0
	}
	lines := make([]Line, 0, size)
	i, j := whole.x0, whole.y0
	same := func(end int) {
		for ; i < end; i, j = i+1, j+1 {
			lines = append(lines, makeLine(ContextLine, b.x[i], i+1, j+1))
		}
	}
	for _, c := range changes {
		same(c.x0)
		for ; i < c.x1; i++ {
			lines = append(lines, makeLine(RemovedLine, b.x[i], i+1, 0))
		}
		for ; j < c.y1; j++ {
			lines = append(lines, makeLine(AddedLine, b.y[j], 0, j+1))
		}
	}
	same(whole.x1)
	return lines
}

func makeLine(kind LineKind, line string, old, new int) Line {
	text, ended := strings.CutSuffix(line, "\n")
	return Line{Kind: kind, Text: text, Old: old, New: new, NoNewline: !ended}
}

// maxSection is how many bytes of a heading are shown, as git has it.
const maxSection = 80

// sectionAbove returns the nearest heading above line end of the old text.
func (b *hunkBuilder) sectionAbove(end int) string {
	for i := end - 1; i >= b.searched; i-- {
		if isHeading(b.x[i]) {
			b.section = cutSection(b.x[i])
			break
		}
	}
	b.searched = end
	return b.section
}

// isHeading reports whether line may name what follows it, by git's rule: it is
// not indented and starts like a word.
func isHeading(line string) bool {
	c := line[0]
	return c == '_' || c == '$' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// cutSection returns the head of line that is shown, with no rune cut in two.
func cutSection(line string) string {
	if len(line) > maxSection {
		end := maxSection
		for back := 0; back < utf8.UTFMax && !utf8.RuneStart(line[end]); back++ {
			end--
		}
		line = line[:end]
	}
	return strings.TrimRight(line, " \t\n\v\f\r")
}
