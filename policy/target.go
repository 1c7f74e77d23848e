package policy

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// A Kind says what a target is, and so how patterns match it.
type Kind string

// The kinds of targets. The zero Kind matches nothing.
const (
	KindPath      Kind = "path"      // a file or folder, matched by ** globs
	KindWords     Kind = "words"     // a command, matched word by word
	KindURL       Kind = "url"       // a method and URL, or a host and port, matched by parts
	KindText      Kind = "text"      // any other name, matched by * and ?
	KindArguments Kind = "arguments" // the digest of the canonical arguments
)

// A Target is what an act acts on. Build it with one of the functions below.
type Target struct {
	Kind Kind `json:"kind"`
	// Written holds the spellings (virtual, absolute) of the file as the call
	// names it, Resolved those of the file that this turns out to be. The
	// first of each is the one that is shown. Only for Path.
	Written  []string `json:"written,omitempty"`
	Resolved []string `json:"resolved,omitempty"`
	// Also are further names by which only denies find the file: those that it has
	// for a caller, or would have if they did not lead to another file.
	Also []string `json:"also,omitempty"`
	// Words are the words of a command. Only for KindWords.
	Words []Word `json:"words,omitempty"`
	// Loose says that nothing is known about the program, so that any of its words
	// may be a command that it runs: a deny may be met by each of them, and an allow
	// covers the words that it has and no more, unless it ends in a *.
	Loose bool `json:"loose,omitempty"`
	// Flags are further spellings of the command's flags, so that a deny of
	// rm -r meets rm --recursive. No allow looks at them.
	Flags []string `json:"flags,omitempty"`
	// URL holds the parts of a URL. Only for KindURL.
	URL URLParts `json:"url,omitzero"`
	// Text is a name, or the digest of the arguments.
	Text string `json:"text,omitempty"`
	// To is who receives the file of a share_file act.
	To string `json:"to,omitempty"`
	// Unknown says that it is unknown what will be acted on. No allow with
	// a target covers such an act, and every deny of its name may be met.
	Unknown bool `json:"unknown,omitempty"`
}

// A Word is one word of a command. What an unknown word will be is not known
// before the command runs; its Text is how it is written.
type Word struct {
	Text    string `json:"text,omitempty"`
	Unknown bool   `json:"unknown,omitempty"`
	// Spelled marks a word that only an allow which spells it covers: a flag
	// that makes the program do more than it is for, such as sort -o.
	Spelled bool `json:"spelled,omitempty"`
	// Plain marks an unknown word that hides nothing, whatever it turns out to
	// be: it is no flag, and what the program does with it are acts of their own.
	Plain bool `json:"plain,omitempty"`
}

// URLParts are the parts of a URL by which rules match.
type URLParts struct {
	Method string `json:"method,omitempty"` // upper case; empty for a bare connection
	Scheme string `json:"scheme,omitempty"` // lower case; empty for a bare connection
	Host   string `json:"host"`             // lower case, without a trailing dot
	Port   string `json:"port,omitempty"`   // never empty when the scheme has a default
	Path   string `json:"path,omitempty"`   // escaped, with dot segments resolved
	Query  string `json:"query,omitempty"`
}

// PathTarget returns the target for a file whose name is the same as written
// and resolved, in one or more spellings. The first spelling is shown.
func PathTarget(spellings ...string) Target {
	return LinkTarget(spellings, spellings)
}

// LinkTarget returns the target for a file that is written in one way and
// resolves to another, as through a symbolic link.
func LinkTarget(written, resolved []string) Target {
	return Target{Kind: KindPath, Written: cleanAll(written), Resolved: cleanAll(resolved)}
}

// KnownAs returns t with further names that only denies look at.
func (t Target) KnownAs(names ...string) Target {
	t.Also = nil
	for _, name := range cleanAll(names) {
		if !slices.Contains(t.Written, name) && !slices.Contains(t.Resolved, name) {
			t.Also = append(t.Also, name)
		}
	}
	return t
}

// SharedWith returns t as something that worker receives.
func (t Target) SharedWith(worker string) Target {
	t.To = worker
	return t
}

// UnknownTarget returns a target of which only the kind is known.
func UnknownTarget(kind Kind) Target { return Target{Kind: kind, Unknown: true} }

