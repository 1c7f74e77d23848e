package stage

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

// greeting is a TLS greeting for a name.
func greeting(t testing.TB, name string) []byte {
	t.Helper()
	inside, outside := net.Pipe()
	defer outside.Close()
	go func() {
		defer inside.Close()
		_ = tls.Client(inside, &tls.Config{ServerName: name, InsecureSkipVerify: name == ""}).Handshake() // nobody answers
	}()
	head := make([]byte, 5)
	if _, err := io.ReadFull(outside, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, int(head[3])<<8+int(head[4]))
	if _, err := io.ReadFull(outside, body); err != nil {
		t.Fatal(err)
	}
	return append(head, body...)
}

// inPieces has each byte of a greeting in a record of its own.
func inPieces(hello []byte) string {
	var b strings.Builder
	for _, c := range hello[5:] {
		b.WriteString("\x16\x03\x03\x00\x01" + string([]byte{c}))
	}
	return b.String()
}

// look checks what is sent for good.example to a host that says answer, and returns what is passed on.
func look(from io.Reader, answer string) (string, error) {
	var to bytes.Buffer
	var sent int64
	s := &stream{from: from, to: &to, name: "good.example", sent: &sent, first: func(n int) []byte { return []byte(answer)[:min(n, len(answer))] }}
	err := s.check()
	if err == nil {
		_, err = io.Copy(&to, from)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return to.String(), err
}

// TestCheck sends text as a whole and byte by byte; all of it is passed on, or the part that may.
func TestCheck(t *testing.T) {
	const get = "GET / HTTP/1.1\r\nHost: good.example\r\n\r\n"
	const change = "\x14\x03\x03\x00\x01\x01"
	hello := string(greeting(t, "good.example"))
	const early, warning = "\x17\x03\x03\x00\x03abc", "\x15\x03\x01\x00\x02\x01\x5a"
	const accepted, again = "\x16\x03\x03\x00\x58\x02\x00\x00\x54\x03\x03" + "0123456789abcdef0123456789abcdef", "\x16\x03\x03\x00\x58\x02\x00\x00\x54\x03\x03" + retry
	other := string(greeting(t, "other.example"))
	for _, tt := range []struct{ text, answer, refused string }{
		{text: hello + change + early + "whatever", answer: accepted},
		{text: hello + change + early + hello + change + early + "whatever", answer: again},
		{text: hello + early + change + change + other, answer: again, refused: `"other.example"`},
		{text: hello + change + change + other, refused: `"other.example"`},
		{text: hello + warning + other, refused: `"other.example"`},
		{text: hello + early + other, refused: `"other.example"`},
		{text: hello + change + "whatever", answer: again, refused: "not"},
		{text: hello + "\x16\x03\x03\x00\x07\x10\x00\x00\x03abc" + change, answer: again, refused: "not"},
		{text: warning + other, refused: "not"},
		{text: "\x15\x00\x01\x00\x02\x01\x5a" + other, refused: "not"},
		{text: change + other, refused: "not"},
		{text: "\x15\x01\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\xdd\x07\x00\x00"}, // MongoDB
		{text: "\x14\x03\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xdd\x07\x00\x00"},
		{text: "GET\f/ HTTP/1.1\r\nHost: other.example\r\n\r\n", refused: "control"},
		{text: "\xa0GET / HTTP/1.1\r\nHost: other.example\r\n\r\n", refused: "first line"},
		{text: "MERGE\x85/ HTTP/1.1\r\nHost: other.example\r\n\r\n", refused: "first line"},
		{text: "GET / HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chun\u212aed\r\n\r\n0\r\n\r\n", refused: "transfer coding"},
		{text: "GET / HTTP/1.1\r\nHost: " + strings.Repeat("x", maxHello/2) + "\r\n\r\n", refused: "xx…\""},
		{text: strings.Repeat("\n", 2*maxBlank), refused: "blank"},
		{text: strings.Repeat(" ", 2*maxBlank), refused: "blank"},
		{text: get},
		{text: get + get},
		{text: "GET / HTTP/1.0\nhost:GOOD.example:8080\n\n"},
		{text: "OPTIONS * HTTP/1.1\r\nHost: good.example.\r\n\r\n"},
		{text: "POST / HTTP/1.1\r\nHost: good.example\r\nContent-Length: 5\r\n\r\nGET /" + get},
		{text: "POST / HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n" + get},
		{text: hello},
		{text: hello + "whatever"},
		{text: hello + change + hello + "whatever"},
		{text: hello + change + "\x16\x03\x03\x00\x28" + "\x01" + strings.Repeat("\x05", 39) + "whatever"},
		{text: hello + "\x16\x03\x03\x00\x07\x10\x00\x00\x03abc" + change + "\x16\x03\x03\x00\x01x"},
		{text: hello + change + string(greeting(t, "other.example")), refused: `"other.example"`},
		{text: hello + string(greeting(t, "other.example")), refused: `"other.example"`},
		{text: hello + change + inPieces(greeting(t, "other.example")), refused: `"other.example"`},
		{text: hello + hello + hello + hello, refused: "too many"},
		{text: "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n\x00\x00"},
		{text: "0032git-upload-pack /x.git\x00host=other.example\x00"},
		{text: "*1\r\n$4\r\nPING\r\n"},
		{text: "\x00\x00\x00\x08\x04\xd2\x16\x2f"},
		{text: "@RSYNCD: 31.0\n"},
		{text: ""},
		{text: "x"},
		{text: "EHLO other.example\r\nMAIL FROM:<a@b>\r\n"},
		{text: string(greeting(t, "other.example")), refused: `"other.example"`},
		{text: string(greeting(t, "")), refused: "without the name"},
		{text: hello[:30], refused: ""},
		{text: "get / http/1.1\r\nhost: good.example\r\n\r\n", refused: "version"},
		{text: "GET / HTTP/1.1\r\nHost: good.example\r\nContent-Length: 0x5\r\n\r\n", refused: "length"},
		{text: "GET / HTTP/1.1\r\nHost: good.example\r\nContent-Length:\r\n\r\n", refused: "length"},
		{text: "GET / HTTP/1.1\r\nHost: \r\n\r\n", refused: `""`},
		{text: "GET / HTTP/1.1\r\nHost: good.example.evil\r\n\r\n", refused: "evil"},
		{text: "GET / HTTP/1.1\r\nHost: good.example:80:90\r\n\r\n", refused: "80:90"},
		{text: "GET  / HTTP/1.1\r\nHost: good.example\r\n\r\n", refused: "first line"},
		{text: "GET evil HTTP/1.1\r\nHost: good.example\r\n\r\n", refused: "target"},
		{text: "GET ftp://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n", refused: "target"},
		{text: "GET / HTTP/1.1\r\nHost: good.example\r\nX\x00: y\r\n\r\n", refused: "control"},
		{text: "GET / HTTP/1.1\r\nX: " + strings.Repeat("x", maxHello) + "\r\nHost: good.example\r\n\r\n", refused: "too long"},
		{text: "\x16\x03\x01\x40\x00\x01\x00\xff\xff" + strings.Repeat("x", 1<<14), refused: "not"},
		{text: "\x16\x03\x01\x00\x00", refused: "not"},
		{text: "GET / HTTP/1.1\r\nHost: goo", refused: "ends in its head"},
	} {
		for _, from := range []io.Reader{strings.NewReader(tt.text), iotest.OneByteReader(strings.NewReader(tt.text))} {
			got, err := look(from, tt.answer)
			var r *refusal
			switch refused := errors.As(err, &r); {
			case refused != (tt.refused != ""):
				t.Errorf("%.60q: %v", tt.text, err)
			case refused && len(r.words) > 2*maxName:
				t.Errorf("%.60q: refused in %d bytes", tt.text, len(r.words))
			case refused && (!strings.Contains(r.words, tt.refused) || !strings.Contains(r.words, "good.example")):
				t.Errorf("%.60q: refused for %q", tt.text, r.words)
			case !refused && got != tt.text && tt.text != hello[:30]:
				t.Errorf("%.60q: passed on as %.60q", tt.text, got)
			case !strings.HasPrefix(tt.text, got):
				t.Errorf("%.60q: passed on as %.60q", tt.text, got)
			}
		}
	}
}

// FuzzCheck sends whatever a command could. What is passed on is a beginning of it; and what a
// real server of HTTP reads in it is for the right host.
func FuzzCheck(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: good.example\r\n\r\n"))
	f.Add([]byte("POST / HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: evil\r\n\r\n"))
	f.Add([]byte("POST / HTTP/1.1\r\nHost: good.example\r\nContent-Length: 3\r\n\r\nabcGET http://evil/ HTTP/1.1\r\nHost: good.example\r\n\r\n"))
	f.Add([]byte("\r\nGET / HTTP/1.0\nHost: evil\n\n"))
	f.Add(greeting(f, "good.example"))
	f.Add(greeting(f, "evil.example"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _ := look(bytes.NewReader(data), "")
		if !strings.HasPrefix(string(data), got) {
			t.Fatalf("%q is passed on as %q", data, got)
		}
		serve(t, got)
	})
}

// serve has package http read what was passed on, as its server does.
func serve(t *testing.T, text string) {
	t.Helper()
	in := bufio.NewReader(strings.NewReader(text))
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if !strings.EqualFold(strings.TrimSuffix(withoutPort(r.Host), "."), "good.example") {
			t.Fatalf("a server reads %q as for %q", text, r.Host)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
	}
}
