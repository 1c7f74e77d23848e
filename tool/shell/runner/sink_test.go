package runner

import (
	"os"
	"strings"
	"testing"
)

// A file that takes no more ends the command, and says why.
func TestFileThatCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &sink{file: full, max: 100, stopped: make(chan struct{})}
	s.write([]byte("x"), &window{})
	<-s.stopped
	s.write([]byte("y"), &window{}) // and does not end it twice
	s.close()
	if got := s.reason(); got != FileFailed || s.size != 0 {
		t.Errorf("reason %d after %d bytes", got, s.size)
	}
}

func TestLastLine(t *testing.T) {
	var w window
	for _, step := range []struct{ piece, want string }{
		{"one\ntw", "tw"},
		{"o", "two"},
		{"\n\n", "two"},
		{"10%\r20%\r", "20%"},
		{"\r\n", "20%"},
		{strings.Repeat("ä", 5000) + "\n" + strings.Repeat("é", 101), strings.Repeat("é", MaxLine/2)},
		{"\nlast", "last"},
	} {
		if got := string(w.add([]byte(step.piece))); got != step.want {
			t.Errorf("after %.20q: %q, want %q", step.piece, got, step.want)
		}
	}
	if got := new(window).add([]byte("\n\r\n")); len(got) != 0 {
		t.Errorf("no line: %q", got)
	}
}
