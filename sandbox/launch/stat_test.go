package launch_test

import (
	"testing"

	"github.com/assent-dev/assent/sandbox/launch"
)

func TestParseStat(t *testing.T) {
	for text, want := range map[string]launch.Stat{
		"12 (sleep) S 1 12 11 0 -1":       {Name: "sleep", State: 'S', Parent: 1, Group: 12, Session: 11},
		"12 (a) Z 1 (\n) R 3 4 5":         {Name: "a) Z 1 (\n", State: 'R', Parent: 3, Group: 4, Session: 5},
		"7 () Z 0 0 0 0":                  {State: 'Z'},
		"7 (\xff) X 2147483647 0 -1 0 99": {Name: "\xff", State: 'X', Parent: 2147483647, Session: -1},
	} {
		if got, ok := launch.ParseStat([]byte(text)); !ok || got != want {
			t.Errorf("%q: %+v %v, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "12", "12 (sleep", "12 ) S (", "12 (sleep) S 1 2", "12 (sleep) SS 1 2 3", "12 (sleep) S x 2 3"} {
		if got, ok := launch.ParseStat([]byte(text)); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
