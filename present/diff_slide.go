package present

import (
	"cmp"
	"strings"
)

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
