package approval

import (
	"errors"
	"net/url"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A urlPattern matches requests and connections by their parts:
// [METHOD] scheme://host[:port]/path, or host[:port] for a bare connection.
type urlPattern struct {
	any    bool
	method string // empty: every method
	scheme string // empty: a bare connection
	host   string // "*.x" is every name below x, "*" and "**" every host
	port   string // empty: the scheme's default for an allow, any for a deny
	path   string // a ** glob over the path and query
}

var (
	errNoPath = errors.New("no path: end it with /** for every path")
	errHost   = errors.New("a host that is not a name, *.name, or *")
)

func compileURL(target string, bare bool) (urlPattern, error) {
	if isAny(target) {
		return urlPattern{any: true}, nil
	}
	var p urlPattern
	rest := target
	if method, after, ok := strings.Cut(target, " "); ok && !bare {
		p.method, rest = strings.ToUpper(method), strings.TrimSpace(after)
		if p.method == "*" {
			p.method = ""
		}
		if isAny(rest) {
			p.host, p.path, p.scheme = "**", "/**", "*"
			return p, nil
		}
	}
	if !bare {
		scheme, after, ok := strings.Cut(rest, "://")
		if !ok {
			return p, errors.New("no scheme: write https://host/path")
		}
		p.scheme, rest = strings.ToLower(scheme), after
		slash := strings.IndexByte(rest, '/')
		if slash < 0 {
			return p, errNoPath
		}
		rest, p.path = rest[:slash], rest[slash:]
		if !doublestar.ValidatePattern(p.path) {
			return p, errUnbalanced
		}
	}
	p.host, p.port = splitHostPort(rest)
	if p.host == "" || strings.ContainsAny(strings.TrimPrefix(p.host, "*."), "/@?#[]* ") && !isAny(p.host) {
		return p, errHost
	}
	return p, nil
}

// splitHostPort splits at the last colon, leaving the colons of [::1] alone.
func splitHostPort(s string) (host, port string) {
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		s, port = s[:i], s[i+1:]
	}
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		s = s[1 : len(s)-1]
	}
	return normalHost(s), port
}

func (p urlPattern) hostMatches(host string) bool {
	if isAny(p.host) {
		return true
	}
	if below, ok := strings.CutPrefix(p.host, "*"); ok {
		return strings.HasSuffix(host, below) && len(host) > len(below)
	}
	return p.host == host
}

func (p urlPattern) schemeMatches(scheme string) bool { return p.scheme == "*" || p.scheme == scheme }

func (p urlPattern) methodMatches(method string) bool { return p.method == "" || p.method == method }

// covers is the match of an allow.
func (p urlPattern) covers(t Target) bool {
	if t.Unknown || p.any {
		return p.any && !t.Unknown
	}
	u := t.URL
	port := p.port
	if port == "" && p.scheme != "" {
		port = defaultPort(p.scheme)
	}
	if !p.methodMatches(u.Method) || !p.schemeMatches(u.Scheme) || !p.hostMatches(u.Host) {
		return false
	}
	if p.scheme == "" {
		return port == "*" || port == u.Port
	}
	return (port == u.Port || port == "*" || p.scheme == "*") && doublestar.MatchUnvalidated(p.path, u.pathAndQuery())
}

// meets is the match of a deny: an absent port is any port, and the path is
// tried as it stands, without its query, and with its escapes decoded.
func (p urlPattern) meets(t Target) Meets {
	if p.any {
		return Yes
	}
	u := t.URL
	if t.Unknown && u.Host == "" {
		return Possibly
	}
	if !p.methodMatches(u.Method) || !p.schemeMatches(u.Scheme) || !p.hostMatches(u.Host) {
		return No
	}
	if p.port != "" && p.port != "*" && p.port != u.Port {
		return No
	}
	if p.scheme == "" || p.pathMeets(u) {
		return Yes
	}
	return possibly(t.Unknown)
}

func (p urlPattern) pathMeets(u URLParts) bool {
	if doublestar.MatchUnvalidated(p.path, u.pathAndQuery()) || doublestar.MatchUnvalidated(p.path, u.Path) {
		return true
	}
	decoded, err := url.PathUnescape(u.Path)
	return err == nil && doublestar.MatchUnvalidated(p.path, cleanURLPath(decoded))
}

func (u URLParts) pathAndQuery() string {
	if u.Query == "" {
		return u.Path
	}
	return u.Path + "?" + u.Query
}
