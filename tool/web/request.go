package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/textproto"
	"slices"
	"strings"

	"github.com/assent-dev/assent/tool"
)

// arguments are those of a call.
type arguments struct {
	Method  string            `json:"method,omitempty" jsonschema:"GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS; default GET"`
	URL     string            `json:"url" jsonschema:"the whole URL, with https:// or http://"`
	Headers map[string]string `json:"headers,omitempty" jsonschema:"headers to send, by name"`
	Body    json.RawMessage   `json:"body,omitempty" jsonschema:"what to send: an object or a list as JSON, or a text as it is"`
}

// A request is what a call sends, all of it.
type request struct {
	method  string
	place   place
	headers []header // in order of their names
	body    []byte
	json    bool // the body is JSON
}

type header struct{ name, value string }

// Limits on what a call may send.
const (
	maxBody    = 4 << 20
	maxHeaders = 50
	maxHeader  = 8 << 10
)

// methods are those that can be sent. CONNECT and TRACE are for machines.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// readRequest reads the arguments of a call.
func readRequest(args json.RawMessage) (request, error) {
	wrong := func(field string, err error) (request, error) {
		return request{}, &tool.ArgumentError{Tool: name, Field: field, Err: err}
	}
	var in arguments
	if err := json.Unmarshal(args, &in); err != nil {
		return wrong("", err)
	}
	r := request{method: strings.ToUpper(in.Method)}
	if r.method == "" {
		r.method = "GET"
	}
	if !slices.Contains(methods, r.method) {
		return wrong("method", fmt.Errorf("%q is none of %s", in.Method, strings.Join(methods, ", ")))
	}
	var err error
	if r.place, err = readURL(r.method, in.URL); err != nil {
		return wrong("url", err)
	}
	if err := r.readBody(in.Body); err != nil {
		return wrong("body", err)
	}
	if err := r.readHeaders(in.Headers); err != nil {
		return wrong("headers", err)
	}
	return r, nil
}

// readBody takes a text as it is and anything else as JSON, laid out as it is shown.
func (r *request) readBody(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if len(raw) > maxBody {
		return fmt.Errorf("it has more than %d bytes", maxBody)
	}
	if slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, r.method) {
		return fmt.Errorf("%s sends none; leave it out", r.method)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		r.body, r.json = []byte(text), looksLikeJSON(text)
		return nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return err
	}
	r.body, r.json = b.Bytes(), true
	return nil
}

func looksLikeJSON(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && strings.ContainsRune("{[", rune(text[0])) && json.Valid([]byte(text))
}

// ours are headers that say how a request travels, or that make it another request than
// was judged.
var ours = []string{
	"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Te", "Trailer", "Upgrade", "Expect",
	"Accept-Encoding", "Http2-Settings", "X-Http-Method", "X-Http-Method-Override", "X-Method-Override",
	"X-Original-Url", "X-Rewrite-Url", "X-Forwarded-Host",
}

func (r *request) readHeaders(in map[string]string) error {
	if len(in) > maxHeaders {
		return fmt.Errorf("there are more than %d", maxHeaders)
	}
	for name, value := range in {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case !isToken(name):
			return fmt.Errorf("%q is no name of a header", name)
		case slices.Contains(ours, canonical) || strings.HasPrefix(canonical, "Proxy-"):
			return fmt.Errorf("%s cannot be set; leave it out", canonical)
		case len(value) > maxHeader || strings.ContainsFunc(value, isControl):
			return fmt.Errorf("the value of %s is too long or has control characters", canonical)
		case r.header(canonical) != "":
			return fmt.Errorf("%s comes twice", canonical)
		}
		r.headers = append(r.headers, header{canonical, strings.TrimSpace(value)})
	}
	if len(r.body) > 0 && r.header("Content-Type") == "" {
		r.headers = append(r.headers, header{"Content-Type", r.contentType()})
	}
	slices.SortFunc(r.headers, func(a, b header) int { return strings.Compare(a.name, b.name) })
	return nil
}

func (r *request) header(name string) string {
	for _, h := range r.headers {
		if h.name == name {
			return h.value
		}
	}
	return ""
}

func (r *request) contentType() string {
	if r.json {
		return "application/json"
	}
	return "text/plain; charset=utf-8"
}

func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

// isToken reports whether a name is one as headers have it.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
}
