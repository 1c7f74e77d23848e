package approval

// A gramIndex finds, among many patterns, the few that can match a text. A
// pattern is filed under one short piece of plain text, a gram, that must stand
// in everything it matches; of a pattern's grams the one that fewest patterns
// share is taken. A text is looked up by its own grams.
type gramIndex struct {
	byGram map[gram][]int32
	sizes  [maxGram + 1]bool // which gram lengths are in use
	loose  []int32           // patterns without plain text: always candidates
}

const maxGram = 4

// A gram is up to four bytes of text and their number.
type gram uint64

func gramAt(s string, i, size int) gram {
	g := gram(size)
	for _, c := range []byte(s[i : i+size]) {
		g = g<<8 | gram(c)
	}
	return g
}

// gramEntry is a pattern on its way into an index.
type gramEntry struct {
	id    int32
	texts []string
}

func newGramIndex(entries []gramEntry) gramIndex {
	x := gramIndex{byGram: make(map[gram][]int32, len(entries))}
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
		x.sizes[bestSize] = true
	}
	return x
}

// each visits the grams of the entry's texts: the longest that each text has.
func (e gramEntry) each(visit func(g gram, size int)) {
	for _, text := range e.texts {
		size := min(len(text), maxGram)
		for i := 0; size > 0 && i+size <= len(text); i++ {
			visit(gramAt(text, i, size), size)
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
		for i := 0; i+size <= len(text); i++ {
			for _, id := range x.byGram[gramAt(text, i, size)] {
				visit(id)
			}
		}
	}
}
