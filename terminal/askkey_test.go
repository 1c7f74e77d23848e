package terminal

import (
	"strings"
	"testing"

	"github.com/creack/pty"
)

// Keys that come before the question could be read, or as it appears, answer nothing; nor does a paste,
// or a key of several bytes.
func TestAskKeyTakesNoKeyThatCameTooEarly(t *testing.T) {
	for _, c := range []struct {
		name, early, late string
		want              rune
	}{
		{"a yes that came early", "y", "n", 'n'},
		{"a yes in time", "", "y", 'y'},
		{"a paste that came early", "yes\ry", "y", 'y'},
		{"a paste, and asked again", "", "yes\r", 'n'},
		{"alt and a key", "", "\x1by", 0},
		{"enter alone, and asked again", "", "\r", 'n'},
		{"early, and ended", "y\x03", "", 0},
		{"ended", "", "\x04", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			person, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer person.Close()
			defer tty.Close()
			if _, err := person.WriteString(c.early); err != nil { // before it is asked
				t.Fatal(err)
			}
			go func() {
				var shown strings.Builder
				buffer := make([]byte, 256)
				early, late, again := c.early, c.late, "n"
				for {
					n, err := person.Read(buffer)
					shown.Write(buffer[:n])
					if early != "" && strings.Contains(shown.String(), "Sure?") {
						_, _ = person.WriteString(early) // the terminal may be gone by now
						early = ""
					}
					if late != "" && strings.Contains(shown.String(), "Sure? [y/n] ") {
						_, _ = person.WriteString(late)
						late = ""
					}
					if again != "" && strings.Count(shown.String(), "Sure? [y/n] ") == 2 {
						_, _ = person.WriteString(again)
						again = ""
					}
					if err != nil {
						return
					}
				}
			}()
			if got, err := AskKey(tty, tty, "Sure?", "yn"); got != c.want || err != nil {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}
