package terminal

import (
	"bufio"
	"io"
	"strings"

	"github.com/assent-dev/assent/approval"
)

// A lineReader reads a line when one is wanted, and no more: what comes after belongs to
// somebody else. All but read is for whoever has the screen.
type lineReader struct {
	got    chan typedLine
	wanted chan struct{}
	// question is what the line was wanted for that has not come; nil if none is wanted. It
	// may be one that was withdrawn: reading a line cannot be taken back.
	question *approval.Request
}

type typedLine struct {
	text string
	err  error
}

// typedLines returns the reader of the approver's input.
func (a *Approver) typedLines() *lineReader {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lines == nil {
		a.lines = &lineReader{got: make(chan typedLine), wanted: make(chan struct{}, 1)}
		go a.lines.read(a.cfg.In)
	}
	return a.lines
}

// want asks for a line, unless one is asked for already.
func (r *lineReader) want(question *approval.Request) {
	if r.question == nil {
		r.question = question
		r.wanted <- struct{}{}
	}
}

// taken returns the question that a line was wanted for, after it came.
func (r *lineReader) taken() (question *approval.Request) {
	question, r.question = r.question, nil
	return question
}

func (r *lineReader) read(in io.Reader) {
	buffer := bufio.NewReader(in)
	for range r.wanted {
		l, err := buffer.ReadString('\n')
		r.got <- typedLine{strings.TrimRight(l, "\r\n"), err}
	}
}
