package shim

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

//go:embed git.sh
var script string

// maxInterpreter is how long a script's first line may be everywhere.
const maxInterpreter = 120

// Install makes sure that the shim for this bash and this git is below the folder,
// and returns the folder to put first in PATH. All three are absolute paths. It may
// be called at the same time by several processes. An error means that git cannot be
// run hardened, and should not run for free.
func Install(folder, bash, git string) (dir string, err error) {
	content, err := text(bash, git)
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(content)
	dir = filepath.Join(folder, hex.EncodeToString(digest[:16]))
	file := filepath.Join(dir, "git")
	if !installed(file, content) {
		if err := write(dir, file, content); err != nil {
			return "", fmt.Errorf("cannot make the git that runs without asking: %w", err)
		}
	}
	for _, path := range []string{folder, dir, file} {
		if err := private(path); err != nil {
			return "", err
		}
	}
	if unix.Access(file, unix.X_OK) != nil {
		return "", fmt.Errorf("%s cannot be executed; is its disk mounted noexec?", file)
	}
	return dir, nil
}

// text returns the script for a bash and a git.
func text(bash, git string) ([]byte, error) {
	for _, path := range []string{bash, git} {
		if !filepath.IsAbs(path) || strings.ContainsFunc(path, control) {
			return nil, fmt.Errorf("cannot make a git that runs without asking with %q: not a plain absolute path", path)
		}
	}
	if len(bash) > maxInterpreter || strings.ContainsAny(bash, " \t") {
		return nil, fmt.Errorf("cannot make a git that runs without asking: "+
			"%q is too long for a script's first line, or has a space", bash)
	}
	return fmt.Appendf(nil, "#!%s -p\ngit='%s'\n%s", bash, strings.ReplaceAll(git, "'", `'\''`), script), nil
}

func control(c rune) bool { return c < ' ' || c == 0x7f }

func installed(file string, content []byte) bool {
	there, err := os.ReadFile(file)
	return err == nil && bytes.Equal(there, content)
}

// write puts the script there at once, whatever was there.
func write(dir, file string, content []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".git-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(0o700), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// private refuses what others could change, and links.
func private(path string) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return fmt.Errorf("cannot use %s: %w", path, err)
	}
	kind := uint32(st.Mode) & unix.S_IFMT
	switch {
	case kind != unix.S_IFDIR && kind != unix.S_IFREG:
		return fmt.Errorf("%s is neither a file nor a folder; remove it", path)
	case st.Uid != uint32(unix.Geteuid()) || st.Mode&0o022 != 0:
		return fmt.Errorf("others may change %s; make it yours alone: chmod 700", path)
	}
	return nil
}
