package policy

import "testing"

func TestURLPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, method, url string
		allow                bool
		deny                 Match
	}{
		{"GET https://a.b/x", "get", "https://a.b/x", true, MatchYes},
		{"get https://a.b/x", "", "https://a.b/x", true, MatchYes},
		{"GET https://a.b/x", "POST", "https://a.b/x", false, MatchNo},
		{"https://a.b/x", "DELETE", "https://a.b/x", true, MatchYes},
		{"https://a.b/x", "GET", "http://a.b/x", false, MatchNo},
		{"*://a.b/x", "GET", "http://a.b/x", true, MatchYes},
		{"HTTPS://A.B./x", "GET", "https://a.b/x", true, MatchYes},
		{"https://a.b/x", "GET", "HTTPS://A.B./x", true, MatchYes},
		{"https://*.b.c/**", "GET", "https://a.b.c/", true, MatchYes},
		{"https://*.b.c/**", "GET", "https://x.y.a.b.c/z", true, MatchYes},
		{"https://*.b.c/**", "GET", "https://b.c/", false, MatchNo},
		{"https://*.b.c/**", "GET", "https://evilb.c/", false, MatchNo},
		{"https://b.c/**", "GET", "https://b.c.evil.d/", false, MatchNo},
		{"https://b.c/**", "GET", "https://evil.d/?u=https://b.c/", false, MatchNo},
		{"https://b.c/**", "GET", "https://evil.d/b.c/", false, MatchNo},
		{"https://b.c/**", "GET", "https://b.c@evil.d/", false, MatchNo},
		{"https://b.c/**", "GET", "https://b.c:443@evil.d/", false, MatchNo},
		{"https://evil.d/**", "GET", "https://b.c:pw@evil.d/", true, MatchYes},
		{"https://b.c/**", "GET", "https://b.c#@evil.d/", true, MatchYes},
		{"https://b.c/**", "GET", "https://b.c:443/x", true, MatchYes},
		{"https://b.c/**", "GET", "https://b.c:0443/x", true, MatchYes},
		{"https://b.c:443/**", "GET", "https://b.c/x", true, MatchYes},
		{"https://b.c/**", "GET", "https://b.c:8443/x", false, MatchYes},
		{"https://b.c:8443/**", "GET", "https://b.c/x", false, MatchNo},
		{"*://b.c:8443/**", "GET", "https://b.c/x", false, MatchNo},
		{"*://b.c/**", "GET", "https://b.c:8443/x", false, MatchYes},
		{"https://b.c:*/**", "GET", "https://b.c:8443/x", true, MatchYes},
		{"https://b.c/pub/**", "GET", "https://b.c/pub/../admin", false, MatchNo},
		{"https://b.c/pub/**", "GET", "https://b.c/pub/%2e%2e/admin", false, MatchYes},
		{"https://b.c/pub/**", "GET", "https://b.c/pub/%2e%2e%2fadmin", false, MatchYes},
		{"https://b.c/pub/**", "GET", `https://b.c/pub/..%5Cadmin`, false, MatchYes},
		{"https://b.c/pub/**", "GET", "https://b.c/pub/a%2Fb%20c", true, MatchYes},
		{"https://b.c/admin", "GET", "https://b.c/x/../admin", true, MatchYes},
		{"https://b.c/admin", "GET", "https://b.c//admin", true, MatchYes},
		{"https://b.c/admin", "GET", "https://b.c/x/%2E%2E/admin", false, MatchYes},
		{"https://b.c/admin", "GET", "https://b.c/%61dmin", false, MatchYes},
		{"https://b.c/admin", "GET", "https://b.c/admin?x=1", false, MatchYes},
		{"https://b.c/admin/**", "GET", "https://b.c/admin", true, MatchYes},
		{"https://b.c/*", "GET", "https://b.c/a/b", false, MatchNo},
		{"https://b.c/a?x=*", "GET", "https://b.c/a?x=1", true, MatchYes},
		{"**", "GET", "https://b.c:1/x", true, MatchYes},
		{"GET **", "GET", "https://b.c:1/x", true, MatchYes},
		{"GET **", "POST", "https://b.c/x", false, MatchNo},
		{"https://[::1]/x", "GET", "https://[::1]/x", true, MatchYes},
		{"https://[::1]:8080/x", "GET", "https://[::1]:8080/x", true, MatchYes},
	} {
		act := Act{Name: ActHTTPRequest, Target: mustURL(t, c.method, c.url)}
		if got := allows(t, "http_request("+c.pattern+")", act); got != c.allow {
			t.Errorf("allow %s on %s %s: %v, want %v", c.pattern, c.method, c.url, got, c.allow)
		}
		if got := denies(t, "http_request("+c.pattern+")", act); got != c.deny {
			t.Errorf("deny %s on %s %s: %v, want %v", c.pattern, c.method, c.url, got, c.deny)
		}
	}
}

func TestConnectPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, host, port string
		allow               bool
		deny                Match
	}{
		{"a.b:443", "A.b.", "443", true, MatchYes},
		{"a.b:443", "a.b", "0443", true, MatchYes},
		{"a.b:443", "a.b", "22", false, MatchNo},
		{"a.b", "a.b", "22", false, MatchYes},
		{"a.b:*", "a.b", "22", true, MatchYes},
		{"*.b:443", "a.b", "443", true, MatchYes},
		{"*.b:443", "b", "443", false, MatchNo},
		{"*:443", "a.b", "443", true, MatchYes},
		{"[::1]:22", "::1", "22", true, MatchYes},
		{"a.b:443", "a。b", "443", false, MatchPossibly},
		{"a.b:443", "", "443", false, MatchPossibly},
	} {
		act := Act{Name: ActConnect, Target: HostTarget(c.host, c.port), ByName: true}
		if got := allows(t, "connect("+c.pattern+")", act); got != c.allow {
			t.Errorf("allow %s on %s:%s: %v, want %v", c.pattern, c.host, c.port, got, c.allow)
		}
		if got := denies(t, "connect("+c.pattern+")", act); got != c.deny {
			t.Errorf("deny %s on %s:%s: %v, want %v", c.pattern, c.host, c.port, got, c.deny)
		}
	}
}

func TestURLTargetRefuses(t *testing.T) {
	for url, method := range map[string]string{
		"a.b/x": "GET", "//a.b/x": "GET", "https:///x": "GET", "mailto:a@b": "GET", "https://a.b:x/": "GET", "https://%zz/": "GET",
		"https://*.a.b/": "GET", "https://*/x": "GET", "https://a。b/": "GET", "https://münchen.de/": "GET", "https://a.b/": "G*T", "http://a.b/": "*",
	} {
		if got, err := URLTarget(method, url); err == nil || got.Kind != "" {
			t.Errorf("URLTarget(%q, %q) = %v, %v; want an error", method, url, got, err)
		}
	}
}
