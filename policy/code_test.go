package policy

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWarnsOfWriteThenRun: a yes that is kept is warned of where the files that it runs may
// be written without asking.
func TestWarnsOfWriteThenRun(t *testing.T) {
	write := func(v Verdict, file string) *Act {
		return &Act{Name: WriteFile, Target: PathTarget(file), Verdict: v}
	}
	for name, tt := range map[string]struct {
		code *Act
		rule string
		want bool
	}{
		"runs nothing":           {nil, "allow write_file(proj/**)", false},
		"writes ask":             {write(Ask, "proj/…"), "allow read_file(proj/**)", false},
		"writes are free":        {write(Free, "proj/…"), "deny read_file(x)", true},
		"a rule lets write":      {write(Ask, "proj/…"), "allow write_file(proj/**)", true},
		"a rule further down":    {write(Ask, "proj/…"), "allow write_file(proj/src/**)", true},
		"a rule elsewhere":       {write(Ask, "proj/…"), "allow write_file(other/**)", false},
		"free, but denied":       {write(Free, "proj/…"), "deny write_file(proj/**)", false},
		"the whole tool is free": {write(Ask, "proj/run.sh"), "allow write_file", true},
	} {
		rule, err := ParseRule(tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		set, err := CompileRules([]Rule{rule})
		if err != nil {
			t.Fatal(err)
		}
		act := Act{Name: Shell, Target: CommandTarget("npm", "test", "--watch"), Prefix: 2, Verdict: Ask, Code: tt.code}
		call := Call{Tool: Shell}
		got := Policy{Rules: set, Mode: ModeAsk}.Judge(Question{Call: &call, Acts: []Act{act}, Now: time.Now()}).Warnings
		warned := slices.ContainsFunc(got, func(w string) bool {
			return strings.HasPrefix(w, "npm test runs files in proj, which may be written") && strings.Contains(w, "sandbox")
		})
		if warned != tt.want || len(got) > 1 {
			t.Errorf("%s: %q", name, got)
		}
	}
}
