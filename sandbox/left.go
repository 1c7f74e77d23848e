package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// maxNames is how many of the processes that a command left are named.
const maxNames = 5

// LeftBehind says which processes a command left in the background, given the name of
// each: "2 processes left in the background (python3, sleep)". It is empty if there are
// none. Processes name themselves, so what a name should not have is shown as a question
// mark.
func LeftBehind(names []string) string {
	count := "1 process"
	switch len(names) {
	case 0:
		return ""
	case 1:
	default:
		count = fmt.Sprintf("%d processes", len(names))
	}
	var shown []string
	for _, name := range names {
		shown = append(shown, strings.Map(plain, name))
	}
	shown = unique(shown)
	if len(shown) > maxNames {
		shown = append(shown[:maxNames], "…")
	}
	return fmt.Sprintf("%s left in the background (%s)", count, strings.Join(shown, ", "))
}

func plain(c rune) rune {
	letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
	if letter || slices.Contains([]rune("._+:@/-"), c) {
		return c
	}
	return '?'
}
