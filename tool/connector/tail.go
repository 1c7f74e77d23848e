package connector

import (
	"strings"
	"sync"
)

// tailSize is how much of a server's standard error is kept.
const tailSize = 64 << 10

// A tail keeps the end of a stream. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

// text returns what is kept.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.data), "\uFFFD")
}

// said returns the last lines, as the end of a sentence.
func (t *tail) said() string {
	const most = 500
	text := strings.TrimSpace(t.text())
	if len(text) > most {
		text = "…" + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	if text == "" {
		return ""
	}
	return "; it last said: " + text
}
