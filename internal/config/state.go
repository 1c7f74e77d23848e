package config

import (
	"fmt"
	"os"
	"path/filepath"
)

// StateFolder is where assent keeps its state: the folder that was named, or assent's own
// below the XDG state folder.
func StateFolder(named string) (string, error) {
	if named != "" {
		return filepath.Abs(named)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "assent"), nil
	}
	home, err := homeFolder()
	if err != nil {
		return "", fmt.Errorf("the state folder cannot be found: %w; set XDG_STATE_HOME", err)
	}
	return filepath.Join(home, ".local", "state", "assent"), nil
}

// homeFolder is the user's own, and never one below the folder that somebody works in.
func homeFolder() (string, error) {
	home, err := os.UserHomeDir()
	if err == nil && !filepath.IsAbs(home) {
		err = fmt.Errorf("$HOME is %q, which is no absolute path", home)
	}
	return home, err
}
