package screen_test

import (
	"testing"

	"github.com/assent-dev/assent/internal/screen"
)

func TestScreen(t *testing.T) {
	s := screen.New(10, 3)
	s.Draw("one\r\ntwo\x1b[1A\r\x1b[3CX\x1b[31m!\x1b[m\x1b]2;title\x07\a")
	if got := s.String(); got != "oneX!\ntwo\n" || s.Title != "title" || s.Bells != 1 {
		t.Errorf("screen %q, title %q, %d bells", got, s.Title, s.Bells)
	}
	s.Draw("\x1b[?25l")
	if s.Clean() {
		t.Error("a hidden cursor is taken for clean")
	}
	s.Draw("\x1b[?2") // a sequence that comes in two parts
	s.Draw("5h")
	if !s.Clean() {
		t.Errorf("modes %v", s.Modes)
	}
}

func TestWideCharactersAndMarks(t *testing.T) {
	s := screen.New(4, 2)
	s.Draw("日本e\u0301語")
	if got := s.String(); got != "日本\ne\u0301語\n" {
		t.Errorf("screen %q", got)
	}
}

func TestScrollingKeepsWhatWasAbove(t *testing.T) {
	s := screen.New(5, 2)
	s.Draw("1\r\n2\r\n3\x1b[H\x1b[Jx")
	if got := s.Flat(); got != "1 x" {
		t.Errorf("screen %q", got)
	}
}

func TestStyles(t *testing.T) {
	s := screen.New(20, 2)
	s.Draw("\x1b[1;32ma\x1b[39mb\x1b[38;5;196;48;2;1;2;3mc\x1b[md\x1b[7me\x1b[0m")
	want := []screen.Style{
		{Bold: true, Foreground: "2"}, {Bold: true}, {Bold: true, Foreground: "196", Background: "#010203"}, {}, {Reverse: true}, {},
	}
	for i, cell := range s.Visible()[0][:len(want)] {
		if cell.Style != want[i] {
			t.Errorf("cell %d %q: %+v, want %+v", i, cell.Text, cell.Style, want[i])
		}
	}
	if rows := s.Visible(); len(rows) != 2 || len(rows[1]) != 20 {
		t.Errorf("%d rows are visible, the second with %d cells", len(rows), len(rows[1]))
	}
}

func TestTheOtherScreen(t *testing.T) {
	s := screen.New(10, 3)
	s.Draw("one\r\ntwo\x1b[?1049h\x1b[Hother")
	if got := s.String(); got != "other\n" {
		t.Errorf("the other screen: %q", got)
	}
	s.Draw("\x1b[?1049l!")
	if got := s.String(); got != "one\ntwo!\n" || !s.Clean() {
		t.Errorf("back: %q", got)
	}
}
