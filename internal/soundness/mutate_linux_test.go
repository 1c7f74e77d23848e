package soundness

import "strings"

// inserts are what a mutation puts somewhere.
var inserts = []string{
	"'", `"`, "`", "$(", ")", "(", "{", "}", "{ ", "; }", ";", "&", "|", "||", "&&", "\n", "\\\n", "\\", "#", " #", " ", "\t", "$", "${", "$'", `$"`,
	"[[", "]]", "[", "]", "((", "))", "<", ">", ">>", "<<", "<<<", "<<EOF\n", "\nEOF\n", "!", "=", "+=", "*", "?", "~", "^", "%", "@", "-", "--", " -x", ":", ",", "..",
	"if ", " then ", "fi", "for ", " in ", "do ", "done", "case ", "esac", "while ", "function ", "time ", "coproc ", "eval ", "exec ", "command ", "env ",
	"a", "0", "\r", "\r\n", "é", "\u00a0", "\u200b", "\x01", "\x7f", "$v", "$@", "$((", "<(", ">(", "@(", "+(", "{a,b}", "{1..3}", ";;", ";&", "|&", "&>", ">|", "2>&1", "$\\\n(",
}

// mutated changes a text in one to three random places.
func (s generator) mutated(text string) string {
	for range 1 + s.IntN(3) {
		text = s.mutation([]rune(text))
	}
	return text
}

func (s generator) mutation(text []rune) string {
	from, to := s.span(len(text))
	before, span, after := string(text[:from]), string(text[from:to]), string(text[to:])
	switch s.IntN(9) {
	case 0:
		return before + after
	case 1:
		return before + singleQuoted(span) + after
	case 2:
		return before + doubleQuoted(span) + after
	case 3:
		return before + span + span + after
	case 4: // splice with another command
		other := []rune(s.rule("list", 3))
		cut, end := s.span(len(other))
		return before + string(other[cut:end]) + after
	case 5: // swap two neighbours
		if r := []rune(span); len(r) > 1 {
			r[0], r[1] = r[1], r[0]
			return before + string(r) + after
		}
		return before + span + "\\\n" + after
	case 6:
		return before + strings.ToUpper(span) + after
	default:
		return before + s.pick(inserts) + span + after
	}
}

// span picks a part of a text, more often a short one.
func (s generator) span(length int) (from, to int) {
	from = s.IntN(length + 1)
	most := length - from
	if s.IntN(3) > 0 {
		most = min(most, 4)
	}
	return from, from + s.IntN(most+1)
}
