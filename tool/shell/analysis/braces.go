package analysis

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxChoices is how many words braces may make of one.
const maxChoices = 256

// expandBraces returns the words that a word with braces stands for. If there are too many
// it returns the word itself and false.
func (w *walker) expandBraces(word *syntax.Word) ([]*syntax.Word, bool) {
	split := &syntax.Word{Parts: word.Parts} // the tree stays as it is
	if !syntax.SplitBraces(split) {
		return []*syntax.Word{word}, true
	}
	if w.braces > 0 {
		if words := braceWords(split.Parts); words != nil {
			w.braces -= len(words)
			return words, true
		}
	}
	return []*syntax.Word{word}, false
}

// braceWords multiplies out the parts; nil if there are too many.
func braceWords(parts []syntax.WordPart) []*syntax.Word {
	words := []*syntax.Word{{}}
	for _, part := range parts {
		brace, ok := part.(*syntax.BraceExp)
		if !ok {
			for _, word := range words {
				word.Parts = append(word.Parts, part)
			}
			continue
		}
		choices := braceChoices(brace)
		if choices == nil || len(words)*len(choices) > maxChoices {
			return nil
		}
		var next []*syntax.Word
		for _, word := range words {
			for _, choice := range choices {
				joined := append(append([]syntax.WordPart(nil), word.Parts...), choice.Parts...)
				next = append(next, &syntax.Word{Parts: joined})
			}
		}
		words = next
	}
	return words
}

// braceChoices are what one pair of braces stands for; nil if there are too many.
func braceChoices(brace *syntax.BraceExp) []*syntax.Word {
	if brace.Sequence {
		return sequence(brace)
	}
	var choices []*syntax.Word
	for _, elem := range brace.Elems {
		words := braceWords(elem.Parts)
		if words == nil {
			return nil
		}
		choices = append(choices, words...)
	}
	return choices
}

// sequence expands {a..b} and {a..b..step}.
func sequence(brace *syntax.BraceExp) []*syntax.Word {
	from, to := brace.Elems[0].Lit(), brace.Elems[1].Lit()
	step := 1
	if len(brace.Elems) > 2 {
		n, err := strconv.Atoi(brace.Elems[2].Lit())
		if err != nil {
			return nil
		}
		step = max(n, -n)
	}
	step = max(step, 1)
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	format := func(n int) string { return padded(n, from, to) }
	if err1 != nil || err2 != nil {
		if len(from) != 1 || len(to) != 1 {
			return nil
		}
		first, last = int(from[0]), int(to[0])
		format = func(n int) string { return string(rune(n)) }
	}
	distance := max(last-first, first-last)
	if distance < 0 || distance/step >= maxChoices {
		return nil
	}
	var words []*syntax.Word
	for i := 0; i <= distance; i += step {
		n := first + i
		if last < first {
			n = first - i
		}
		lit := &syntax.SglQuoted{Value: format(n)}
		words = append(words, &syntax.Word{Parts: []syntax.WordPart{lit}})
	}
	return words
}

// padded writes a number as wide as the wider end, if one of them begins with a zero.
func padded(n int, from, to string) string {
	text := strconv.Itoa(n)
	zero := func(s string) bool {
		s = strings.TrimPrefix(s, "-")
		return len(s) > 1 && s[0] == '0'
	}
	if !zero(from) && !zero(to) {
		return text
	}
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for len(sign)+len(text) < max(len(from), len(to)) {
		text = "0" + text
	}
	return sign + text
}
