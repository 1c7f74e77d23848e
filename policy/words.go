package policy

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"
)

// A wordsPattern matches commands word by word.
type wordsPattern struct {
	words []string
	exact bool // the command has these words and no more
	any   bool // it ends in a *, so that any rest is meant
}

var (
	errQuote    = errors.New("a quote without its end")
	errOperator = errors.New(`an unquoted ; | & < > ( ) $ or backquote: a pattern names one command`)
	errStar     = errors.New(`a * that is not the last word: a last * stands for any rest; quote it to mean the character`)
	errNoWords  = errors.New("no command")
)

// compileWords parses the target of a command: words quoted as in a shell, a
// last * for any rest, and "= " before them when there may be no rest.
func compileWords(target string) (wordsPattern, error) {
	var p wordsPattern
	rest, exact := strings.CutPrefix(target, "=")
	if exact {
		if p.exact = true; !strings.HasPrefix(rest, " ") {
			return p, errors.New(`a word right after "=": write "= " and the command`)
		}
	} else if head, ok := strings.CutSuffix(target, " *"); ok {
		rest, p.any = head, true
	}
	words, err := splitWords(rest)
	if err == nil && len(words) == 0 {
		err = errNoWords
	}
	p.words = words
	return p, err
}

func isAny(target string) bool { return target == "*" || target == "**" }

// splitWords splits text at spaces, with the quotes of a shell.
func splitWords(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	started := false
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'':
			word.WriteByte(c)
		case c == '\\' && (quote == 0 || i+1 < len(text) && strings.IndexByte("\"\\$`", text[i+1]) >= 0):
			if i++; i == len(text) {
				return nil, errTrailing
			}
			word.WriteByte(text[i])
			started = true
		case quote == '"':
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, started = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if started {
				words = append(words, word.String())
				word.Reset()
			}
			started = false
		case strings.IndexByte(";|&<>()$`", c) >= 0:
			return nil, errOperator
		case c == '*':
			return nil, errStar
		default:
			word.WriteByte(c)
			started = true
		}
	}
	if quote != 0 {
		return nil, errQuote
	}
	if started {
		words = append(words, word.String())
	}
	return words, nil
}

// covers is the match of an allow: the command starts with exactly the words of
// the pattern, and the rest is known and changes nothing about what it is for.
func (p wordsPattern) covers(t *Target) bool {
	if t.Unknown || len(t.Words) < len(p.words) {
		return false
	}
	// What words do to a program of which nothing is known, nobody has said by naming it.
	if (p.exact || t.Loose && !p.any) && len(t.Words) != len(p.words) {
		return false
	}
	for i, w := range p.words {
		if t.Words[i].Text != w || t.Words[i].Unknown {
			return false
		}
	}
	return plainRest(t.Words[len(p.words):])
}

// spells reports whether the pattern says at least so many words of the commands that it
// covers: all of them, if it is exact.
func (p wordsPattern) spells(words int) bool { return p.exact || len(p.words) >= words }

// meets is the match of a deny. It reaches further than an allow: through an
// absolute path to the program, past options before the subcommand, to flags
// in any order, in clusters and abbreviated.
//
// Variables that are set before the command are passed over, and where nothing is
// known about the program, each of its words may begin a command.
func (p wordsPattern) meets(t *Target) Match {
	words := t.command()
	if len(p.words) == 0 || len(words) == 0 {
		return MatchNo
	}
	if words[0].Unknown {
		return MatchPossibly
	}
	if !sameProgram(p.words[0], words[0].Text) {
		return possibly(t.Loose && p.meetsLater(words[1:]))
	}
	if p.exact {
		return p.meetsExactly(words)
	}
	return min(operandsMeet(p.words[1:], words[1:]), flagsMeet(p.words[1:], words[1:], t.Flags))
}

// meetsLater reports whether one of the words, or the text in one, may be the
// command that is meant.
func (p wordsPattern) meetsLater(words []Word) bool {
	for i, w := range words {
		rest := &Target{Words: words[i:]}
		if inner := strings.Fields(w.Text); !w.Unknown && len(inner) > 1 {
			rest = &Target{Words: CommandTarget(inner...).Words}
		}
		if !w.Unknown && p.meets(rest) != MatchNo {
			return true
		}
	}
	return false
}

