package present

import (
	"cmp"
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
			lines = append(lines, makeLine(LineContext, b.x[i], i+1, j+1))
		}
	}
	for _, c := range changes {
		same(c.x0)
		for ; i < c.x1; i++ {
			lines = append(lines, makeLine(LineRemoved, b.x[i], i+1, 0))
		}
		for ; j < c.y1; j++ {
			lines = append(lines, makeLine(LineAdded, b.y[j], 0, j+1))
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

// maxSlide is how many lines up and down a change is tried.
const maxSlide = 100

// slideAll moves each change that only adds or only removes to where it reads
// best: when the same line stands before it and at its end, it could as well
// begin one line earlier. Changes that come to touch each other become one.
func slideAll(x, y []string, changes []change) []change {
	out := changes[:0]
	var last change // the end of what is settled
	for i, c := range changes {
		next := len(x)
		if i+1 < len(changes) {
			next = changes[i+1].x0
		}
		up, down := min(c.x0-last.x1, maxSlide), min(next-c.x1, maxSlide)
		switch {
		case c.x0 == c.x1:
			c = c.shift(slide(y, c.y0, c.y1, up, down))
		case c.y0 == c.y1:
			c = c.shift(slide(x, c.x0, c.x1, up, down))
		}
		if n := len(out); n > 0 && out[n-1].x1 == c.x0 {
			out[n-1].x1, out[n-1].y1 = c.x1, c.y1
		} else {
			out = append(out, c)
		}
		last = c
	}
	return out
}

func (c change) shift(n int) change {
	return change{c.x0 + n, c.x1 + n, c.y0 + n, c.y1 + n}
}

// slide returns how far to move the group of lines from up to to.
func slide(lines []string, from, to, up, down int) int {
	first, last := 0, 0
	for first > -up && lines[from+first-1] == lines[to+first-1] {
		first--
	}
	for last < down && lines[from+last] == lines[to+last] {
		last++
	}
	best := last
	for n := last - 1; n >= first; n-- {
		if betterStart(lines[from+n], lines[from+best]) {
			best = n
		}
	}
	return best
}

// betterStart reports whether a group reads better when it starts with line a
// instead of b: with text, not the end of something, and little indented.
func betterStart(a, b string) bool {
	return cmp.Or(
		cmp.Compare(startRank(a), startRank(b)),
		cmp.Compare(indent(a), indent(b))) < 0
}

func startRank(line string) int {
	switch text := strings.TrimSpace(line); {
	case text == "":
		return 1
	case strings.ContainsRune(")]}", rune(text[0])), text == "end":
		return 1
	}
	return 0
}

// indent returns the width of the white space that line starts with.
func indent(line string) int {
	width := 0
	for _, b := range []byte(line) {
		switch b {
		case ' ':
			width++
		case '\t':
			width += 8 - width%8
		default:
			return width
		}
	}
	return width
}
