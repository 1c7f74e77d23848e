package soundness

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
)

//go:embed testdata/grammar.txt
var grammarText string

// A grammar has for each rule its alternatives, as often as they weigh.
type grammar map[string][]string

var theGrammar = sync.OnceValue(func() grammar { return readGrammar(grammarText) })

// readGrammar reads the file; see there.
func readGrammar(text string) grammar {
	g := grammar{}
	rule := ""
	for line := range strings.SplitSeq(text, "\n") {
		alternative, indented := strings.CutPrefix(line, "\t")
		switch {
		case strings.HasPrefix(line, "#"), line == "":
		case !indented:
			rule = line
		default:
			weight, rest, ok := strings.Cut(alternative, "* ")
			n, err := strconv.Atoi(weight)
			if !ok || err != nil {
				n, rest = 1, alternative
			}
			for range n {
				g[rule] = append(g[rule], escapes.Replace(rest))
			}
		}
	}
	return g
}

var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r")

// maxDepth is how deep rules nest before each takes its first alternative.
const maxDepth = 7

// A generator makes commands.
type generator struct {
	*rand.Rand
	g grammar
}

// command returns the command of this number.
func command(seed, number uint64) string {
	s := generator{rand.New(rand.NewPCG(seed, number)), theGrammar()}
	text := s.rule("list", s.IntN(3))
	if s.IntN(3) == 0 {
		text = s.mutated(text)
	}
	return text
}

// rule returns a text for a rule.
func (s generator) rule(name string, depth int) string {
	list := s.g[name]
	if len(list) == 0 {
		panic(fmt.Sprintf("there is no rule %q", name))
	}
	if depth > maxDepth {
		return s.fill(list[0], depth+1)
	}
	return s.fill(s.pick(list), depth+1)
}

func (s generator) pick(list []string) string { return list[s.IntN(len(list))] }

// fill puts texts in the place of the rules that an alternative names.
func (s generator) fill(alternative string, depth int) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(alternative, "«")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "»")
		b.WriteString(s.named(name, depth))
		alternative = after
	}
}

// named returns a rule's text, quoted or spelled as asked.
func (s generator) named(name string, depth int) string {
	if rule, odd := strings.CutSuffix(name, "!"); odd {
		return s.spelled(s.rule(rule, depth))
	}
	how, rule, ok := strings.Cut(name, ":")
	if !ok {
		return s.rule(name, depth)
	}
	text := s.rule(rule, depth)
	switch how {
	case "q":
		return singleQuoted(text)
	case "d":
		return doubleQuoted(text)
	default:
		return s.ansiQuoted(text)
	}
}
