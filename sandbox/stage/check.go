package stage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
)

const (
	// maxHello is how long a TLS greeting, or the head of a request, may be.
	maxHello = 64 << 10
	// maxBlank is how much blank space may come before a request.
	maxBlank = 1 << 10
)

// A stream is what a command sends to a host, while it is looked at. What was read and not yet
// sent on stays in buf.
type stream struct {
	from io.Reader
	to   io.Writer
	name string // the name that was looked up
	sent *int64
	// first waits for the host's first n bytes, and returns what there is of them when it has
	// no more to say.
	first func(n int) []byte

	buf []byte
}

// check looks at what is sent until the rest may pass unseen, or is at its end (io.EOF). Each
// byte is passed on as it came, once it is known to be for the right host.
func (s *stream) check() error {
	for {
		kind, known := sniff(s.buf)
		switch {
		case !known:
		case kind == kindTLS:
			return s.checkTLS()
		case kind == kindHTTP:
			return s.checkHTTP()
		case kind == kindBlank:
			return s.refuse("blank lines without end")
		case kind == kindOldTLS:
			return s.refuse("TLS without a name of a host")
		default:
			return s.flush(len(s.buf))
		}
		if err := s.more(); err != nil {
			return errors.Join(s.flush(len(s.buf)), err)
		}
	}
}

