package runner

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func kept(limit int, pieces ...string) Output {
	k := headTail{limit: limit}
	for _, piece := range pieces {
		k.add([]byte(piece))
	}
	return k.output()
}

func TestAllIsKeptUpToTheLimit(t *testing.T) {
	for _, n := range []int{0, 1, 99, 100} {
		text := strings.Repeat("x", n)
		if got := kept(100, text); got != (Output{Text: text, Bytes: int64(n)}) {
			t.Errorf("%d bytes: %+v", n, got)
		}
	}
}

// However a stream arrives, its beginning and end are kept, in whole characters.
func TestBeginningAndEndAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(100, 300).Draw(t, "limit")
		pieces := rapid.SliceOfN(rapid.StringN(0, 200, -1), 1, 20).Draw(t, "pieces")
		all := strings.Join(pieces, "")
		got := kept(limit, pieces...)
		if got.Bytes != int64(len(all)) || got.Truncated != (len(all) > limit) {
			t.Fatalf("%d bytes, truncated %v, of %d", got.Bytes, got.Truncated, len(all))
		}
		if !got.Truncated {
			if got.Text != all {
				t.Fatalf("got %q, want %q", got.Text, all)
			}
			return
		}
		checkPieces(t, got.Text, all, limit)
	})
}

var leftOut = regexp.MustCompile(`(?s)^(.*)\n… (\d+) bytes left out …\n(.*)$`)

func checkPieces(t *rapid.T, text, all string, limit int) {
	m := leftOut.FindStringSubmatch(text)
	if m == nil || !strings.HasPrefix(all, m[1]) || !strings.HasSuffix(all, m[3]) {
		t.Fatalf("%q is not the beginning and end of %q", text, all)
	}
	if left, _ := strconv.Atoi(m[2]); len(m[1])+left+len(m[3]) != len(all) {
		t.Fatalf("%d bytes are left out of %d, and %d and %d are there", left, len(all), len(m[1]), len(m[3]))
	}
	if len(text) > limit || len(text) < limit-markerRoom-8 || !utf8.ValidString(text) {
		t.Fatalf("%d bytes of at most %d, valid %v: %q", len(text), limit, utf8.ValidString(text), text)
	}
}
