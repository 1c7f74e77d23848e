package programs

import (
	"strings"
	"sync"
	"testing"
)

// TestParseErrors: what is wrong in a data file is said with its line.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"program a\n  frob x":                `fuzz.txt:2: "frob" is no line of an entry`,
		"program a\n  flag":                  "flag says nothing",
		"program a\n  flag x":                "is no spelling of a flag",
		"program a\n  flag -o write":         "write needs an argument",
		"program a\n  flag -o FILE wrote":    `there is no effect "wrote"`,
		"program a\n  flag -o -o":            "stands twice in a line",
		"program a\n  flag -o [A] B":         "is the only one",
		"program a\n  operands read* write*": "more than one of the operands repeats",
		"program a\n  operands reads":        `there is no role "reads"`,
		"program a\n  operands read if -x":   "if -x: no such flag above",
		"program a\n  flag -a -b -c -d -e -f -g -h -i\n  operands read if -a": "shares its line with 8 others",
		"program a\n  syntax gnus":                            `there is no syntax "gnus"`,
		"program a\n  special nobody":                         `no special function "nobody"`,
		"program a\n  like b":                                 "like b: there is no such entry",
		"program a\n  like a":                                 "too many entries are like one another",
		"program a\n  fixed text x":                           "want read, write, delete, connect or fetch",
		"program a\n  prefix two":                             "prefix takes one number",
		"program a\n  sub x\n    preset\n  sub x\n    preset": "subcommand x stands twice",
		"program a\n  sub x\n    frob x":                      `fuzz.txt:3: "frob"`,
	} {
		if err := parseText(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

// parseText reads the entry a of a file, with its subcommands.
func parseText(text string) error {
	slots := map[string]*slot{}
	scanFile("fuzz.txt", text, slots)
	e, err := parseSlot(slots["a"], func(n string) *slot { return slots[n] }, 0)
	if err != nil {
		return err
	}
	for _, sub := range e.subs {
		if err := sub.ready(); err != nil {
			return err
		}
	}
	return nil
}

// TestTogether looks up entries and subcommands from many places at once.
func TestTogether(t *testing.T) {
	var all sync.WaitGroup
	for range 8 {
		for _, line := range []string{"git log -p", "git remote add a b", "npm test", "tar tf a", "go test ./..."} {
			all.Go(func() {
				if r := reading(t, line); r.Program == "" {
					t.Errorf("%s: %s", line, r.Why)
				}
			})
		}
	}
	all.Wait()
}
