package command

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
)

// A program is a command line whose program was found.
type program struct {
	argv  []string // the first is an absolute path
	files []file   // those that the command line names, and those that belong to it
	state policy.Digest
}

// A file is one that a command line names.
type file struct {
	word   string // as the command line has it
	path   string // without links on the way
	digest policy.Digest
}

// find finds the program of a line and hashes its files. The program is the first of them.
func (p *Programs) find(l line) (program, error) {
	first, err := lookUp(l.argv[0], l.dir, l.path)
	if err != nil {
		return program{}, err
	}
	found := program{argv: append([]string{first}, l.argv[1:]...)}
	h := sha256.New()
	for i, word := range slices.Concat(found.argv, l.further) {
		fmt.Fprintf(h, "%d %s ", len(word), word)
		real, named := Named(word, l.dir)
		if !named {
			continue
		}
		_, trusted := l.trusted[real]
		digest, err := p.digest(real, trusted)
		if err != nil {
			return program{}, err
		}
		fmt.Fprintf(h, "%s ", digest)
		if i == 0 {
			word = l.argv[0]
		}
		found.files = append(found.files, file{word, real, digest})
	}
	found.state = policy.Digest(h.Sum(nil))
	return found, nil
}

// Named returns the file that a word of a command line names, without links on the way, if it
// names one. A relative word is relative to dir.
func Named(word, dir string) (string, bool) {
	if word == "" || strings.HasPrefix(word, "-") {
		return "", false
	}
	if !filepath.IsAbs(word) {
		word = filepath.Join(dir, word)
	}
	real, err := filepath.EvalSymlinks(word)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(real)
	return real, err == nil && info.Mode().IsRegular()
}

// lookUp finds a program by its path, relative to the folder, or in PATH.
func lookUp(name, dir, path string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, executable(name)
	}
	for folder := range strings.SplitSeq(path, ":") {
		if file := filepath.Join(folder, name); filepath.IsAbs(folder) && executable(file) == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("program %s was not found in PATH; install it, or write its path", name)
}

func executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("program %s was not found", file)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not an executable program", file)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable; chmod +x makes it so", file)
	}
	return nil
}

// Found is a tool in a folder of tools.
type Found struct {
	// Program is the path of the executable.
	Program string
	// Definition is the path of the file beside it that has description and parameters;
	// empty if there is none.
	Definition string
}

// ErrNotFound says that a folder has no tool of a name.
var ErrNotFound = errors.New("there is no such tool")

// Find looks for the executable of a tool in a folder: a file of that name, whatever its
// suffix, with NAME.yaml beside it for its definition. More than one executable is an
// error, as is one that cannot be executed.
func Find(folder, name string) (Found, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Found{}, fmt.Errorf("custom tool %s: %w", name, err)
	}
	var found Found
	for _, e := range entries {
		file := filepath.Join(folder, e.Name())
		suffix, ours := strings.CutPrefix(e.Name(), name)
		switch {
		case !ours || suffix != "" && suffix != filepath.Ext(e.Name()):
		case suffix == ".yaml" || suffix == ".yml":
			found.Definition = file
		case found.Program != "":
			return Found{}, fmt.Errorf("custom tool %s: there is %s and %s; keep one", name, found.Program, file)
		default:
			if err := executable(file); err != nil {
				return Found{}, fmt.Errorf("custom tool %s: %w", name, err)
			}
			found.Program = file
		}
	}
	if found.Program == "" {
		return Found{}, fmt.Errorf("custom tool %s: %w: no executable %s", name, ErrNotFound, filepath.Join(folder, name))
	}
	return found, nil
}
