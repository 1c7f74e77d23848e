package gateway

import (
	"net/url"
	"path"
	"strings"
)

// isPlainURI reports whether a URI is written in the one way in which a rule would name it.
// Of others nobody here knows what a server takes them for: file:///notes/../secret and
// file:///%73ecret may both be file:///secret.
func isPlainURI(uri string) bool {
	u, err := url.Parse(uri)
	switch {
	case err != nil, u.Scheme == "", !strings.HasPrefix(uri, u.Scheme+":"), // in lower case
		strings.ContainsAny(uri, `#\`), strings.ContainsFunc(uri, func(c rune) bool { return c <= ' ' || c > '~' }),
		!plainEscapes(uri):
		return false
	case u.Scheme == "file" && (u.Host != "" || strings.Contains(uri, "?")):
		return false
	case (u.Scheme == "http" || u.Scheme == "https") && (u.Host != strings.ToLower(u.Host) || u.User != nil):
		return false
	}
	p, _, _ := strings.Cut(strings.TrimPrefix(uri, u.Scheme+":"), "?")
	p = strings.TrimPrefix(p, "//")
	return p == "" || p == path.Clean(p) && p != ".." && !strings.HasPrefix(p, "../") // no part that a server may leave out
}

// plainEscapes reports whether nothing is escaped that need not be, or that would change the
// parts of a path.
func plainEscapes(uri string) bool {
	for i := 0; i < len(uri); i++ {
		if uri[i] != '%' {
			continue
		}
		c, err := url.PathUnescape(uri[i:min(i+3, len(uri))])
		if err != nil || uri[i:i+3] != strings.ToUpper(uri[i:i+3]) || strings.ContainsAny(strings.ToLower(c), "abcdefghijklmnopqrstuvwxyz0123456789-._~/\\\x00") {
			return false
		}
	}
	return true
}
