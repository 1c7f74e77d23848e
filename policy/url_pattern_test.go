package policy

import "testing"

func TestURLPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, method, url string
		allow                bool
		deny                 Meets
	}{
		{"GET https://a.b/x", "get", "https://a.b/x", true, Yes},
		{"get https://a.b/x", "", "https://a.b/x", true, Yes},
		{"GET https://a.b/x", "POST", "https://a.b/x", false, No},
		{"https://a.b/x", "DELETE", "https://a.b/x", true, Yes},
		{"https://a.b/x", "GET", "http://a.b/x", false, No},
		{"*://a.b/x", "GET", "http://a.b/x", true, Yes},
		{"HTTPS://A.B./x", "GET", "https://a.b/x", true, Yes},
		{"https://a.b/x", "GET", "HTTPS://A.B./x", true, Yes},
		{"https://*.b.c/**", "GET", "https://a.b.c/", true, Yes},
		{"https://*.b.c/**", "GET", "https://x.y.a.b.c/z", true, Yes},
		{"https://*.b.c/**", "GET", "https://b.c/", false, No},
		{"https://*.b.c/**", "GET", "https://evilb.c/", false, No},
		{"https://b.c/**", "GET", "https://b.c.evil.d/", false, No},
		{"https://b.c/**", "GET", "https://evil.d/?u=https://b.c/", false, No},
		{"https://b.c/**", "GET", "https://evil.d/b.c/", false, No},
		{"https://b.c/**", "GET", "https://b.c@evil.d/", false, No},
		{"https://b.c/**", "GET", "https://b.c:443@evil.d/", false, No},
		{"https://evil.d/**", "GET", "https://b.c:pw@evil.d/", true, Yes},
		{"https://b.c/**", "GET", "https://b.c#@evil.d/", true, Yes},
		{"https://b.c/**", "GET", "https://b.c:443/x", true, Yes},
		{"https://b.c/**", "GET", "https://b.c:0443/x", true, Yes},
		{"https://b.c:443/**", "GET", "https://b.c/x", true, Yes},
		{"https://b.c/**", "GET", "https://b.c:8443/x", false, Yes},
		{"https://b.c:8443/**", "GET", "https://b.c/x", false, No},
		{"*://b.c:8443/**", "GET", "https://b.c/x", false, No},
		{"*://b.c/**", "GET", "https://b.c:8443/x", false, Yes},
		{"https://b.c:*/**", "GET", "https://b.c:8443/x", true, Yes},
		{"https://b.c/pub/**", "GET", "https://b.c/pub/../admin", false, No},
		{"https://b.c/pub/**", "GET", "https://b.c/pub/%2e%2e/admin", false, Yes},
		{"https://b.c/pub/**", "GET", "https://b.c/pub/%2e%2e%2fadmin", false, Yes},
		{"https://b.c/pub/**", "GET", `https://b.c/pub/..%5Cadmin`, false, Yes},
		{"https://b.c/pub/**", "GET", "https://b.c/pub/a%2Fb%20c", true, Yes},
		{"https://b.c/admin", "GET", "https://b.c/x/../admin", true, Yes},
		{"https://b.c/admin", "GET", "https://b.c//admin", true, Yes},
		{"https://b.c/admin", "GET", "https://b.c/x/%2E%2E/admin", false, Yes},
		{"https://b.c/admin", "GET", "https://b.c/%61dmin", false, Yes},
		{"https://b.c/admin", "GET", "https://b.c/admin?x=1", false, Yes},
		{"https://b.c/admin/**", "GET", "https://b.c/admin", true, Yes},
		{"https://b.c/*", "GET", "https://b.c/a/b", false, No},
		{"https://b.c/a?x=*", "GET", "https://b.c/a?x=1", true, Yes},
		{"**", "GET", "https://b.c:1/x", true, Yes},
		{"GET **", "GET", "https://b.c:1/x", true, Yes},
		{"GET **", "POST", "https://b.c/x", false, No},
		{"https://[::1]/x", "GET", "https://[::1]/x", true, Yes},
		{"https://[::1]:8080/x", "GET", "https://[::1]:8080/x", true, Yes},
	} {
		act := Act{Name: HTTPRequest, Target: mustURL(t, c.method, c.url)}
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
		deny                Meets
	}{
		{"a.b:443", "A.b.", "443", true, Yes},
		{"a.b:443", "a.b", "0443", true, Yes},
		{"a.b:443", "a.b", "22", false, No},
		{"a.b", "a.b", "22", false, Yes},
		{"a.b:*", "a.b", "22", true, Yes},
		{"*.b:443", "a.b", "443", true, Yes},
		{"*.b:443", "b", "443", false, No},
		{"*:443", "a.b", "443", true, Yes},
		{"[::1]:22", "::1", "22", true, Yes},
		{"a.b:443", "a。b", "443", false, Possibly},
		{"a.b:443", "", "443", false, Possibly},
	} {
		act := Act{Name: Connect, Target: HostTarget(c.host, c.port), ByName: true}
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
