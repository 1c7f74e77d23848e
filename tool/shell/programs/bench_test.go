package programs

import "testing"

// BenchmarkInterpret reads what people type, once its entry is parsed.
func BenchmarkInterpret(b *testing.B) {
	for _, line := range []string{"ls -la src", "grep -rn --include=*.go TODO src", "find . -name x -exec rm {} +", "git log --oneline -20", "tar czf a.tgz src", "sed -n 1,5p f"} {
		all := words(b, line)
		b.Run(all[0].Text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Interpret(all[0].Text, all[1:])
			}
		})
	}
}

// BenchmarkParse reads an entry for the first time.
func BenchmarkParse(b *testing.B) {
	for _, name := range []string{"ls", "sort", "git"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			s := find(name)
			for b.Loop() {
				if _, err := parseSlot(s, find, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkIndex finds all entries, as the first lookup does.
func BenchmarkIndex(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		scanFiles()
	}
}
