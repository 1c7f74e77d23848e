package web

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/assent-dev/assent/internal/redact"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// A Result is what came back; the model is given it as JSON.
type Result struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	// Truncated says that the body is longer.
	Truncated bool `json:"truncated,omitempty"`
	// Note says what the rest does not: where a redirect leads, what a body is that
	// cannot be shown.
	Note string `json:"note,omitempty"`
}

// usefulHeaders are the headers of an answer that a model can use.
var usefulHeaders = []string{
	"Content-Type", "Content-Language", "Location", "Link", "Etag", "Last-Modified", "Retry-After", "Allow",
	"Www-Authenticate",
}

// read reads an answer as far as it is wanted.
func (t *Tool) read(r request, response *http.Response) (Result, error) {
	result := Result{Status: response.StatusCode, Headers: map[string]string{}}
	for _, name := range usefulHeaders {
		if value := response.Header.Get(name); value != "" {
			result.Headers[name] = value
		}
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, t.opts.MaxBytes+1))
	if err != nil {
		return Result{}, fmt.Errorf("the body broke off: %w", err)
	}
	if int64(len(data)) > t.opts.MaxBytes {
		data, result.Truncated = data[:t.opts.MaxBytes], true
	}
	result.setBody(data, response.Header.Get("Content-Type"))
	result.addRedirect(r, response)
	return result, nil
}

// setBody keeps a body that is text, and describes any other.
func (r *Result) setBody(data []byte, contentType string) {
	if r.Truncated {
		data = wholeRunes(data)
	}
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case utf8.Valid(data) && !strings.Contains(string(data), "\x00"):
		r.Body = string(data)
	case err == nil && strings.HasPrefix(media, "text/"):
		r.Body = strings.ToValidUTF8(string(data), "\uFFFD")
	default:
		r.note(fmt.Sprintf("the body is binary: %d bytes that begin the way %s does, %s",
			len(data), http.DetectContentType(data), policy.DigestOf(data)))
	}
}

// wholeRunes drops a character that was cut in the middle.
func wholeRunes(data []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(data)); i++ {
		if last := data[len(data)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}

// addRedirect says where a redirect leads. Going there is another request, with its own
// question.
func (r *Result) addRedirect(req request, response *http.Response) {
	if response.StatusCode < 300 || response.StatusCode > 399 || response.Header.Get("Location") == "" {
		return
	}
	const plain = "it was not followed, as it is a request of its own"
	to, err := response.Location()
	if err == nil {
		var p place
		if p, err = readURL(req.method, to.String()); err == nil {
			r.note(fmt.Sprintf("this leads to %s; %s: call http_request with that URL to go there", p.url(), plain))
			return
		}
	}
	r.note(fmt.Sprintf("this leads to a place that cannot be reached; %s (%v)", plain, err))
}

func (r *Result) note(text string) {
	if r.Note != "" {
		text = r.Note + "; " + text
	}
	r.Note = text
}

// summary is the request in one line.
func (r *request) summary() string {
	to := " "
	if len(r.body) > 0 {
		to = " to "
	}
	return redact.Text(r.method + to + r.place.url())
}

// view shows all that is sent: the body, and above it the method, the URL and the headers.
// The values of headers that are secrets are not shown: views are kept.
func (r *request) view() present.View {
	v := present.View{Kind: present.KindStructured, Content: string(r.body)}
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
		return redact.Replacement
	}
	var clean map[string]string
	if err := json.Unmarshal(redact.JSON(pair), &clean); err != nil {
		return redact.Replacement
	}
	value := clean[h.name]
	if strings.Contains(value, redact.Replacement) {
		return fmt.Sprintf("%s (%d characters)", value, len(h.value))
	}
	return value
}
