package connector

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/tool"
)

// remote is the way to a server over HTTP.
func (c *Connector) remote() mcp.Transport {
	client := http.Client{}
	if c.opts.HTTP != nil {
		client = *c.opts.HTTP
	}
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	client.Transport = &headed{next: next, headers: c.cfg.Headers, max: int64(c.opts.MaxMessage)}
	client.CheckRedirect = stayThere
	return &mcp.StreamableClientTransport{Endpoint: c.cfg.URL, HTTPClient: &client, MaxEventSize: c.opts.MaxMessage}
}

// stayThere follows no redirect to another host: the headers hold secrets, and the server
// that was agreed to is the one that is named.
func stayThere(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if r.URL.Host != first.Host || r.URL.Scheme != first.Scheme {
		return fmt.Errorf("it redirects to another host, %s", r.URL.Host)
	}
	if len(via) >= 10 {
		return errors.New("it redirects too often")
	}
	return nil
}

// headed adds headers to requests and limits what is read of answers.
type headed struct {
	next    http.RoundTripper
	headers map[string]string
	max     int64
}

func (h *headed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.headers {
		r.Header.Set(name, value)
	}
	response, err := h.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	// A stream of events may go on forever; the SDK limits each of them.
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		response.Body = &limited{ReadCloser: response.Body, left: h.max}
	}
	response.Body = &marked{ReadCloser: response.Body, in: bufio.NewReader(response.Body), max: int(h.max)}
	response.ContentLength = -1 // it may grow
	return response, nil
}

// marked passes on a body line by line, marked so that nothing in it speaks for a person. No string
// of JSON goes over the end of a line, in a body or in a stream of events.
type marked struct {
	io.ReadCloser
	in   *bufio.Reader
	max  int
	line []byte // read and not passed on
	err  error  // what comes after it
}

func (m *marked) Read(p []byte) (int, error) {
	for len(m.line) == 0 {
		if m.err != nil {
			return 0, m.err
		}
		m.next()
	}
	n := copy(p, m.line)
	m.line = m.line[n:]
	return n, nil
}

// next reads a line with its end, which in a stream of events may be a carriage return alone.
func (m *marked) next() {
	var line []byte
	for {
		b, err := m.in.ReadByte()
		if err != nil {
			m.err = err
			break
		}
		if line = append(line, b); b == '\n' || b == '\r' {
			break
		}
		if len(line) > m.max {
			m.err = errors.New("a line of the answer is larger than may be")
			return
		}
	}
	m.line = tool.QuoteNotesJSON(line)
}

// limited fails where a body is longer than it may be.
type limited struct {
	io.ReadCloser
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errors.New("the answer is larger than may be")
	}
	return n, err
}
