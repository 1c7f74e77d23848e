package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/assent-dev/assent/present"
)

// shownText is text of others as it may be printed: what would act on a terminal is made
// visible, and a tab, which moves its cursor, is spaces.
func shownText(text string) string { return strings.ReplaceAll(present.Safe(text), "\t", "    ") }

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// commandName is how the person can start this program.
func commandName() string {
	if _, err := exec.LookPath("assent"); err == nil {
		return "assent"
	}
	return present.SafeLine(os.Args[0])
}
