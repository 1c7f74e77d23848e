package signin

import (
	"errors"
	"io"
	"net/http"
)

// maxAnswer is how much of an answer of the issuer is read. Addresses and keys have some kilobytes.
const maxAnswer = 1 << 20

var errLong = errors.New("the answer of the sign-in service is too long")

// careful makes a client that reads no endless answers of the issuer, and follows no redirection with what it sends: the
// secret of this server and the code would go along.
func careful(c *http.Client) *http.Client {
	out := *c
	out.Transport = short{c.Transport}
	out.CheckRedirect = func(_ *http.Request, via []*http.Request) error {
		if via[0].Method != http.MethodGet || len(via) > 5 {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return &out
}

// short ends answers that are too long.
type short struct{ next http.RoundTripper }

func (s short) RoundTrip(r *http.Request) (*http.Response, error) {
	next := s.next
	if next == nil {
		next = http.DefaultTransport
	}
	answer, err := next.RoundTrip(r)
	if err == nil {
		answer.Body = &bounded{ReadCloser: answer.Body, left: maxAnswer}
	}
	return answer, err
}

type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(data []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLong
	}
	n, err := b.ReadCloser.Read(data[:min(len(data), b.left)])
	b.left -= n
	return n, err
}
