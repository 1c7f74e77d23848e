package policy

import (
	"cmp"
	"errors"
	"net/url"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A urlPattern matches requests and connections by their parts:
// [METHOD] scheme://host[:port]/path, or host[:port] for a bare connection.
type urlPattern struct {
	method string // empty: every method
	scheme string // "*": every scheme; empty: a bare connection
	host   string // "*.x" is every name below x, "*" and "**" every host
	port   string // "*": every port; empty: the scheme's default for an allow, any for a deny
	path   string // a ** glob over the path and query
}

var (
	errNoScheme = errors.New("no scheme: write https://host/path")
	errNoPath   = errors.New("no path: end it with /** for every path")
	errHost     = errors.New("a host that is not a name, *.name, [address], or *")
	errPort     = errors.New("a port that is not a number or *")
)

func compileURL(target string, bare bool) (urlPattern, error) {
	if bare {
		return urlPattern{}.withHost(target)
	}
	var p urlPattern
	rest := target
	if method, after, ok := strings.Cut(target, " "); ok {
		p.method, rest = strings.ToUpper(method), strings.TrimSpace(after)
		if p.method == "*" {
			p.method = ""
		}
		if isAny(rest) {
			p.scheme, p.host, p.port, p.path = "*", "*", "*", "/**"
			return p, nil
		}
	}
	scheme, rest, ok := strings.Cut(rest, "://")
	if !ok || scheme == "" {
		return p, errNoScheme
	}
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return p, errNoPath
	}
	p.scheme, p.path = strings.ToLower(scheme), rest[slash:]
	if err := checkPathGlob(p.path); err != nil {
		return p, err
	}
	return p.withHost(rest[:slash])
}

func (p urlPattern) withHost(hostPort string) (urlPattern, error) {
	p.host, p.port = splitHostPort(hostPort)
	if strings.TrimLeft(p.port, "0123456789") != "" && p.port != "*" {
		return p, errPort
	}
	if isAny(p.host) {
		return p, nil
	}
	below, wild := strings.CutPrefix(p.host, "*.")
	if below = normalHost(below); !validHost(below) || strings.Contains(below, ":") != strings.HasPrefix(hostPort, "[") {
		return p, errHost
	}
	if p.host = below; wild {
		p.host = "*." + below
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
	return s, normalPort(port)
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

func (p urlPattern) pathMatches(path string) bool { return doublestar.MatchUnvalidated(p.path, path) }

// covers is the match of an allow. Dot segments that hide behind escapes are
// resolved too: a server may do the same.
func (p urlPattern) covers(t *Target) bool {
	u := &t.URL
	if !p.methodMatches(u.Method) || !p.schemeMatches(u.Scheme) || !p.hostMatches(u.Host) {
		return false
	}
	if p.port != "*" && u.Port != cmp.Or(p.port, defaultPort(u.Scheme)) {
		return false
	}
	if p.scheme == "" {
		return true
	}
	decoded, hidden := u.decodedPath()
	return p.pathMatches(u.pathAndQuery()) && (!hidden || p.pathMatches(decoded))
}

// meets is the match of a deny: an absent port is any port, and the path is
// tried as it stands, without its query, and with its escapes decoded.
func (p urlPattern) meets(t *Target) Match {
	u := &t.URL
	if !p.methodMatches(u.Method) || !p.schemeMatches(u.Scheme) || !p.hostMatches(u.Host) {
		return MatchNo
	}
	if p.port != "" && p.port != "*" && p.port != u.Port {
		return MatchNo
	}
	if p.scheme == "" || p.pathMatches(u.pathAndQuery()) || p.pathMatches(u.Path) {
		return MatchYes
	}
	if decoded, _ := u.decodedPath(); p.pathMatches(decoded) {
		return MatchYes
	}
	return MatchNo
}

func (u *URLParts) pathAndQuery() string {
	if u.Query == "" {
		return u.Path
	}
	return u.Path + "?" + u.Query
}

// decodedPath returns the path without escapes and backslashes, and whether
// that made dot segments or empty ones appear, which it has resolved then.
func (u *URLParts) decodedPath() (decoded string, hidden bool) {
	if !strings.ContainsAny(u.Path, `%\`) {
		return u.Path, false
	}
	plain, err := url.PathUnescape(u.Path)
	if err != nil {
		return u.Path, true
	}
	plain = strings.ReplaceAll(plain, `\`, "/")
	decoded = cleanURLPath(plain)
	return decoded, decoded != plain
}
