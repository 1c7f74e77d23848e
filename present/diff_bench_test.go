package present

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// scattered returns 10 MB of text and the same with 100 lines changed.
func scattered() (old, new string) {
	r := rand.New(rand.NewPCG(1, 2))
	lines := make([]string, 240_000)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d of the text, with %x in it\n", i, r.Uint64N(1<<40))
		if i%10 == 9 {
			lines[i] = "}\n"
		}
	}
	old = strings.Join(lines, "")
	for i := range 100 {
		lines[i*2400+7] = strings.Replace(lines[i*2400+7], "text", "book", 1)
	}
	return old, strings.Join(lines, "")
}

// disjoint returns two texts of n lines with no line in common.
func disjoint(n int) (old, new string) {
	var a, b strings.Builder
	for i := range n {
		fmt.Fprintf(&a, "old line %d\n", i)
		fmt.Fprintf(&b, "new line %d\n", i)
	}
	return a.String(), b.String()
}

// fewValues returns two texts of n lines drawn from the same few values.
func fewValues(n, values int) (old, new string) {
	r := rand.New(rand.NewPCG(3, 4))
	text := func() string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "value %d\n", r.IntN(values))
		}
		return b.String()
	}
	return text(), text()
}

// BenchmarkDiff10MB is to be held against BenchmarkGitDiff10MB.
func BenchmarkDiff10MB(b *testing.B) {
	old, new := sides(scattered())
	for b.Loop() {
		DiffView(old, new)
	}
}

func BenchmarkGitDiff10MB(b *testing.B) {
	old, new := scattered()
	dir := b.TempDir()
	write(b, dir, "old", old)
	write(b, dir, "new", new)
	for b.Loop() {
		gitDiff(b, dir, "old", "new")
	}
}

// BenchmarkDiffHard has texts that cannot be aligned; 2 s is the most they may take.
func BenchmarkDiffHard(b *testing.B) {
	for name, make := range map[string]func() (string, string){
		"disjoint":     func() (string, string) { return disjoint(200_000) },
		"few_values":   func() (string, string) { return fewValues(200_000, 50) },
		"at_the_limit": func() (string, string) { return fewValues(7_700, 50) },
		"two_values":   func() (string, string) { return fewValues(7_700, 2) },
		"many_values":  func() (string, string) { return fewValues(200_000, 100_000) },
	} {
		old, new := sides(make())
		b.Run(name+"/view", func(b *testing.B) {
			for b.Loop() {
				DiffView(old, new)
			}
		})
		content := DiffView(old, new).Content
		b.Run(name+"/parse", func(b *testing.B) {
			for b.Loop() {
				if _, err := ParseDiff(content); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