// more reads at least one byte more.
func (s *stream) more() error {
	room := make([]byte, 4096)
	n, err := s.from.Read(room)
	s.buf = append(s.buf, room[:n]...)
	if n > 0 {
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// flush sends the first bytes of the buffer on.
func (s *stream) flush(n int) error {
	written, err := s.to.Write(s.buf[:n])
	*s.sent += int64(written)
	s.buf = s.buf[n:]
	return err
}

// pass sends n bytes on, from the buffer and then directly.
func (s *stream) pass(n int64) error {
	if have := min(n, int64(len(s.buf))); have > 0 {
		if err := s.flush(int(have)); err != nil {
			return err
		}
		n -= have
	}
	if n == 0 {
		return nil
	}
	copied, err := io.Copy(s.to, io.LimitReader(s.from, n))
	*s.sent += copied
	if err == nil && copied < n {
		err = io.EOF
	}
	return err
}

// maxName is how much of a name that was not looked up is told: no name is longer.
const maxName = 253

// A refusal is why a connection was cut.
type refusal struct{ words string }

func (r *refusal) Error() string { return r.words }

func (s *stream) refuse(what string) error {
	return &refusal{fmt.Sprintf("the command looked up %s, and sent %s; the connection was cut", s.name, what)}
}

func (s *stream) refuseName(where, name string) error {
	if len(name) > maxName {
		name = name[:maxName] + "…"
	}
	return s.refuse(fmt.Sprintf("a %s for %q", where, name))
}

// A kind is what the first bytes of a connection look like.
type kind int

const (
	kindOther kind = iota
	kindTLS
	kindOldTLS
	kindHTTP
	kindBlank
)

// methods are the words that begin a request, in any version.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "PRI"}

// sniff says what the first bytes are, if that is known yet. It takes too much for HTTP rather
// than too little: what is then no proper request is refused.
func sniff(data []byte) (kind, bool) {
	if len(data) == 0 {
		return kindOther, false
	}
	if data[0] == recordHandshake {
		return kindTLS, true
	}
	if data[0] == recordChange || data[0] == recordAlert {
		return sniffRecord(data)
	}
	if data[0]&0x80 != 0 && !isBlank(data[0]) { // version 2 of SSL: a length, then 1 and a version
		if len(data) < 4 {
			return kindOther, false
		}
		if data[2] == 1 && data[3] <= 3 {
			return kindOldTLS, true
		}
		return kindOther, true
	}
	line := data
	for len(line) > 0 && (line[0] == '\n' || isBlank(line[0])) {
		line = line[1:]
	}
	if len(data)-len(line) > maxBlank {
		return kindBlank, true
	}
	word, ended := line, false
	for i, c := range line {
		switch {
		case c == '\n':
			return sniffLine(line[:i]), true
		case !isBlank(c) && c < ' ', c == 0x7f:
			return kindOther, true
		case !ended && isBlank(c):
			word, ended = line[:i], true
		case !ended && !isToken(c):
			return kindOther, true
		}
	}
	if ended && isMethod(word) || len(line) > maxHello {
		return kindHTTP, true
	}
	return kindOther, false
}

// sniffRecord tells a record of TLS that is no greeting from something else that begins like it.
// Some servers pass over a warning that comes before the greeting.
func sniffRecord(data []byte) (kind, bool) {
	const sizeAt, bodyAt, oldest = 3, 5, 0x10
	size := data[0] - recordChange + 1 // 1 of a change, 2 of an alert; each begins with 1, or with 2 if it is an alert
	for i, c := range data[:min(len(data), bodyAt+1)] {
		if i == 1 && c >= oldest || i == sizeAt && c != 0 || i == sizeAt+1 && c != size ||
			i == bodyAt && (c == 0 || c > size) {
			return kindOther, true
		}
	}
	if len(data) > bodyAt {
		return kindTLS, true
	}
	return kindOther, false
}

// isBlank reports whether some server takes a byte for what divides the words of a first line.
func isBlank(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\v', '\f', 0x1c, 0x1d, 0x1e, 0x1f, 0x85, 0xa0:
		return true
	}
	return false
}

func sniffLine(line []byte) kind {
	word := line
	for i, c := range line {
		if isBlank(c) {
			word = line[:i]
			break
		}
	}
	if isMethod(word) || hasVersion(line) {
		return kindHTTP
	}
	return kindOther
}

// hasVersion reports whether a line names a version of HTTP somewhere.
func hasVersion(line []byte) bool { return bytes.Contains(bytes.ToUpper(line), []byte("HTTP/")) }

func isMethod(word []byte) bool {
	for _, m := range methods {
		if foldEqual(m, string(word)) {
			return true
		}
	}
	return false
}

func isToken(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// same reports whether what a request or greeting names is the name that was looked up.
func (s *stream) same(name string) bool {
	return foldEqual(strings.TrimSuffix(name, "."), s.name)
}

// foldEqual compares as protocols do: letters beyond ASCII, of which some fold to one of it, are
// never equal.
func foldEqual(a, b string) bool {
	for i := range len(a) {
		if a[i] >= 0x80 {
			return false
		}
	}
	return strings.EqualFold(a, b)
}

// Numbers of TLS.
const (
	recordChange    = 20
	recordAlert     = 21
	recordHandshake = 22
	recordData      = 23
	clientHello     = 1
	serverHello     = 2
	serverName      = 0
	hostNameType    = 0
	maxRecord       = 1<<14 + 256
	maxGreetings    = 3
)

// retry is what a host's answer has in the place of its random part if it asks for another
// greeting (RFC 8446, 4.1.3).
const retry = "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c"

// checkTLS looks at the greeting, and at the second one that a host may ask for: it could name
// another host.
func (s *stream) checkTLS() error {
	for greeted := range maxGreetings {
		size, err := s.hello()
		if err != nil {
			return err
		}
		if err := s.flush(size); err != nil {
			return err
		}
		if err := s.fill(1); err != nil {
			return err
		}
		asked, known := askedAgain(s.first(answerSize))
		if known && (!asked || greeted > 0) { // a host asks once; all that follows is its own
			return s.flush(len(s.buf))
		}
		if again, err := s.greetsAgain(asked); !again || err != nil {
			return errors.Join(s.flush(len(s.buf)), err)
		}
	}
	return s.refuse("too many TLS greetings")
}

// answerSize is how much of a host's answer to a greeting is looked at: up to its random part.
const answerSize = 5 + 4 + 2 + len(retry)

// askedAgain reports whether a host's answer asks for another greeting, if it is an answer.
func askedAgain(answer []byte) (asked, known bool) {
	if len(answer) < answerSize || answer[0] != recordHandshake || answer[5] != serverHello {
		return false, false
	}
	return string(answer[answerSize-len(retry):]) == retry, true
}

// greetsAgain reports whether the next message is another greeting. Records that are none may
// come before it: marks of no meaning, warnings, and data that was sent too early, which the host
// passes over.
func (s *stream) greetsAgain(asked bool) (bool, error) {
	for {
		if err := s.fill(5); err != nil {
			return false, err
		}
		size := int(s.buf[3])<<8 + int(s.buf[4])
		switch {
		case s.buf[0] == recordHandshake && asked:
			return true, nil
		case s.buf[0] == recordHandshake:
			// Other messages may be encrypted by now, and begin like this one by chance; but
			// not with a length and a version.
			if err := s.fill(5 + min(size, 6)); err != nil {
				return false, err
			}
			text := s.buf[5 : 5+min(size, 6)]
			return size < 6 || text[0] == clientHello && text[1] == 0 && text[4] == 3, nil
		case s.buf[0] < recordChange || s.buf[0] > recordData || size > maxRecord:
			if asked {
				return false, s.refuse("something that begins like TLS and is not")
			}
			return false, nil
		}
		if err := s.pass(int64(5 + size)); err != nil {
			return false, err
		}
	}
}

// fill reads until there are so many bytes.
func (s *stream) fill(n int) error {
	for len(s.buf) < n {
		if err := s.more(); err != nil {
			return err
		}
	}
	return nil
}

// hello reads a greeting, which may come in pieces, and checks the name in it. It returns how
// much of the buffer it is.
func (s *stream) hello() (int, error) {
	at, hello := 0, []byte(nil)
	for {
		need := 4
		if len(hello) >= 4 {
			need = 4 + int(hello[1])<<16 + int(hello[2])<<8 + int(hello[3])
			if hello[0] != clientHello || need > maxHello {
				return 0, s.refuse("something that begins like TLS and is not")
			}
		}
		if len(hello) >= need && need > 4 {
			break
		}
		for len(s.buf) < at+5 {
			if err := s.moreHello(); err != nil {
				return 0, err
			}
		}
		size := int(s.buf[at+3])<<8 + int(s.buf[at+4])
		if s.buf[at] != recordHandshake || s.buf[at+1] != 3 || size == 0 || size > maxRecord {
			return 0, s.refuse("something that begins like TLS and is not")
		}
		for len(s.buf) < at+5+size {
			if err := s.moreHello(); err != nil {
				return 0, err
			}
		}
		hello = append(hello, s.buf[at+5:at+5+size]...)
		at += 5 + size
	}
	name, ok := helloName(hello[4:])
	switch {
	case !ok:
		return 0, s.refuse("a TLS greeting that is malformed")
	case name == "":
		return 0, s.refuse("a TLS greeting without the name of a host (SNI)")
	case !s.same(name):
		return 0, s.refuseName("TLS greeting", name)
	}
	return at, nil
}

func (s *stream) moreHello() error {
	if len(s.buf) > maxHello+maxRecord {
		return s.refuse("a TLS greeting that is too long")
	}
	return s.more()
}

// helloName returns the host's name in a TLS greeting, empty if it has none; false if it is not
// as it must be.
func helloName(hello []byte) (string, bool) {
	d := hello
	ok := true
	take := func(n int) []byte {
		if n > len(d) {
			ok, n = false, 0
		}
		out := d[:n]
		d = d[n:]
		return out
	}
	number := func(size int) int {
		n := 0
		for _, b := range take(size) {
			n = n<<8 | int(b)
		}
		return n
	}
	take(2 + 32)    // version, random
	take(number(1)) // session
	take(number(2)) // ciphers
	take(number(1)) // compressions
	if !ok || len(d) == 0 {
		return "", ok
	}
	if number(2) != len(d) {
		return "", false
	}
	name, seen := "", false
	for ok && len(d) > 0 {
		kind := number(2)
		value := take(number(2))
		if !ok || kind != serverName {
			continue
		}
		// One list with one name: a second one could be what the host goes by.
		if seen || len(value) < 5 || int(value[0])<<8+int(value[1]) != len(value)-2 || value[2] != hostNameType ||
			int(value[3])<<8+int(value[4]) != len(value)-5 {
			return "", false
		}
		name, seen = string(value[5:]), true
		if name == "" {
			return "", false
		}
	}
	return name, ok
}

// statusSwitching is how a host begins to answer that leaves HTTP.
const statusSwitching = "HTTP/1.1 101"

// checkHTTP looks at each request on the connection.
func (s *stream) checkHTTP() error {
	for first := true; ; first = false {
		head, err := s.head()
		if err != nil {
			return err
		}
		r, err := s.request(head)
		if err != nil {
			return err
		}
		if err := s.flush(len(head)); err != nil {
			return err
		}
		switch {
		case r.chunked:
			err = s.chunks()
		case r.length > 0:
			err = s.pass(r.length)
		}
		if err != nil {
			return err
		}
		// The host may take up the offer to leave HTTP, or not. It is the answer to the first
		// request for certain only if there was no other before.
		if r.websocket && first && string(s.first(len(statusSwitching))) == statusSwitching {
			return s.flush(len(s.buf))
		}
	}
}

// head reads until the end of a request's head and returns it. It stays in the buffer.
func (s *stream) head() ([]byte, error) {
	for {
		// Empty lines before a request are none of it, but hosts skip them.
		skip := len(s.buf) - len(bytes.TrimLeft(s.buf, "\r\n"))
		if line, _, ok := bytes.Cut(s.buf[skip:], []byte("\n")); ok && !hasVersion(line) {
			return nil, s.refuse("a request without a version of HTTP")
		}
		end := endOfHead(s.buf[skip:])
		switch {
		case skip+end > maxHello, end == 0 && len(s.buf) > maxHello:
			return nil, s.refuse("a request whose head is too long")
		case end > 0:
			return s.buf[:skip+end], nil
		}
		if err := s.more(); err != nil {
			if errors.Is(err, io.EOF) && len(s.buf) > 0 {
				return nil, s.refuse("a request that ends in its head")
			}
			return nil, err
		}
	}
}

// endOfHead returns where the empty line behind a head ends, 0 if it is not there yet.
func endOfHead(data []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return 0
		}
		line := data[at : at+i]
		at += i + 1
		if len(line) == 0 || len(line) == 1 && line[0] == '\r' {
			return at
		}
	}
}

