package web

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/assent-dev/assent/internal/redact"
	"github.com/assent-dev/assent/present"
)

// summary is the request in one line.
func (r *request) summary() string {
	to := " "
	if len(r.body) > 0 {
		to = " to "
	}
	return redact.Redact(r.method + to + r.place.url())
}

// view shows all that is sent: the body, and above it the method, the URL and the headers.
// The values of headers that are secrets are not shown: views are kept.
func (r *request) view() present.View {
	v := present.View{Kind: present.Structured, Content: string(r.body)}
	if r.json {
		v.Language = "json"
	}
	v.Facts = present.Facts{
		present.TextFact(present.FactMethod, r.method),
		present.TextFact(present.FactURL, r.place.url()),
	}
	if r.place.user {
		v.Facts = v.Facts.With(present.TextFact("left out", "the user name in the URL; the host is "+r.place.target.URL.Host))
	}
	for _, h := range r.headers {
		v.Facts = v.Facts.With(present.TextFact(h.name, shown(h)))
	}
	return v
}

// shown returns the value of a header without secrets.
func shown(h header) string {
	pair, err := json.Marshal(map[string]string{h.name: h.value})
	if err != nil {
		return redact.Redacted
	}
	var clean map[string]string
	if err := json.Unmarshal(redact.RedactJSON(pair), &clean); err != nil {
		return redact.Redacted
	}
	value := clean[h.name]
	if strings.Contains(value, redact.Redacted) {
		return fmt.Sprintf("%s (%d characters)", value, len(h.value))
	}
	return value
}