// command returns the words of the command itself, behind the variables that are
// set for it.
func (t *Target) command() []Word {
	words := t.Words
	for len(words) > 0 && isAssignment(words[0].Text) {
		words = words[1:]
	}
	return words
}

func isAssignment(word string) bool {
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c == '=':
			return i > 0
		case c == '_', 'a' <= c|0x20 && c|0x20 <= 'z', i > 0 && '0' <= c && c <= '9':
		default:
			return false
		}
	}
	return false
}

func (p wordsPattern) meetsExactly(words []Word) Match {
	unknown := false
	for i, w := range words[1:] {
		switch {
		case w.Unknown:
			unknown = true
		case i+1 >= len(p.words) || p.words[i+1] != w.Text:
			// An unknown word before may stand for none or for many.
			return possibly(unknown)
		}
	}
	if !unknown && len(words) == len(p.words) {
		return MatchYes
	}
	return possibly(unknown)
}

func sameProgram(pattern, word string) bool {
	return pattern == word || pattern == path.Base(word)
}

func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

// operandsMeet tells whether the operands of the pattern come first among those
// of the command. A word right after a flag may be that flag's value, so it may
// be passed over. An unknown word among them may be what is looked for.
func operandsMeet(pattern []string, words []Word) Match {
	want := nextOperand(pattern)
	afterFlag, skipped := false, false
	for _, w := range words {
		switch {
		case len(want) == 0:
			return MatchYes
		case w.Unknown && !afterFlag:
			return MatchPossibly
		case isFlag(w.Text):
			afterFlag = true
			continue
		case !w.Unknown && w.Text == want[0]:
			want = nextOperand(want[1:])
		case !afterFlag:
			return possibly(skipped) // what was passed over may hold what is looked for
		}
		skipped = skipped || w.Unknown
		afterFlag = false
	}
	if len(want) == 0 {
		return MatchYes
	}
	return possibly(hasUnknown(words))
}

// nextOperand drops the flags before the first operand.
func nextOperand(words []string) []string {
	for len(words) > 0 && isFlag(words[0]) {
		words = words[1:]
	}
	return words
}

func flagsMeet(pattern []string, words []Word, spellings []string) Match {
	for _, f := range pattern {
		if isFlag(f) && !slices.Contains(spellings, f) && !flagMeets(f, words, spellings) {
			return possibly(hasUnknown(words))
		}
	}
	return MatchYes
}

func flagMeets(flag string, words []Word, spellings []string) bool {
	if strings.HasPrefix(flag, "--") {
		return slices.ContainsFunc(words, func(w Word) bool { return longFlagMeets(flag, w.Text) })
	}
	if slices.ContainsFunc(words, func(w Word) bool { return w.Text == flag }) {
		return true
	}
	for _, letter := range flag[1:] {
		in := func(w Word) bool { return shortFlags(w.Text) && strings.ContainsRune(w.Text, letter) }
		if !slices.ContainsFunc(words, in) && !slices.Contains(spellings, "-"+string(letter)) {
			return false
		}
	}
	return true
}

// longFlagMeets understands --flag=value and the abbreviations that getopt_long
// would take.
func longFlagMeets(flag, word string) bool {
	name, value, given := strings.Cut(word, "=")
	flagName, want, wanted := strings.Cut(flag, "=")
	if wanted && given && value != want {
		return false
	}
	return len(name) > len("--") && strings.HasPrefix(name, "--") && strings.HasPrefix(flagName, name)
}

func shortFlags(word string) bool { return isFlag(word) && !strings.HasPrefix(word, "--") }

// joinWords writes words so that splitWords would read them again.
func joinWords(words []Word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w.Unknown {
			b.WriteString("‹" + cmp.Or(w.Text, "unknown") + "›")
		} else {
			b.WriteString(quoteWord(w.Text))
		}
	}
	return b.String()
}

func quoteWord(word string) string {
	if word != "" && word[0] != '~' && !strings.ContainsAny(word, " \t\n'\"\\;|&<>()$`*=") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
