package network

import (
	"testing"

	"github.com/assent-dev/assent/tool/hosts"
)

func TestDomain(t *testing.T) {
	for host, want := range map[string]string{
		"registry.npmjs.org": "*.npmjs.org", "a.b.example.org": "*.b.example.org", "github.com": "", "localhost": "", "app.localhost": "",
		"example.co.uk": "", "www.example.co.uk": "*.example.co.uk", "me.github.io": "", "x.me.github.io": "*.me.github.io", "10.0.0.1": "", "::1": "",
		"bucket.s3.eu-west-1.amazonaws.com": "", "a.run.app": "", "api.go.dev": "*.go.dev", "example.com.au": "", "a.b.de": "",
		"me.ngrok.dev": "", "me.ts.net": "", "me.ddns.net": "", "me.supabase.co": "", "me.webhook.site": "", "raw.githubusercontent.com": "", "a.tokyo.jp": "",
	} {
		if got := hosts.Public(Public).Domain(host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}
