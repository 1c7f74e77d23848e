package present

import (
	"strings"
	"testing"
)

func BenchmarkSafe(b *testing.B) {
	for name, s := range map[string]string{
		"ascii":   strings.Repeat("a line of plain text, as in most files\n", 25000),
		"cjk":     strings.Repeat("世界人民の文字列\n", 40000),
		"colours": strings.Repeat("\x1b[31mred\x1b[0m and plain again\n", 30000),
		"binary":  strings.Repeat("\x00\xff\x01\xfe", 250000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				Safe(s)
			}
		})
	}
}

func BenchmarkCut16MB(b *testing.B) {
	v := View{Kind: KindText, Content: strings.Repeat("0123456789abcde\n", 1<<20)}
	for name, limit := range map[string]Limit{
		"default": DefaultLimit(),
		"lines":   {Lines: 1 << 19},
		"chars":   {Chars: 1 << 23},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(v.Content)))
			b.ReportAllocs()
			for b.Loop() {
				v.Cut(limit)
			}
		})
	}
}
