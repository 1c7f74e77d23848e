package present

import (
	"slices"
	"strings"
	"testing"
)

// marked returns the lines of a diff that are not context, with [ ] around marks.
func marked(old, new string) []string {
	var out []string
	for _, h := range diffOf(old, new).Hunks {
		for _, l := range h.Lines {
			if l.Kind != LineContext {
				out = append(out, string(lineSigns[l.Kind])+brackets(l))
			}
		}
	}
	return out
}

func brackets(l Line) string {
	text, done := "", 0
	for _, m := range l.Marks {
		text += l.Text[done:m.Start] + "[" + l.Text[m.Start:m.End] + "]"
		done = m.End
	}
	return text + l.Text[done:]
}

func TestWordMarks(t *testing.T) {
	long := strings.Repeat("word ", 400)
	for name, tt := range map[string]struct {
		old, new string
		want     []string
	}{
		"one word":             {"the old man\n", "the new man\n", []string{"-the [old] man", "+the [new] man"}},
		"word added":           {"f(a)\n", "f(a, b)\n", []string{"-f(a)", "+f(a[, b])"}},
		"number":               {"port = 8080\n", "port = 8081\n", []string{"-port = [8080]", "+port = [8081]"}},
		"words in a row":       {"say one two three to all people\n", "say four five six to all people\n", []string{"-say [one two three] to all people", "+say [four five six] to all people"}},
		"nothing in common":    {"alpha beta\n", "gamma delta\n", []string{"-alpha beta", "+gamma delta"}},
		"little in common":     {"the alpha beta\n", "the gamma delta\n", []string{"-the alpha beta", "+the gamma delta"}},
		"other order":          {"aaaa bbbb cccc\n", "cccc bbbb aaaa\n", []string{"-aaaa bbbb cccc", "+cccc bbbb aaaa"}},
		"white space only":     {"\n", "  \n", []string{"-", "+[  ]"}},
		"indent":               {"\tx\n", "\t\tx\n", []string{"-\tx", "+\t[\t]x"}},
		"space at the end":     {"x\n", "x \n", []string{"-x", "+x[ ]"}},
		"line end":             {"x\r\n", "x\n", []string{"-x[\r]", "+x"}},
		"newline at the end":   {"x\n", "x", []string{"-x", "+x"}},
		"letters with accents": {"schöne Grüße\n", "schöne Größe\n", []string{"-schöne [Grüße]", "+schöne [Größe]"}},
		"no spaces":            {"世界人民\n", "世界公民\n", []string{"-世界[人]民", "+世界[公]民"}},
		"not UTF-8":            {"same words \xff\n", "same words \xfe\n", []string{"-same words [\xff]", "+same words [\xfe]"}},
		"long line":            {long + "a\n", long + "b\n", []string{"-" + long + "a", "+" + long + "b"}},
		"new line between": {"first = one\nlast = two\n", "first = 1\nmiddle: new thing\nlast = 2\n",
			[]string{"-first = [one]", "-last = [two]", "+first = [1]", "+middle: new thing", "+last = [2]"}},
		"paired by likeness": {"call(alpha, 1)\n", "something else\ncall(alpha, 2)\n",
			[]string{"-call(alpha, [1])", "+something else", "+call(alpha, [2])"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := marked(tt.old, tt.new); !slices.Equal(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestWordMarksOfALargeBlockPairLinesInOrder(t *testing.T) {
	old := strings.Join(numbered(maxPairs), "")
	d := diffOf(old, strings.ReplaceAll(old, "line ", "line no "))
	for _, l := range d.Hunks[0].Lines {
		if l.Kind == LineAdded && brackets(l) != strings.Replace(l.Text, " no", "[ no]", 1) && brackets(l) != strings.Replace(l.Text, "no ", "[no ]", 1) {
			t.Fatalf("line %d is marked %q", l.New, brackets(l))
		}
	}
}

func TestWordMarksStayWithinTheirWork(t *testing.T) {
	line := func(text string) []Line { return []Line{{Text: text}} }
	m := wordMarker{work: 10}
	old, new := line("a b c d e f"), line("a b c d e g")
	m.markBlock(old, new)
	if m.work != 0 || old[0].Marks != nil || new[0].Marks != nil {
		t.Errorf("work left %d, marks %v and %v", m.work, old[0].Marks, new[0].Marks)
	}
	m = wordMarker{work: 1000}
	m.markBlock(old, new)
	if m.work == 0 || m.work == 1000 || new[0].Marks == nil {
		t.Errorf("work left %d, marks %v", m.work, new[0].Marks)
	}
}

func TestWordMarksOfAPairStayWithinTheirWork(t *testing.T) {
	old, new := Line{Text: "a b c d e f"}, Line{Text: "a b c d e g"}
	m := wordMarker{work: 10}
	if m.markPair(&old, &new); m.work != 0 || new.Marks != nil {
		t.Errorf("work left %d, marks %v", m.work, new.Marks)
	}
}

func TestWordMarksLeaveLongLinesAlone(t *testing.T) {
	for length, want := range map[int]bool{maxMarkedLine: true, maxMarkedLine + 1: false} {
		text := strings.Repeat("w ", length)
		old, new := Line{Text: text[:length]}, Line{Text: text[:length-1] + "x"}
		m := wordMarker{work: maxMarkWork}
		if m.markPair(&old, &new); (new.Marks != nil) != want {
			t.Errorf("%d bytes: marks %v", length, new.Marks)
		}
		bags := wordBags([]Line{old, new})
		if got := bags[0].similarity(bags[1]) > 0; got != want {
			t.Errorf("%d bytes: compared is %v", length, got)
		}
	}
}

func TestWordMarksDoNotPairLinesWithLittleInCommon(t *testing.T) {
	bags := wordBags([]Line{{Text: "the alpha beta"}, {Text: "the gamma delta"}, {Text: "the  beta"}})
	if n := bags[0].similarity(bags[1]); n != 0 {
		t.Errorf("similarity %d", n)
	}
	if n := bags[0].similarity(bags[2]); n != 1000*2*7/(12+7) {
		t.Errorf("similarity %d", n)
	}
}
