package connector

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// BuiltIn is who owns the names of tools that come from no connector.
const BuiltIn = "assent itself"

// Names are the names of the tools of all connectors that are used together, so that one
// cannot pass for another's. It is safe for concurrent use; the zero Names is empty.
type Names struct {
	mu    sync.Mutex
	looks map[string]map[string]string // by owner: what its names look like, and the names
}

// Set says which tools the owner has now.
func (n *Names) Set(owner string, names ...string) {
	looks := make(map[string]string, len(names))
	for _, name := range names {
		looks[skeleton(name)] = name
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.looks == nil {
		n.looks = map[string]map[string]string{}
	}
	n.looks[owner] = looks
}

// taken returns who else has a tool whose name looks like this one, and that name. The very
// same name is free: rules, pins and models know a tool by its connector too, and no rule for
// a built-in tool reaches a connector's.
func (n *Names) taken(owner, name string) (other, like string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, other := range slices.Sorted(maps.Keys(n.looks)) {
		like, ok := n.looks[other][skeleton(name)]
		if ok && other != owner && !strings.EqualFold(like, name) {
			return other, like
		}
	}
	return "", ""
}

// The methods of the protocol besides tools/call, as rules name them: CONNECTOR:METHOD. The
// last two are what a server asks of the client.
const (
	ReadResource = "resources/read"
	Subscribe    = "resources/subscribe"
	Unsubscribe  = "resources/unsubscribe"
	GetPrompt    = "prompts/get"
	Complete     = "completion/complete"
	SetLevel     = "logging/setLevel"
	Elicit       = "elicitation/create"
	Sample       = "sampling/createMessage"
)

// Methods returns the methods that rules can name. No tool of a server may have such a name:
// a rule for the one would answer for the other.
func Methods() []string {
	return []string{ReadResource, Subscribe, Unsubscribe, GetPrompt, Complete, SetLevel, Elicit, Sample}
}

// isMethod reports whether rules could take a tool's name for that of a method.
func isMethod(name string) bool {
	return slices.ContainsFunc(Methods(), func(method string) bool { return strings.EqualFold(method, name) })
}

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
