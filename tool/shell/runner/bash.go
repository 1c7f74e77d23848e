package runner

import (
	"fmt"
	"os"
	"strings"
)

// bashes are where bash is looked for. PATH is not asked: who can put a program there
// could put a shell there. What somebody installed over the system's own, as people
// do on macOS, comes first.
var bashes = []string{
	"/opt/homebrew/bin/bash",
	"/usr/local/bin/bash",
	"/bin/bash",
	"/usr/bin/bash",
	"/run/current-system/sw/bin/bash",
}

// Bash returns the path of the bash that commands run with.
func Bash() (string, error) {
	for _, path := range bashes {
		if isProgram(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no bash to run commands with, neither of %s; install bash", strings.Join(bashes, ", "))
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
