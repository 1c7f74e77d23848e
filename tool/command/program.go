package command

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/assent-dev/assent/approval"
)

// A program is a command line whose program was found.
type program struct {
	argv  []string // the first is an absolute path
	files []string // those that the command line names, without links on the way
	state approval.Digest
}

// maxFile is the largest file whose content is bound to an answer.
const maxFile = 256 << 20

// find finds the program and hashes what the command line names.
func find(command []string, dir, path string) (program, error) {
	file, err := lookUp(command[0], dir, path)
	if err != nil {
		return program{}, err
	}
	p := program{argv: append([]string{file}, command[1:]...)}
	h := sha256.New()
	for i, word := range p.argv {
		fmt.Fprintf(h, "%d %s ", len(word), word)
		real, named := p.names(i, dir)
		if !named {
			continue
		}
		if err := hashFile(h, real); err != nil {
			return program{}, err
		}
		p.files = append(p.files, real)
	}
	p.state = approval.Digest(h.Sum(nil))
	return p, nil
}

// names returns the file that a word of the command line names, if it does.
func (p program) names(word int, dir string) (string, bool) {
	file := p.argv[word]
	if file == "" || strings.HasPrefix(file, "-") {
		return "", false
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", false
	}
	info, err := os.Stat(real)
	return real, err == nil && info.Mode().IsRegular()
}

func hashFile(to io.Writer, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("%s cannot be bound to an answer: %w", file, err)
	}
	defer f.Close()
	n, err := io.Copy(to, io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s cannot be bound to an answer: %w", file, err)
	case n > maxFile:
		return fmt.Errorf("%s is too large to be bound to an answer", file)
	}
	_, err = fmt.Fprintf(to, " %d ", n)
	return err
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
	return "", fmt.Errorf("there is no program %s in PATH; install it, or write its path", name)
}

func executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no program %s", file)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no program", file)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable; chmod +x makes it so", file)
	}
	return nil
}