// A request is what of a request's head matters here.
type request struct {
	length    int64
	chunked   bool
	websocket bool
}

// request reads a head, strictly: what two programs could read differently is refused.
func (s *stream) request(head []byte) (request, error) {
	var r request
	malformed := func(what string) (request, error) { return r, s.refuse("a request with " + what) }
	text := strings.TrimLeft(string(head), "\r\n")
	ending := "\n"
	if strings.HasSuffix(text, "\r\n") {
		ending = "\r\n"
	}
	lines := strings.Split(strings.TrimSuffix(text, ending+ending), ending)
	for _, line := range lines {
		for i := range len(line) {
			if c := line[i]; c < ' ' && c != '\t' || c == 0x7f {
				return malformed("control characters in its head")
			}
		}
	}
	words := strings.Split(lines[0], " ")
	odd := func(c rune) bool { return c > 0x7f || !isToken(byte(c)) }
	if len(words) != 3 || words[0] == "" || strings.ContainsFunc(words[0], odd) {
		return malformed("a first line that is malformed")
	}
	method, target, version := words[0], words[1], words[2]
	if version != "HTTP/1.1" && version != "HTTP/1.0" {
		return malformed(fmt.Sprintf("the version %q: only HTTP/1 can be checked without TLS", version))
	}
	if foldEqual(method, "CONNECT") {
		return r, s.refuse("a CONNECT request, which would lead on to another host")
	}
	hosts := []string{}
	switch scheme, rest, absolute := strings.Cut(target, "://"); {
	case strings.HasPrefix(target, "/"), target == "*":
	case absolute && (foldEqual(scheme, "http") || foldEqual(scheme, "https")):
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			rest = rest[:i]
		}
		hosts = append(hosts, rest)
	default:
		return malformed("a target that is malformed")
	}
	var lengths, codings, named int
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(line, ":")
		if !ok || name == "" || strings.ContainsFunc(name, func(c rune) bool { return c > 0x7f || !isToken(byte(c)) }) {
			return malformed("a header that is malformed")
		}
		value = strings.Trim(value, " \t")
		switch strings.ToLower(name) {
		case "host":
			named++
			hosts = append(hosts, value)
		case "content-length":
			lengths++
			n, err := strconv.ParseUint(value, 10, 62)
			if err != nil || value[0] == '+' {
				return malformed("a length that is malformed")
			}
			r.length = int64(n)
		case "transfer-encoding":
			codings++
			r.chunked = foldEqual(value, "chunked")
			if !r.chunked || version == "HTTP/1.0" {
				return malformed(fmt.Sprintf("the transfer coding %q", value))
			}
		case "upgrade":
			// Others pass, too, and what follows is still read as HTTP: an h2c that the host
			// agreed to goes on with a first line that is refused.
			r.websocket = foldEqual(value, "websocket")
		}
	}
	if lengths+codings > 1 {
		return malformed("more than one length")
	}
	if named > 1 {
		return malformed("more than one Host")
	}
	if len(hosts) == 0 {
		return malformed("no Host")
	}
	for _, h := range hosts {
		if !s.same(withoutPort(h)) {
			return r, s.refuseName("request", h)
		}
	}
	return r, nil
}

