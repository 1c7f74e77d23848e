package gateway

import "testing"

func TestIsPlainURI(t *testing.T) {
	for uri, plain := range map[string]bool{
		"file:///notes/a.md":       true,
		"file:///notes/a%20b.md":   true,
		"file:///":                 true,
		"test://motto":             true,
		"github://Owner/Repo/x":    true,
		"note:insights":            true,
		"urn:isbn:1":               true,
		"https://example.com/a?b":  true,
		"db://table/rows?limit=10": true,

		"":                            false,
		"notes/a.md":                  false,
		"FILE:///notes/a.md":          false,
		"file:///notes/../secret":     false,
		"file:///notes/./a":           false,
		"file:///notes//a":            false,
		"file:///notes/a/":            false,
		"file:///notes/%61":           false,
		"file:///notes/%2e%2e/secret": false,
		"file:///notes/%2fa":          false,
		"file:///notes/%c3%a9":        false,
		"file:///notes/é":             false,
		"file:///notes/a b":           false,
		`file:///notes\..\secret`:     false,
		"file:///notes/a?x":           false,
		"file:///notes/a?":            false,
		"file:///notes/a#x":           false,
		"file://localhost/notes/a":    false,
		"file:///notes/%":             false,
		"file:///notes/%zz":           false,
		"file:notes/../a":             false,
		"https://EXAMPLE.com/a":       false,
		"https://a@example.com/a":     false,
		"note:../insights":            false,
		"test://page/../page/x":       false,
	} {
		if got := isPlainURI(uri); got != plain {
			t.Errorf("%q: %v", uri, got)
		}
	}
}
