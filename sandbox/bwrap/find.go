package bwrap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/fingerprint"
)

// Candidates are where bubblewrap is looked for.
var Candidates = fingerprint.Bubblewrap

// A Program is a bubblewrap that was found.
type Program struct {
	Path    string
	Version string
	// ByFD says that it can mount open files.
	ByFD bool
}

// The oldest version that can be used: it can give private folders a size and forbid
// further user namespaces.
const oldestMajor, oldestMinor = 0, 8

// Find looks for bubblewrap. The problem says why none can be used.
func Find(ctx context.Context, candidates []string) (Program, *sandbox.Problem) {
	file, problem := Locate(candidates)
	if problem != nil {
		return Program{}, problem
	}
	return Ask(ctx, file)
}

// Locate is the part of Find that starts no program: which one is there, and that it can be
// trusted.
func Locate(candidates []string) (string, *sandbox.Problem) {
	for _, file := range candidates {
		info, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", &sandbox.Problem{Detail: err.Error(), Cause: file + " cannot be looked at",
				Remedy: "install bubblewrap from your system's packages"}
		}
		if problem := distrust(file, info); problem != nil {
			return "", problem
		}
		return file, nil
	}
	return "", &sandbox.Problem{
		Cause:  "bubblewrap is not installed (looked for " + strings.Join(candidates, ", ") + ")",
		Remedy: "install it: apt-get install bubblewrap, dnf install bubblewrap or pacman -S bubblewrap",
	}
}

// distrust refuses a program that somebody else could have put there, or that runs as
// another user than its caller.
func distrust(file string, info fs.FileInfo) *sandbox.Problem {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return &sandbox.Problem{
			Cause: file + " is a setuid program: it starts with root's rights, " +
				"and holes in it have been used to keep them (CVE-2026-41163)",
			Remedy: "let the kernel make user namespaces instead and run: chmod u-s,g-s " + file,
		}
	case !ok || stat.Uid != 0 || info.Mode().Perm()&0o022 != 0 || !info.Mode().IsRegular():
		return &sandbox.Problem{
			Cause:  file + " does not belong to root, or others can write it",
			Remedy: "install bubblewrap from your system's packages",
		}
	}
	return nil
}

// Ask asks the program for its version and abilities.
func Ask(ctx context.Context, file string) (Program, *sandbox.Problem) {
	p := Program{Path: file}
	version, err := output(ctx, file, "--version")
	if err != nil {
		return p, &sandbox.Problem{Detail: err.Error(), Cause: file + " does not start",
			Remedy: "reinstall bubblewrap from your system's packages"}
	}
	p.Version = strings.TrimPrefix(strings.TrimSpace(version), "bubblewrap ")
	if !recent(p.Version) {
		return p, &sandbox.Problem{
			Cause:  fmt.Sprintf("%s is version %s, which is too old", file, p.Version),
			Remedy: fmt.Sprintf("install bubblewrap %d.%d or later", oldestMajor, oldestMinor),
		}
	}
	help, err := output(ctx, file, "--help")
	p.ByFD = err == nil && strings.Contains(help, "--ro-bind-fd ")
	return p, nil
}

func output(ctx context.Context, file, option string) (string, error) {
	cmd := exec.CommandContext(ctx, file, option)
	cmd.Env = []string{}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// recent reports whether a version can be used. One that cannot be read cannot.
func recent(version string) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (major > oldestMajor || major == oldestMajor && minor >= oldestMinor)
}
