package present

import (
	"unicode"
	"unicode/utf8"

	"znkr.io/diff"
)

// maxMarkedLine is how many bytes of a line are looked at for words. In a longer
// line marks cost much and help little.
const maxMarkedLine = 2000

// A word is the smallest part of a line that is marked: a run of letters and
// digits, or any other character alone. A byte that is not UTF-8 is one too.
type word string

// splitWords cuts a line into words. Joined they are the line again.
func splitWords(line string) []word {
	var words []word
	for line != "" {
		n := wordEnd(line)
		words = append(words, word(line[:n]))
		line = line[n:]
	}
	return words
}

// wordEnd returns the length of the first word of line.
func wordEnd(line string) int {
	end := 0
	for end < len(line) {
		r, size := utf8.DecodeRuneInString(line[end:])
		if !joins(r, size) {
			break
		}
		end += size
	}
	if end == 0 {
		_, end = utf8.DecodeRuneInString(line)
	}
	return end
}

// joins reports whether r is part of a longer word.
func joins(r rune, size int) bool {
	if r < utf8.RuneSelf {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if r == utf8.RuneError && size == 1 || unicode.In(r, unspaced...) {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// unspaced are scripts that put no space between words: there each character
// counts as one.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// weight is how much a word counts when lines are compared: white space is
// nothing to go by.
func (w word) weight() int {
	switch w {
	case " ", "\t", "\r", "\v", "\f":
		return 0
	}
	return len(w)
}

// wordsWeight returns the weight of all words together.
func wordsWeight(words []word) int {
	sum := 0
	for _, w := range words {
		sum += w.weight()
	}
	return sum
}

// alike reports whether lines of weights a and b that have common weight in
// common are alike: two fifths of them or more.
func alike(common, a, b int) bool { return 5*common >= a+b }

// diffWords returns what differs between two lines, as marks for each. What is
// left unmarked of one is the same as what is left of the other. There are no
// marks at all if the lines are not alike.
func diffWords(a, b []word) (marksA, marksB []Mark) {
	hunks := joinHunks(a, diff.Hunks(a, b, diff.Context(0)))
	m, n := marker{words: a}, marker{words: b}
	for _, h := range hunks {
		m.mark(h.PosX, h.EndX)
		n.mark(h.PosY, h.EndY)
	}
	wa, wb := wordsWeight(a), wordsWeight(b)
	if !alike(wa-m.weight, wa, wb) {
		return nil, nil
	}
	return m.marks, n.marks
}

// joinHunks makes one of hunks that have only white space between them.
func joinHunks(a []word, hunks []diff.Hunk[word]) []diff.Hunk[word] {
	out := hunks[:0]
	for _, h := range hunks {
		if n := len(out); n > 0 && wordsWeight(a[out[n-1].EndX:h.PosX]) == 0 {
			out[n-1].EndX, out[n-1].EndY = h.EndX, h.EndY
		} else {
			out = append(out, h)
		}
	}
	return out
}

// A marker turns positions of words into marks of bytes, from left to right.
type marker struct {
	words  []word
	next   int // the word after those that are behind
	offset int // where it starts
	marks  []Mark
	weight int // of the marked words
}

// mark marks the words from first up to end.
func (m *marker) mark(first, end int) {
	m.skipTo(first)
	start := m.offset
	m.weight += wordsWeight(m.words[first:end])
	m.skipTo(end)
	if start < m.offset {
		m.marks = append(m.marks, Mark{start, m.offset})
	}
}

func (m *marker) skipTo(n int) {
	for ; m.next < n; m.next++ {
		m.offset += len(m.words[m.next])
	}
}
