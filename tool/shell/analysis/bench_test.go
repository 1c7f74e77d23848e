package analysis

import (
	"strings"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	world := project()
	for _, bm := range []struct{ name, text string }{
		{"plain", "git log --oneline -5"},
		{"typical", `cd src && grep -n "TODO" a.go | head -20; echo "done" > /dev/null`},
		{"loop", `for f in a b c; do cat "src/$f.go"; done`},
		{"script", "set -e\nP=src\nif [ -f \"$P/a.go\" ]; then\n\twc -l \"$P/a.go\"\nelse\n\techo none\nfi\n"},
		{"16k=true", strings.Repeat("true; ", 16<<10/6)},
		{"16k=cat", strings.Repeat("cat src/a.go | wc -l; ", 16<<10/22)},
		{"16k=subst", strings.Repeat(`x=$(cat src/a.go); `, 16<<10/19)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(bm.text, "/w", world); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWorst reads texts that were made to take long.
func BenchmarkWorst(b *testing.B) {
	world := project()
	for _, bm := range []struct{ name, text string }{
		{"eval", strings.Repeat("eval ", 3200) + "x"},
		{"functions", strings.Repeat("f() { f; f; }; ", 1000)},
		{"patterns", strings.Repeat("cat /*/../*/", 1300)},
		{"and", strings.Repeat("a && ", 3200) + "x"},
		{"loops", strings.Repeat("for x in a b; do ", 90) + "x" + strings.Repeat("; done", 90)},
		{"variables", strings.Repeat("a=$b;(c=1);", 1400)},
		{"braces", strings.Repeat("{1..255} ", 1800)},
		{"links", strings.Repeat("ln -s a b;cat b/c;", 900)},
		{"moves", strings.Repeat("mv a b;", 2300)},
		{"scripts", strings.Repeat(">a;./b;nosuch;", 1100)},
		{"declared", strings.Repeat("declare -i x;x=1;", 900)},
		{"nested", strings.Repeat("$(", 240) + "x" + strings.Repeat(")", 240)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Read(bm.text, "/w", world); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