func cleanAll(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		if p = path.Clean(p); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// CommandTarget returns the target for a command of which every word is known.
func CommandTarget(words ...string) Target {
	t := Target{Kind: KindWords, Words: make([]Word, len(words))}
	for i, w := range words {
		t.Words[i] = Word{Text: w}
	}
	return t
}

// TextTarget returns the target for a plain name.
func TextTarget(name string) Target { return Target{Kind: KindText, Text: name} }

// ArgumentsTarget returns the target of an act that names none: the digest of
// its canonical arguments, so that "exactly this" means these arguments.
func ArgumentsTarget(text []byte) Target {
	return Target{Kind: KindArguments, Text: DigestOf(text).String()}
}

// URLTarget returns the target for a request to an absolute URL. The method GET
// may be left out. A host outside ASCII is refused: which host it means depends
// on who reads it.
func URLTarget(method, rawURL string) (Target, error) {
	method = strings.ToUpper(cmp.Or(method, "GET"))
	if !validMethod(method) {
		return Target{}, fmt.Errorf("invalid method %q: use letters only", method)
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		return Target{}, fmt.Errorf("URL: %w", err)
	}
	if u.Scheme == "" || u.Hostname() == "" || u.Opaque != "" {
		return Target{}, fmt.Errorf("URL %q needs a scheme and a host", u.Redacted())
	}
	parts := URLParts{
		Method: method,
		Scheme: strings.ToLower(u.Scheme),
		Host:   normalHost(u.Hostname()),
		Port:   normalPort(u.Port()),
		Path:   cleanURLPath(u.EscapedPath()),
		Query:  u.RawQuery,
	}
	if !validHost(parts.Host) {
		return Target{}, fmt.Errorf("invalid host in URL %q: use letters, digits, dots and hyphens; write other letters as xn--", u.Redacted())
	}
	if parts.Port == "" {
		parts.Port = defaultPort(parts.Scheme)
	}
	return Target{Kind: KindURL, URL: parts}, nil
}

// HostTarget returns the target for a connection by any protocol. A host that
// is not written in ASCII is unknown.
func HostTarget(host, port string) Target {
	t := Target{Kind: KindURL, URL: URLParts{Host: normalHost(host), Port: normalPort(port)}}
	t.Unknown = !validHost(t.URL.Host)
	return t
}

func normalHost(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

func normalPort(port string) string { return strings.TrimLeft(port, "0") }

// validHost takes names and addresses, and nothing that a pattern or another
// reader of the name would read differently.
func validHost(host string) bool {
	return host != "" && !strings.ContainsFunc(host, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-._:%", r)
	})
}

func validMethod(method string) bool {
	return !strings.ContainsFunc(method, func(r rune) bool { return (r < 'A' || r > 'Z') && r != '-' && r != '_' })
}

func defaultPort(scheme string) string {
	switch scheme {
	case "http", "ws":
		return "80"
	case "https", "wss":
		return "443"
	}
	return ""
}

// cleanURLPath resolves dot segments as a server would, keeping a final slash.
func cleanURLPath(p string) string {
	clean := path.Clean("/" + p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// String returns the target as rules write it.
func (t Target) String() string {
	if t.Unknown && len(t.Words) == 0 {
		return "unknown " + string(t.Kind)
	}
	switch t.Kind {
	case KindPath:
		return t.pathString()
	case KindWords:
		return joinWords(t.Words)
	case KindURL:
		return t.URL.String()
	}
	return t.Text
}

func (t Target) pathString() string {
	if len(t.Written) == 0 {
		return ""
	}
	s := t.Written[0]
	if len(t.Resolved) > 0 && t.Resolved[0] != s {
		s += " → " + t.Resolved[0]
	}
	if t.To != "" {
		s += ", " + t.To
	}
	return s
}

// String returns the URL, behind its method if it has one.
func (u URLParts) String() string {
	host := u.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Port != "" && u.Port != defaultPort(u.Scheme) {
		host += ":" + u.Port
	}
	if u.Scheme == "" {
		return host
	}
	s := u.Scheme + "://" + host + u.Path
	if u.Query != "" {
		s += "?" + u.Query
	}
	if u.Method != "" {
		s = u.Method + " " + s
	}
	return s
}

// size is about how long the target is as text.
func (t *Target) size() int {
	n := len(t.Text) + len(t.To) + len(t.URL.Path) + len(t.URL.Query)
	for _, s := range t.Written {
		n += len(s)
	}
	for _, w := range t.Words {
		n += len(w.Text)
	}
	return n
}

// Same reports whether two targets are the same thing to act on, and known.
func (t Target) Same(o Target) bool { return t.same(o) }

// same reports whether two targets are the same thing to act on. A file in a folder
// with several names is the same by each of them: its spellings are, in another
// order.
func (t Target) same(o Target) bool {
	return t.Kind == o.Kind && !t.Unknown && !o.Unknown && t.Kind != "" &&
		t.Text == o.Text && t.To == o.To && t.URL == o.URL &&
		sameNames(t.Written, o.Written) && sameNames(t.Resolved, o.Resolved) &&
		slices.Equal(t.Words, o.Words) && !hasUnknown(t.Words)
}

// sameNames reports whether two lists without doubles hold the same.
func sameNames(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for _, s := range a {
		if !slices.Contains(b, s) {
			return false
		}
	}
	return true
}

func hasUnknown(words []Word) bool {
	return slices.ContainsFunc(words, func(w Word) bool { return w.Unknown })
}

// hides reports whether an unknown word may be more than it looks like.
func hides(words []Word) bool {
	return slices.ContainsFunc(words, func(w Word) bool { return w.Unknown && !w.Plain })
}

// plainRest reports whether a prefix says all that matters about a command that
// goes on with these words.
func plainRest(words []Word) bool {
	return !slices.ContainsFunc(words, func(w Word) bool { return w.Spelled || w.Unknown && !w.Plain })
}
