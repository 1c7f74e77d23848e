package connector

import (
	"strings"
	"unicode"
)

// skeleton returns what a name looks like: names with the same skeleton are easily taken
// for each other. It is not complete, and need not be: a name outside ASCII is doubted
// in any case.
func skeleton(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r) {
			continue // nothing is seen of it
		}
		b.WriteRune(look(r))
	}
	return strings.NewReplacer("rn", "m", "vv", "w", "cl", "d").Replace(b.String())
}

// look returns the letter that a character looks like.
func look(r rune) rune {
	if r >= 0xff01 && r <= 0xff5e { // full width
		r -= 0xff01 - '!'
	}
	r = unicode.ToLower(r)
	if l, ok := likes[r]; ok {
		return l
	}
	return r
}

// likes are characters, in lower case, and what they look like.
var likes = func() map[rune]rune {
	out := map[rune]rune{'0': 'o', '1': 'l', 'i': 'l', '|': 'l', '5': 's', '-': '_', '.': '_', '/': '_'}
	for latin, others := range map[rune]string{
		'a': "аαɑàáâãäå", 'b': "Ььƅ", 'c': "сϲçć", 'd': "ԁɗ", 'e': "еёεèéêë", 'g': "ɡց", 'h': "һհ", 'l': "іїıιìíîïӏłⅼ",
		'j': "јϳ", 'k': "кκ", 'm': "мⅿ", 'n': "пηñո", 'o': "оοσöòóôõøօ", 'p': "рρ", 'q': "ԛգ", 'r': "гґ", 's': "ѕšꜱ",
		't': "тτ", 'u': "υսüùúûц", 'v': "ѵνⅴ", 'w': "ԝωш", 'x': "хχⅹ", 'y': "уγýÿ", 'z': "ᴢž", '_': "‐‑‒–—﹍﹎﹏·․",
	} {
		for _, r := range others {
			out[r] = latin
		}
	}
	return out
}()

// isPlain reports whether a name has nothing but ASCII.
func isPlain(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII })
}
