package present

import (
	"slices"
)

const (
	// maxMarkWork bounds the steps that marking one diff takes. Lines after that
	// have no marks.
	maxMarkWork = 20_000_000
	// maxPairs bounds the pairs of lines of which the most similar are sought.
	maxPairs = 4096
)

// markWords marks what differs in lines that were changed a little. It depends
// on the lines alone, so a diff that was written and read again has the same.
func markWords(hunks []Hunk) {
	m := wordMarker{work: maxMarkWork}
	for _, h := range hunks {
		for lines := h.Lines; len(lines) > 0; {
			same := countKind(lines, LineContext)
			removed := countKind(lines[same:], LineRemoved)
			added := countKind(lines[same+removed:], LineAdded)
			end := same + removed + added
			m.markBlock(lines[same:same+removed], lines[same+removed:end])
			lines = lines[end:]
		}
	}
}

// countKind counts the lines of that kind at the start.
func countKind(lines []Line, kind LineKind) int {
	n := slices.IndexFunc(lines, func(l Line) bool { return l.Kind != kind })
	if n < 0 {
		return len(lines)
	}
	return n
}

type wordMarker struct {
	work int // steps left
}

// spend takes steps from the work that is left, if there are enough.
func (m *wordMarker) spend(steps int) bool {
	if steps > m.work {
		m.work = 0
		return false
	}
	m.work -= steps
	return true
}

// markBlock marks the lines of a block in which removed was replaced by added.
func (m *wordMarker) markBlock(removed, added []Line) {
	if len(removed) == 0 || len(added) == 0 || m.work == 0 {
		return
	}
	if len(removed) > maxPairs/len(added) {
		for i := range min(len(removed), len(added)) {
			m.markPair(&removed[i], &added[i])
		}
		return
	}
	for _, p := range bestPairs(m.similarities(removed, added)) {
		m.markPair(&removed[p.old], &added[p.new])
	}
}

// markPair marks what differs between two lines.
func (m *wordMarker) markPair(old, new *Line) {
	if m.work == 0 || len(old.Text) > maxMarkedLine || len(new.Text) > maxMarkedLine {
		return
	}
	a, b := splitWords(old.Text), splitWords(new.Text)
	if m.spend(len(a)*len(b) + len(a) + len(b) + 1) {
		old.Marks, new.Marks = diffWords(a, b)
	}
}

// similarities returns for each pair of lines how much they have in common, 0 if
// they are not alike.
func (m *wordMarker) similarities(removed, added []Line) [][]int {
	old, new := wordBags(removed), wordBags(added)
	rows := make([][]int, len(old))
	for i, a := range old {
		rows[i] = make([]int, len(new))
		for j, b := range new {
			if m.spend(len(a.words) + len(b.words) + 1) {
				rows[i][j] = a.similarity(b)
			}
		}
	}
	return rows
}

// A pair is a line that was removed and the one that took its place, by position
// in their block.
type pair struct {
	old, new int
}

// bestPairs picks pairs so that the sum of what they have in common is greatest
// and no two of them cross.
func bestPairs(common [][]int) []pair {
	rows, columns := len(common), len(common[0])
	best := make([][]int, rows+1) // best[i][j] is the sum from row i and column j on
	for i := range best {
		best[i] = make([]int, columns+1)
	}
	for i := rows - 1; i >= 0; i-- {
		for j := columns - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1], best[i+1][j+1]+common[i][j])
		}
	}
	var pairs []pair
	for i, j := 0, 0; i < rows && j < columns; {
		switch best[i][j] {
		case best[i+1][j]:
			i++
		case best[i][j+1]:
			j++
		default:
			pairs = append(pairs, pair{i, j})
			i, j = i+1, j+1
		}
	}
	return pairs
}

// A wordBag is the words of a line without their order.
type wordBag struct {
	words  []word // sorted, without white space
	weight int
	long   bool // too long to be compared
}

func wordBags(lines []Line) []wordBag {
	bags := make([]wordBag, len(lines))
	for i, l := range lines {
		if len(l.Text) > maxMarkedLine {
			bags[i].long = true
			continue
		}
		words := slices.DeleteFunc(splitWords(l.Text), func(w word) bool { return w.weight() == 0 })
		slices.Sort(words)
		bags[i] = wordBag{words: words, weight: wordsWeight(words)}
	}
	return bags
}

// sameWords is the similarity of lines that differ in white space only: more
// than what any two other lines can have.
const sameWords = 1000

// similarity returns how much of a and b is in both, in thousandths, or 0 if
// they are not alike.
func (a wordBag) similarity(b wordBag) int {
	common := a.common(b)
	switch {
	case a.long || b.long || !alike(common, a.weight, b.weight):
		return 0
	case a.weight+b.weight == 0:
		return sameWords
	}
	return sameWords * 2 * common / (a.weight + b.weight)
}

// common returns the weight of the words that are in both bags.
func (a wordBag) common(b wordBag) int {
	sum := 0
	for i, j := 0, 0; i < len(a.words) && j < len(b.words); {
		switch {
		case a.words[i] < b.words[j]:
			i++
		case a.words[i] > b.words[j]:
			j++
		default:
			sum += a.words[i].weight()
			i, j = i+1, j+1
		}
	}
	return sum
}
