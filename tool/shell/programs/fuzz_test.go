package programs

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// FuzzInterpret reads any words for any program: it must not panic, and what it says must
// hang together.
func FuzzInterpret(f *testing.F) {
	f.Add("sort", "-o\x00out\x00in", uint16(0))
	f.Add("find", ".\x00-exec\x00rm\x00{}\x00+", uint16(1))
	f.Add("find", "-exec\x00{}\x00+", uint16(0))
	f.Add("sed", "s/a/b/w out\x00f", uint16(2))
	f.Add("awk", "{print > \"x\"}", uint16(0))
	f.Add("tar", "xzfC\x00a\x00b", uint16(4))
	f.Add("env", "-S\x00A=1 rm x", uint16(0))
	f.Add("bash", "-c\x00ls\x00a", uint16(0))
	f.Add("git", "-C\x00x\x00push\x00--force", uint16(8))
	names := slices.Sorted(maps.Keys(index()))
	f.Fuzz(func(t *testing.T, name, line string, unknown uint16) {
		if index()[name] == nil {
			name = names[len(line)%len(names)]
		}
		var args []Word
		for i, text := range strings.Split(line, "\x00") {
			args = append(args, fuzzWord(text, unknown>>(i%16)&1 == 1))
		}
		r := Interpret(name, args)
		checkReading(t, r, args)
	})
}

// fuzzWord is a word that is known, or begins with half of the text.
func fuzzWord(text string, unknown bool) Word {
	if !unknown {
		return Literal(text)
	}
	return Word{Text: text, Begin: text[:len(text)/2], Many: len(text)%3 == 0, Glob: len(text)%5 == 0}
}

// checkReading looks for what contradicts itself.
func checkReading(t *testing.T, r Reading, args []Word) {
	t.Helper()
	switch {
	case r.Known != (r.Why == ""):
		t.Errorf("known is %v and the reason is %q", r.Known, r.Why)
	case r.Readonly && (!r.Known || !r.Complete || len(r.Spelled) > len(r.Runs) || r.Opaque != ""): // what find starts is judged by itself
		t.Errorf("it is said to be read-only: %s", describe(r))
	case r.Complete && (!r.Known || r.Opaque != "" || len(r.Scripts) > 0):
		t.Errorf("it is said to be all: %s", describe(r))
	case r.Prefix > len(args)+1:
		t.Errorf("the prefix has %d words of %d", r.Prefix, len(args)+1)
	}
	for _, at := range slices.Concat(r.Spelled, r.Plain) {
		if at < 0 || at >= len(args) {
			t.Errorf("there is no argument %d", at)
		}
	}
	for _, at := range r.Plain {
		if slices.Contains(r.Spelled, at) || args[at].Known {
			t.Errorf("argument %d is plain: %s", at, describe(r))
		}
	}
	for _, e := range r.Effects {
		if e.Kind < Read || e.Kind > Connect || e.Arg < -1 || e.Arg >= len(args) {
			t.Errorf("effect %+v", e)
		}
	}
}

// FuzzEntry reads any text as an entry, and then words with it.
func FuzzEntry(f *testing.F) {
	f.Add("program a b\n  preset\n  flag -o --out FILE write\n  operands read* into\n", "-ox\x00y")
	f.Add("program a\n  syntax old\n  like b\n  sub x|y\n    flag -NUMBER\n    default list .\n", "x\x00-5")
	f.Add("program a\n  syntax pairs\n  flag of= F write ok\n  fixed connect *\n  operands assign* run\n", "of=x\x00A=1\x00b")
	f.Fuzz(func(t *testing.T, text, line string) {
		slots := map[string]*slot{}
		scanFile("fuzz.txt", text, slots)
		for name, s := range slots {
			e, err := parseSlot(s, func(n string) *slot { return slots[n] }, 0)
			if err != nil {
				continue
			}
			var args []Word
			for text := range strings.SplitSeq(line, "\x00") {
				args = append(args, Literal(text))
			}
			checkReading(t, interpret(e, name, args), args)
		}
	})
}
