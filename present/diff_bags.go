package present

import "slices"

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
