package policy

import "slices"

// A CommandPattern is what a rule says about commands, for config that has its
// own lists of them: words as in a shell, a prefix of the command unless "= "
// stands before them. The zero CommandPattern matches nothing.
type CommandPattern struct{ words wordsPattern }

// CompileCommand reads a pattern.
func CompileCommand(text string) (CommandPattern, error) {
	words, err := compileWords(text)
	return CommandPattern{words}, err
}

// Covers is the match of an allow: only what is known and meant.
func (p CommandPattern) Covers(t Target) bool {
	return len(p.words.words) > 0 && t.Kind == KindWords && p.words.covers(&t)
}

// Spells reports whether an allow with this pattern answers the connections of a command that
// it covers, of which so many words have to be spelled: see [Act.Own].
func (p CommandPattern) Spells(words int) bool { return words > 0 && p.words.spells(words) }

// Match is the match of a deny: whatever may be meant.
func (p CommandPattern) Meets(t Target) Match {
	if t.Kind != KindWords || len(p.words.words) == 0 {
		return MatchNo
	}
	return max(p.words.meets(&t), possibly(t.Unknown))
}

// KindWords returns the words of the pattern.
func (p CommandPattern) Words() []string { return slices.Clone(p.words.words) }

// Hides reports whether every command that o covers is covered by p as well.
func (p CommandPattern) Hides(o CommandPattern) bool {
	mine, theirs := p.words.words, o.words.words
	if len(mine) == 0 || len(mine) > len(theirs) || !slices.Equal(mine, theirs[:len(mine)]) {
		return false
	}
	return !p.words.exact || o.words.exact && len(mine) == len(theirs)
}
