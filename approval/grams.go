package approval

import "math/bits"

// A gramIndex finds, among many patterns, the few that can match a text. A
// pattern is filed under one short piece of plain text, a gram, that must stand
// in everything it matches; of a pattern's grams the one that fewest patterns
// share is taken. A text is looked up by its own grams.
type gramIndex struct {
	byGram map[gram][]int32
	filter gramFilter
	sizes  [maxGram + 1]bool // which gram lengths are in use
	loose  []int32           // patterns without plain text: always candidates
}

const maxGram = 4

// A gram is up to four bytes of text and, above them, their number.
type gram uint64

func newGram(bytes gram, size int) gram { return bytes | gram(size)<<(8*maxGram) }

// A gramFilter tells quickly that a gram is not in an index. It has a few bits
// for each gram, so that nearly all the others are turned away.
type gramFilter struct {
	words []uint64
	shift uint
}

func newGramFilter(grams int) gramFilter {
	width := max(bits.Len(uint(grams*8)), 6)
	return gramFilter{words: make([]uint64, 1<<(width-6)), shift: uint(64 - width)}
}

func (f gramFilter) at(g gram) (word int, bit uint64) {
	h := uint64(g) * 0x9e3779b97f4a7c15 >> f.shift
	return int(h >> 6), 1 << (h & 63)
}

func (f gramFilter) add(g gram) {
	word, bit := f.at(g)
	f.words[word] |= bit
}

func (f gramFilter) mayHave(g gram) bool {
	word, bit := f.at(g)
	return f.words[word]&bit != 0
}

// gramEntry is a pattern on its way into an index.
type gramEntry struct {
	id    int32
	texts []string
}

func newGramIndex(entries []gramEntry) gramIndex {
	x := gramIndex{byGram: make(map[gram][]int32, len(entries)), filter: newGramFilter(len(entries))}
	shared := make(map[gram]int)
	for _, e := range entries {
		e.each(func(g gram, _ int) { shared[g]++ })
	}
	for _, e := range entries {
		var best gram
		var bestSize int
		e.each(func(g gram, size int) {
			if bestSize == 0 || shared[g] < shared[best] {
				best, bestSize = g, size
			}
		})
		if bestSize == 0 {
			x.loose = append(x.loose, e.id)
			continue
		}
		x.byGram[best] = append(x.byGram[best], e.id)
		x.filter.add(best)
		x.sizes[bestSize] = true
	}
	return x
}

// each visits the grams of the entry's texts: the longest that each text has.
func (e gramEntry) each(visit func(g gram, size int)) {
	for _, text := range e.texts {
		size := min(len(text), maxGram)
		grams(text, size, func(g gram) { visit(g, size) })
	}
}

// grams visits the grams of one size in the text, sliding over it.
func grams(text string, size int, visit func(gram)) {
	if size == 0 {
		return
	}
	mask := gram(1)<<(8*size) - 1
	var window gram
	for i := range len(text) {
		window = (window<<8 | gram(text[i])) & mask
		if i+1 >= size {
			visit(newGram(window, size))
		}
	}
}

// candidates visits the patterns that may match text. Some may be visited more
// than once.
func (x *gramIndex) candidates(text string, visit func(id int32)) {
	for _, id := range x.loose {
		visit(id)
	}
	for size := 1; size <= maxGram; size++ {
		if !x.sizes[size] {
			continue
		}
		grams(text, size, func(g gram) {
			if !x.filter.mayHave(g) {
				return
			}
			for _, id := range x.byGram[g] {
				visit(id)
			}
		})
	}
}