// withoutPort returns the host of a Host header, as it is.
func withoutPort(h string) string {
	if i := strings.LastIndexByte(h, ':'); i >= 0 && strings.Trim(h[i+1:], "0123456789") == "" {
		h = h[:i]
	}
	if a, err := netip.ParseAddr(strings.Trim(h, "[]")); err == nil {
		return a.String()
	}
	return h
}

// chunks passes a body in chunks on.
func (s *stream) chunks() error {
	for {
		line, err := s.line()
		if err != nil {
			return err
		}
		digits := strings.TrimSuffix(line, "\r\n")
		size, err := strconv.ParseUint(digits, 16, 62)
		if err != nil || digits == line || len(digits) > 15 || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
			return s.refuse("a body whose chunks are malformed")
		}
		if err := s.flush(len(line)); err != nil {
			return err
		}
		if size == 0 {
			return s.trailers()
		}
		if err := s.pass(int64(size)); err != nil {
			return err
		}
		if end, err := s.line(); err != nil {
			return err
		} else if end != "\r\n" {
			return s.refuse("a body whose chunks are malformed")
		}
		if err := s.flush(2); err != nil {
			return err
		}
	}
}

func (s *stream) trailers() error {
	for total := 0; total < maxHello; {
		line, err := s.line()
		if err != nil {
			return err
		}
		text, ok := strings.CutSuffix(line, "\r\n")
		if name, _, colon := strings.Cut(text, ":"); !ok || text != "" && (!colon || name == "" || !isToken(name[0])) ||
			strings.Contains(text, "\r") {
			return s.refuse("a body whose end is malformed")
		}
		if err := s.flush(len(line)); err != nil {
			return err
		}
		if text == "" {
			return nil
		}
		total += len(line)
	}
	return s.refuse("a body whose end is too long")
}

// line reads a line, with what ends it. It stays in the buffer.
func (s *stream) line() (string, error) {
	for {
		if i := bytes.IndexByte(s.buf, '\n'); i >= 0 {
			return string(s.buf[:i+1]), nil
		}
		if len(s.buf) > maxHello {
			return "", s.refuse("a line that is too long")
		}
		if err := s.more(); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return "", err
		}
	}
}
