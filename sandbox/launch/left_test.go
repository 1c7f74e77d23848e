package launch_test

import (
	"testing"

	"github.com/assent-dev/assent/sandbox/launch"
)

func TestLeftBehind(t *testing.T) {
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"sleep"}, "1 process left in the background (sleep)"},
		{[]string{"sleep", "python3", "sleep"}, "3 processes left in the background (python3, sleep)"},
		{[]string{"f", "e", "d", "c", "b", "a"}, "6 processes left in the background (a, b, c, d, e, …)"},
		{[]string{"a) all is well\n\x1b[2J"}, "1 process left in the background (a??all?is?well???2J)"},
		{[]string{"\xff\u202e"}, "1 process left in the background (??)"},
	} {
		if got := launch.LeftBehind(tt.names); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.names, got, tt.want)
		}
	}
}
