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
		return &Act{Name: ActWriteFile, Target: PathTarget(file), Verdict: v}
	}
	for name, tt := range map[string]struct {
		code *Act
		rule string
		want bool
	}{
		"runs nothing":           {nil, "allow write_file(proj/**)", false},
		"writes ask":             {write(VerdictAsk, "proj/…"), "allow read_file(proj/**)", false},
		"writes are free":        {write(VerdictFree, "proj/…"), "deny read_file(x)", true},
		"a rule lets write":      {write(VerdictAsk, "proj/…"), "allow write_file(proj/**)", true},
		"a rule further down":    {write(VerdictAsk, "proj/…"), "allow write_file(proj/src/**)", true},
		"a rule elsewhere":       {write(VerdictAsk, "proj/…"), "allow write_file(other/**)", false},
		"free, but denied":       {write(VerdictFree, "proj/…"), "deny write_file(proj/**)", false},
		"the whole tool is free": {write(VerdictAsk, "proj/run.sh"), "allow write_file", true},
	} {
		rule, err := ParseRule(tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		set, err := CompileRules([]Rule{rule})
		if err != nil {
			t.Fatal(err)
		}
		act := Act{Name: ActShell, Target: CommandTarget("npm", "test", "--watch"), Prefix: 2, Verdict: VerdictAsk, Code: tt.code}
		call := Call{Tool: ActShell}
		got := Policy{Rules: set, Mode: ModeAsk}.Judge(Question{Call: &call, Acts: []Act{act}, Now: time.Now()}).Warnings
		warned := slices.ContainsFunc(got, func(w string) bool {
			return strings.HasPrefix(w, "npm test runs files in proj, which may be written") && strings.Contains(w, "sandbox")
		})
		if warned != tt.want || len(got) > 1 {
			t.Errorf("%s: %q", name, got)
		}
	}
}
