package web_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/web"
)

func TestWhatCannotBeSent(t *testing.T) {
	w := newTool(t, web.Options{Network: listed})
	for _, c := range []struct {
		name   string
		fields map[string]any
		field  string
	}{
		{"a method of machines", map[string]any{"method": "CONNECT"}, "method"},
		{"another one", map[string]any{"method": "TRACE"}, "method"},
		{"no method", map[string]any{"method": "GET /x HTTP/1.1\r\nHost: y"}, "method"},
		{"a body of a GET", map[string]any{"body": "x"}, "body"},
		{"the host", map[string]any{"headers": map[string]string{"Host": "evil.example"}}, "headers"},
		{"the host in other letters", map[string]any{"headers": map[string]string{"hOST": "evil.example"}}, "headers"},
		{"the length", map[string]any{"headers": map[string]string{"Content-Length": "3"}}, "headers"},
		{"the encoding", map[string]any{"headers": map[string]string{"transfer-encoding": "chunked"}}, "headers"},
		{"the connection", map[string]any{"headers": map[string]string{"Connection": "close"}}, "headers"},
		{"a proxy's", map[string]any{"headers": map[string]string{"Proxy-Authorization": "x"}}, "headers"},
		{"an upgrade", map[string]any{"headers": map[string]string{"Upgrade": "websocket"}}, "headers"},
		{"another method in a header", map[string]any{"headers": map[string]string{"X-HTTP-Method-Override": "DELETE"}}, "headers"},
		{"another URL in a header", map[string]any{"headers": map[string]string{"X-Original-URL": "/admin"}}, "headers"},
		{"a header in a value", map[string]any{"headers": map[string]string{"X-A": "1\r\nX-B: 2"}}, "headers"},
		{"a header in a name", map[string]any{"headers": map[string]string{"X-A: 1\r\nX-B": "2"}}, "headers"},
		{"no name", map[string]any{"headers": map[string]string{"": "2"}}, "headers"},
		{"a pseudo header", map[string]any{"headers": map[string]string{":authority": "evil.example"}}, "headers"},
		{"a long value", map[string]any{"headers": map[string]string{"X-A": strings.Repeat("x", 9000)}}, "headers"},
		{"the same name twice", map[string]any{"headers": map[string]string{"X-A": "1", "x-a": "2"}}, "headers"},
		{"a long URL", map[string]any{"url": "https://docs.python.org/" + strings.Repeat("x", 9000)}, "url"},
		{"an unknown argument", map[string]any{"proxy": "x"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.fields["url"] == nil {
				c.fields["url"] = "https://docs.python.org/"
			}
			_, err := prepare(t, w, c.fields)
			var wrong *tool.ArgumentError
			if !errors.As(err, &wrong) || c.field != "" && wrong.Field != c.field {
				t.Errorf("error %v, want one about %q", err, c.field)
			}
		})
	}
}

func TestTheViewShowsAllThatIsSent(t *testing.T) {
	w := newTool(t, web.Options{Network: listed})
	p, err := prepare(t, w, map[string]any{
		"method": "post", "url": "https://someone@API.example.com:443/a/../users?q=a b#top",
		"headers": map[string]string{"authorization": "Bearer abcdefghijklmnop", "X-Trace": "7", "x-api-key": "k", "Cookie": "a=b"},
		"body":    map[string]any{"name": "John Doe", "role": "admin"},
	})
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := present.View{
		Kind: present.KindStructured, Language: "json", Content: "{\n  \"name\": \"John Doe\",\n  \"role\": \"admin\"\n}",
		Facts: present.Facts{
			present.TextFact("method", "POST"),
			present.TextFact("url", "https://api.example.com/users?q=a%20b"),
			present.TextFact("left out", "the user name in the URL; the host is api.example.com"),
			present.TextFact("Authorization", "[redacted] (23 characters)"),
			present.TextFact("Content-Type", "application/json"),
			present.TextFact("Cookie", "[redacted] (3 characters)"),
			present.TextFact("X-Api-Key", "[redacted] (1 characters)"),
			present.TextFact("X-Trace", "7"),
		},
	}
	if !v.Equal(want) {
		t.Errorf("got  %+v\nwant %+v", v, want)
	}
	if err := v.Validate(); err != nil {
		t.Error(err)
	}
	if p.Summary != "POST to https://api.example.com/users?q=a%20b" {
		t.Errorf("summary %q", p.Summary)
	}
	if got := p.Acts[0].String(); got != "http_request(POST https://api.example.com/users?q=a%20b)" {
		t.Errorf("act %s", got)
	}
	if got := p.Acts[1].String(); got != "connect(api.example.com:443)" {
		t.Errorf("act %s", got)
	}
}

func TestSummaries(t *testing.T) {
	w := newTool(t, web.Options{Network: listed})
	for want, fields := range map[string]map[string]any{
		"GET https://docs.python.org/":                {"url": "https://docs.python.org"},
		"DELETE https://docs.python.org/x":            {"method": "DELETE", "url": "https://docs.python.org/x"},
		"PUT to https://docs.python.org/x":            {"method": "PUT", "url": "https://docs.python.org/x", "body": "text"},
		"GET https://docs.python.org/?key=[redacted]": {"url": "https://docs.python.org/?key=abcdefgh"},
	} {
		p, err := prepare(t, w, fields)
		if err != nil || p.Summary != want {
			t.Errorf("%q, want %q; error %v", p.Summary, want, err)
		}
	}
}
